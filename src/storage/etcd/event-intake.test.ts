import { expect, test } from 'vitest'
import { EventType, type WatchEvent } from './client/messages.js'
import { createEventIntake } from './event-intake.js'

const NONE = Buffer.alloc(0)

/** Events as `revision:key`. */
const events = (...texts: string[]): WatchEvent[] =>
  texts.map(text => {
    const [revision, key] = text.split(':')
    const modRevision = Number(revision)
    const kv = { key: Buffer.from(key!), value: NONE, createRevision: modRevision, modRevision, version: 1 }
    return { type: EventType.put, kv, prevKv: null }
  })

const texts = (taken: WatchEvent[]) => taken.map(({ kv }) => `${kv!.modRevision}:${kv!.key.toString()}`)

test('events that arrived before are left out', () => {
  const intake = createEventIntake(4)
  expect(texts(intake.take(events('3:a', '4:b', '5:c'), false))).toEqual(['5:c'])
  expect(texts(intake.take(events('5:c', '6:d'), false))).toEqual(['6:d'])
  expect(intake.received).toBe(6)
})

test('a revision is complete when the response ends, or another revision begins', () => {
  const intake = createEventIntake(0)
  expect(texts(intake.take(events('5:a', '6:b'), true))).toEqual(['5:a', '6:b'])
  expect(intake).toMatchObject({ received: 5, within: true })
  expect(texts(intake.take(events('6:c', '7:d'), true))).toEqual(['6:c', '7:d'])
  expect(intake.received).toBe(6)
  expect(texts(intake.take(events('7:e'), false))).toEqual(['7:e'])
  expect(intake).toMatchObject({ received: 7, within: false })
})

test('after a stream broke off within a revision, only the missing events of it are taken', () => {
  const intake = createEventIntake(0)
  intake.take(events('5:a', '6:b', '6:c'), true)
  intake.begin()
  expect(intake.received).toBe(5)
  expect(texts(intake.take(events('6:b'), true))).toEqual([])
  // A second restart before any new event.
  intake.begin()
  expect(texts(intake.take(events('6:b', '6:c', '6:d'), false))).toEqual(['6:d'])
  expect(intake.received).toBe(6)
  expect(texts(intake.take(events('7:a'), false))).toEqual(['7:a'])
})

test('progress advances without events, and never goes back', () => {
  const intake = createEventIntake(3)
  intake.advance(8)
  intake.advance(6)
  expect(intake.received).toBe(8)
  expect(texts(intake.take(events('7:old', '9:new'), false))).toEqual(['9:new'])
})
