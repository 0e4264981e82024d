import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compacted, StorageError } from '../storage-error.js'
import type { Revision, StoreEvent, Watch } from '../store.js'
import { addressesOfKey, createWatchers, type EventLog } from './watchers.js'

describe('addresses', () => {
  test('of a key are the key and its prefixes', () => {
    expect(addressesOfKey('/pods/a/1')).toEqual(['/', '/pods/', '/pods/a/', '/pods/a/1'])
  })
})

describe('watchers', () => {
  test('that are up to date get events of their address at once', () => {
    const log = createLog()
    const all = log.listen('/', 0)
    const prefix = log.listen('/a/', 0)
    const key = log.listen('/a/1', 0)
    log.write('/a/1', '/a/2', '/b/1')
    expect(all.seen).toEqual([1, 2, 3])
    expect(prefix.seen).toEqual([1, 2])
    expect(key.seen).toEqual([1])
  })

  test('that start in the past read the log first', async () => {
    const log = createLog()
    log.write(...Array.from({ length: 1200 }, () => '/a/1'))
    const watcher = log.listen('/a/', 100)
    log.write('/a/1')
    expect(watcher.seen).toEqual([]) // never from inside watch()
    await turns(4)
    expect(watcher.seen).toEqual(Array.from({ length: 1101 }, (_, i) => 101 + i))
  })

  test('that catch up yield to the event loop, in any number', async () => {
    const log = createLog()
    log.write(...Array.from({ length: 1000 }, () => '/a/1'))
    const watchers = Array.from({ length: 100 }, () => log.listen('/a/', 0))
    const delivered = () => watchers.reduce((sum, { seen }) => sum + seen.length, 0)
    let before = 0
    while (delivered() < 100_000) {
      await turns(1)
      const inThisTurn = delivered() - before
      expect(inThisTurn).toBeGreaterThan(0)
      expect(inThisTurn).toBeLessThanOrEqual(5_500)
      before += inThisTurn
    }
    for (const { seen } of watchers) expect(seen).toHaveLength(1000)
  })

  test('that start in the future end', async () => {
    const log = createLog()
    log.write('/a/1')
    const watcher = log.listen('/', 2)
    expect(watcher.ended).toBeUndefined()
    await turns(1)
    expect(watcher.ended).toMatchObject({ code: 'future-revision', revision: 1 })
    expect(log.watchers.size).toBe(0)
  })

  test('that start ahead of the log wait for it', async () => {
    const log = createLog()
    log.write('/a/1')
    log.happened = 3
    const watcher = log.listen('/', 3)
    watcher.watch.requestProgress()
    await turns(1)
    expect(watcher.progress).toEqual([])
    log.write('/a/2', '/a/3', '/a/4')
    expect(watcher.seen).toEqual([4])
  })

  test('that pause get nothing until they resume, then all missed events', async () => {
    const log = createLog()
    const watcher = log.listen('/a/', 0)
    watcher.pausing = true
    log.write('/a/1', '/a/2', '/b/1', '/a/3')
    expect(watcher.seen).toEqual([1])
    watcher.watch.resume()
    await turns(2)
    expect(watcher.seen).toEqual([1, 2])
    watcher.pausing = false
    watcher.watch.resume()
    watcher.watch.resume()
    log.write('/a/4')
    await turns(2)
    log.write('/a/5')
    expect(watcher.seen).toEqual([1, 2, 4, 5, 6])
  })

  test('report progress on request, after the events before it and never while paused', async () => {
    const log = createLog()
    const watcher = log.listen('/a/', 0)
    log.write('/b/1')
    watcher.watch.requestProgress()
    await turns(1)
    expect(watcher.progress).toEqual([1])
    watcher.pausing = true
    log.write('/a/1', '/a/2')
    watcher.watch.requestProgress()
    await turns(2)
    expect(watcher.progress).toEqual([1])
    watcher.pausing = false
    watcher.watch.resume()
    await turns(2)
    expect(watcher.seen).toEqual([2, 3])
    expect(watcher.progress).toEqual([1, 3])
  })

  test('are dropped for missed events, not for the age of their last event', async () => {
    const log = createLog()
    const missing = log.listen('/a/', 0)
    const missingLater = log.listen('/b/', 0)
    const quiet = log.listen('/c/', 0)
    for (const watcher of [missing, missingLater, quiet]) watcher.pausing = true
    log.write('/a/1', '/b/1', '/c/1', '/a/2', '/d/1', '/b/2')
    log.forget(5)
    expect(missing.ended).toMatchObject({ code: 'compacted', message: expect.stringContaining('revision 3 ') })
    for (const watcher of [missingLater, quiet]) {
      watcher.pausing = false
      watcher.watch.resume()
    }
    await turns(2)
    log.write('/b/3', '/c/2')
    expect(missingLater.seen).toEqual([2, 6, 7])
    expect(quiet.seen).toEqual([3, 8])
  })

  test('end with what the log throws', async () => {
    const log = createLog()
    log.write('/a/1', '/a/2')
    log.forget(2)
    const watcher = log.listen('/', 1)
    await turns(1)
    expect(watcher.ended).toMatchObject({ code: 'compacted' })
  })

  test('whose sink throws end, and only those', async () => {
    const log = createLog()
    const broken = (part: 'event' | 'progress' | 'end') => {
      const fail = () => {
        throw new Error('broken')
      }
      let ended: StorageError | undefined
      const sink = {
        event() {},
        end(error: StorageError) {
          ended = error
        },
      }
      const watch = log.watchers.watch('/', 0, { ...sink, [part]: fail })
      return { watch, ended: () => ended?.code }
    }
    const inEvent = broken('event')
    const inProgress = broken('progress')
    broken('end')
    const whole = log.listen('/', 0)
    inProgress.watch.requestProgress()
    log.write('/a/1')
    await turns(1)
    expect([inEvent.ended(), inProgress.ended()]).toEqual(['sink-failed', 'sink-failed'])
    log.watchers.endAll(new StorageError('closed', 'over'))
    expect(whole).toMatchObject({ seen: [1], ended: { code: 'closed' } })
    expect(log.watchers.size).toBe(0)
  })

  test('may close themselves and others, and start new ones, during delivery', () => {
    const log = createLog()
    const seen: string[] = []
    const end = () => {}
    const first = log.watchers.watch('/', 0, {
      event({ revision }) {
        seen.push(`first ${revision}`)
        first.close()
        second.close()
        log.watchers.watch('/', log.revision, { event: event => void seen.push(`third ${event.revision}`), end })
      },
      end,
    })
    const second = log.watchers.watch('/', 0, { event: event => void seen.push(`second ${event.revision}`), end })
    log.write('/a/1')
    log.write('/a/2')
    expect(seen).toEqual(['first 1', 'third 2'])
    expect(log.watchers.size).toBe(1)
  })

  test('get all events of one revision together, also when they pause or catch up', async () => {
    const log = createLog()
    const live = log.listen('/', 0)
    const pausing = log.listen('/', 0)
    pausing.pausing = true
    log.writeTogether('/a/1', '/a/2', '/a/3')
    log.writeTogether('/a/1', '/a/2', '/a/3')
    const late = log.listen('/', 0)
    late.pausing = true
    await turns(2)
    expect(live.seen).toEqual([1, 1, 1, 2, 2, 2])
    expect(pausing.seen).toEqual([1, 1, 1])
    expect(late.seen).toEqual([1, 1, 1])
    pausing.watch.resume()
    late.watch.resume()
    await turns(2)
    expect(pausing.seen).toEqual(live.seen)
    expect(late.seen).toEqual(live.seen)
  })

  test('see exactly the log at their address, in any order of operations', async () => {
    const which = fc.nat(5)
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ do: fc.constant('write' as const), keys: fc.array(key, { maxLength: 4 }) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('listen' as const), address, past: fc.nat(12) }) },
      { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('pause' as const, 'resume', 'progress'), which }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('forget' as const), past: fc.nat(8) }) },
      { weight: 3, arbitrary: fc.constant({ do: 'wait' as const }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async steps => {
        const log = createLog()
        const listeners: Listener[] = []
        for (const now of steps) {
          if (now.do === 'write') log.write(...now.keys)
          else if (now.do === 'listen') listeners.push(log.listen(now.address, Math.max(0, log.revision - now.past)))
          else if (now.do === 'forget') log.forget(Math.max(0, log.revision - now.past))
          else if (now.do === 'wait') await turns(1)
          else {
            const listener = listeners[now.which]
            if (!listener) continue
            listener.pausing = now.do === 'pause' || (listener.pausing && now.do !== 'resume')
            if (now.do === 'resume') listener.watch.resume()
            if (now.do === 'progress') listener.watch.requestProgress()
          }
        }
        for (const listener of listeners) {
          listener.pausing = false
          listener.watch.resume()
        }
        await turns(3)
        for (const { seen, wanted, ended } of listeners) {
          const expected = log.all.filter(wanted).map(event => event.revision)
          if (ended) {
            expect(ended.code).toBe('compacted')
            expect(seen).toEqual(expected.slice(0, seen.length))
          } else expect(seen).toEqual(expected)
        }
      }),
      { numRuns: 200 },
    )
  })
})

