import { describe, expect, test } from 'vitest'
import type { StoreEvent } from '../store.js'
import { createEventWindow } from './event-window.js'

const event = (revision: number, bytes = 0): StoreEvent => ({
  revision,
  key: '/a',
  value: Buffer.alloc(bytes),
  previous: undefined,
})

const LARGE = { events: 1000, bytes: 1_000_000 }

describe('an event window', () => {
  test('returns the events after a revision, a limited number at a time', () => {
    const window = createEventWindow<StoreEvent>(10, LARGE)
    for (const revision of [12, 15, 16, 20]) window.append(event(revision))
    const read = (after: number, limit = 10) => window.read(after, limit).events.map(found => found.revision)
    expect(read(10)).toEqual([12, 15, 16, 20])
    expect(read(13)).toEqual([15, 16, 20])
    expect(read(15, 1)).toEqual([16])
    expect(read(20)).toEqual([])
    expect(() => read(9)).toThrow(/did not keep up/)
  })

  test('reports the revision up to which it is complete, and the latest known one', () => {
    const window = createEventWindow<StoreEvent>(10, LARGE)
    expect(window).toMatchObject({ revision: 10, happened: 10, forgotten: 10 })
    window.append(event(12))
    window.noteHappened(20)
    window.noteHappened(19)
    expect(window).toMatchObject({ revision: 12, happened: 20, forgotten: 10 })
    window.advance(15)
    window.advance(14)
    window.append(event(21))
    expect(window).toMatchObject({ revision: 21, happened: 21, forgotten: 10 })
  })

  test('discards a quarter when it is full', () => {
    const window = createEventWindow<StoreEvent>(0, { ...LARGE, events: 8 })
    for (let i = 1; i <= 8; i++) expect(window.append(event(i))).toBe(false)
    expect(window.append(event(9))).toBe(true)
    expect(window.forgotten).toBe(3)
    expect(window.read(3, 10).events.map(found => found.revision)).toEqual([4, 5, 6, 7, 8, 9])
    expect(window.append(event(10))).toBe(false)
  })

  test('is full by bytes too, but never discards the newest event', () => {
    const window = createEventWindow<StoreEvent>(0, { ...LARGE, bytes: 10_000 })
    for (let i = 1; i <= 9; i++) window.append(event(i, 1_000))
    expect(window.read(window.forgotten, 10).events.length).toBeLessThan(8)
    window.append(event(10, 20_000))
    expect(window.forgotten).toBe(9)
    expect(window.read(9, 10).events).toHaveLength(1)
    window.append(event(11, 20_000))
    expect(window.forgotten).toBe(10)
  })

  test('neither reads nor discards a part of a revision', () => {
    const window = createEventWindow<StoreEvent>(0, { ...LARGE, events: 4 })
    for (const revision of [1, 2, 2, 2]) window.append(event(revision))
    expect(window.read(1, 1).events).toHaveLength(3)
    window.append(event(3))
    expect(window.forgotten).toBe(2)
    expect(window.read(2, 10).events.map(found => found.revision)).toEqual([3])
  })
})
