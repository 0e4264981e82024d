import { expect, test } from 'vitest'
import { shareSeats } from '../borrowing.js'
import { allocateSeats } from './seat-allocation.js'
import { createSeatDemand } from './seat-demand.js'

test('every level gets the same part of its target, within its bounds', () => {
  const claim = (target: number, lower: number, upper: number) => ({ target, lower, upper })
  expect(allocateSeats(10, [claim(5, 0, 100), claim(15, 0, 100)])).toEqual({ seats: [2.5, 7.5], fairFraction: 0.5 })
  expect(allocateSeats(10, [claim(5, 4, 100), claim(15, 0, 100)])?.seats.map(Math.round)).toEqual([4, 6])
  expect(allocateSeats(10, [claim(5, 0, 100), claim(15, 0, 3)])?.seats.map(Math.round)).toEqual([7, 3])
  expect(allocateSeats(10, [claim(0, 0, 100), claim(0, 0, 100)])?.seats).toEqual([5, 5])
  expect(allocateSeats(10, [claim(9, 8, 9), claim(9, 8, 9)])).toBeUndefined()
  expect(allocateSeats(10, [claim(2, 1, 3), claim(2, 1, 3)])).toBeUndefined()
})

test('an exempt level takes what it needs, and the others have what is left', () => {
  const level = (isExempt: boolean, nominal: number, lower: number, highWatermark: number) => ({
    isExempt,
    limits: { nominal, lower, upper: 600 },
    stats: { highWatermark, average: 0, deviation: 0, smoothed: 0 },
    current: nominal,
  })
  // Nothing is wanted: what can be lent is shared out evenly.
  const idle = shareSeats([level(true, 0, 0, 1), level(false, 60, 30, 0), level(false, 40, 40, 0)])
  expect(idle.seats).toEqual([1, 43, 57])
  // A busy exempt level leaves the others their lower bounds.
  expect(shareSeats([level(true, 0, 0, 80), level(false, 60, 30, 60), level(false, 40, 40, 0)]).seats).toEqual([
    80, 30, 40,
  ])
})

test('demand is averaged over time, and falls slowly', () => {
  const demand = createSeatDemand(0)
  demand.set(4, 0)
  demand.set(0, 5000)
  expect(demand.adjust(10_000)).toEqual({ highWatermark: 4, average: 2, deviation: 2, smoothed: 4 })
  const { highWatermark, smoothed } = demand.adjust(20_000)
  expect(highWatermark).toBe(0)
  expect(smoothed).toBeCloseTo(3.908)
})