const key = fc.constantFrom('/a/1', '/a/2', '/b/1')
const address = fc.constantFrom('/', '/a/', '/b/', '/a/1')

interface Listener {
  readonly seen: Revision[]
  readonly progress: Revision[]
  readonly watch: Watch
  readonly wanted: (event: StoreEvent) => boolean
  pausing: boolean
  ended: StorageError | undefined
}

/** A log with watchers on it. */
function createLog() {
  const all: StoreEvent[] = []
  let forgotten: Revision = 0
  const log = {
    all,
    revision: 0,
    happened: 0,
    read(after: Revision, limit: number) {
      if (after < forgotten) throw compacted(after, forgotten)
      const later = all.filter(event => event.revision > after)
      return { events: later.slice(0, limit), isLast: later.length <= limit }
    },
  } satisfies EventLog<StoreEvent> & { all: StoreEvent[] }
  const watchers = createWatchers<StoreEvent>(log)

  function publish(events: StoreEvent[]): void {
    all.push(...events)
    log.revision = events.at(-1)?.revision ?? log.revision
    watchers.publish(events)
  }

  const event = (at: string, revision: Revision): StoreEvent => ({
    revision,
    key: at,
    value: undefined,
    previous: undefined,
  })

  return Object.assign(log, {
    watchers,
    write: (...keys: string[]) => publish(keys.map((at, i) => event(at, log.revision + 1 + i))),
    writeTogether: (...keys: string[]) => publish(keys.map(at => event(at, log.revision + 1))),
    forget(revision: Revision) {
      forgotten = Math.max(forgotten, revision)
      watchers.dropBehind(forgotten, after => compacted(after, forgotten))
    },
    listen(at: string, after: Revision): Listener {
      const listener: Listener = {
        seen: [],
        progress: [],
        pausing: false,
        ended: undefined,
        wanted: ({ key: written, revision }) => revision > after && addressesOfKey(written).includes(at),
        watch: watchers.watch(at, after, {
          event({ revision }) {
            listener.seen.push(revision)
            return !listener.pausing
          },
          progress(revision) {
            const before = all.filter(past => past.revision <= revision && listener.wanted(past))
            expect(listener.seen).toHaveLength(before.length)
            listener.progress.push(revision)
          },
          end(error) {
            listener.ended = error
          },
        }),
      }
      return listener
    },
  })
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise(resolve => setImmediate(resolve))
}
