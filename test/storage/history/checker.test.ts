// Tests of the checkers: sound histories pass, and each kind of violation is found and described.
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../../src/storage/memory/memory-store.js'
import {
  closed,
  create,
  done,
  ended,
  entry,
  failed,
  get,
  historyOf,
  latestRevision,
  list,
  opened,
  paused,
  progress,
  refused,
  remove,
  resumed,
  sent,
  unknown,
  update,
  watcher,
} from './by-hand.js'
import { checkHistory, expectSound } from './check.js'
import type { History, Rule } from './history.js'
import { createRandom } from './random.js'
import { startWorkload } from './workload.js'

const K = '/h/k'
const L = '/h/l'
const k1 = entry(K, 'v1', 1)
const k2 = entry(K, 'v2', 2)
const l2 = entry(L, 'w1', 2)

/** v1 at 1, v2 at 2, deleted at 3. */
const threeWrites = [
  create(K, 'v1', [1, 2], done(1)),
  update(K, 'v2', 1, [3, 4], done(2)),
  remove(K, 2, [5, 6], done(3)),
]
const threeEvents = [sent(1, K, 'v1'), sent(2, K, 'v2', k1), sent(3, K, undefined, k2)] as const

describe('sound histories', () => {
  const sound: [name: string, history: History][] = [
    ['nothing at all', historyOf([])],
    ['one thing after the other', historyOf([get(K, [1, 2], undefined), ...threeWrites.map(shift(10))])],
    [
      'a read that overlaps a write sees the old or the new',
      historyOf([
        create(K, 'v1', [1, 2], done(1)),
        update(K, 'v2', 1, [3, 10], done(2)),
        get(K, [4, 6], k1),
        get(K, [5, 9], k2),
        get(K, [7, 8], k1),
      ]),
    ],
    [
      'of two writes that expect the same, one is refused',
      historyOf([
        create(K, 'v1', [1, 2], done(1)),
        update(K, 'v3', 1, [3, 10], refused(k2)),
        update(K, 'v2', 1, [4, 9], done(2)),
      ]),
    ],
    [
      'a write of unknown outcome is never applied',
      historyOf([create(K, 'v1', [1, 2], done(1)), update(K, 'v2', 1, [3, 4], unknown), get(K, [5, 6], k1)]),
    ],
    [
      'a write of unknown outcome is applied long after',
      historyOf([
        create(K, 'v1', [1, 2], done(1)),
        update(K, 'v2', 1, [3, 4], unknown),
        get(K, [5, 6], k1),
        get(K, [7, 8], k2),
      ]),
    ],
    [
      'a delete of unknown outcome is applied, unseen but for what follows from it',
      historyOf([
        create(K, 'v1', [1, 2], done(1)),
        remove(K, 1, [3, 4], unknown),
        list('/h/', [5, 6], 1, [k1]),
        get(K, [7, 8], undefined),
        create(K, 'v2', [9, 10], done(3)),
        list('/h/', [11, 12], 3, [entry(K, 'v2', 3)]),
      ]),
    ],
    [
      'two deletes of unknown outcome, one of which was applied',
      historyOf(
        [
          create(K, 'v1', [1, 2], done(1)),
          remove(K, 1, [3, 4], unknown),
          remove(K, 1, [5, 6], unknown),
          get(K, [7, 8], undefined),
        ],
        [watcher('/h/', [opened(0), sent(1, K, 'v1'), sent(2, K, undefined, k1)])],
      ),
    ],
    [
      'pages of one list at one revision while writes go on',
      historyOf([
        create(K, 'v1', [1, 2], done(1)),
        create(L, 'w1', [3, 4], done(2)),
        list('/h/', [5, 6], 2, [k1], { limit: 1, remaining: 1 }),
        remove(L, 2, [7, 8], done(3)),
        list('/h/', [9, 10], 2, [k1, l2], { at: { exactly: 2 } }),
        list('/h/', [11, 12], 3, [k1]),
      ]),
    ],
    [
      'a watch that is paused, closed, resumed and compacted away',
      historyOf(
        threeWrites,
        [
          watcher(
            '/h/',
            [
              [opened(0), sent(1, K, 'v1'), paused, resumed, progress(1), closed],
              [opened(1), sent(2, K, 'v2', k1), ended('compacted')],
              [opened(3), progress(3)],
            ].flat(),
          ),
        ],
        [{ is: 'compaction', time: 1, to: 3 }],
      ),
    ],
  ]
  it.each(sound)('%s', (_, history) => {
    expect(checkHistory(history)).toEqual([])
  })
})

describe('violations', () => {
  const wrong: [name: string, rule: Rule, message: RegExp, history: History][] = [
    [
      'a stale read',
      'linearizable',
      /the key held v2 at 2.*#3 c3 get \/h\/k → v1 at 1   \[5–6\]: the key held v2 at 2/s,
      historyOf([threeWrites[0]!, threeWrites[1]!, get(K, [5, 6], k1)]),
    ],
    [
      'a read that goes back although each value overlaps its write',
      'linearizable',
      /#4 c4 get/,
      historyOf([threeWrites[0]!, update(K, 'v2', 1, [3, 10], done(2)), get(K, [4, 5], k2), get(K, [6, 7], k1)]),
    ],
    [
      'an acknowledged write that is not there',
      'linearizable',
      /get \/h\/k → nothing.*: the key held v1 at 1/s,
      historyOf([create(K, 'v1', [1, 2], done(1)), get(K, [3, 4], undefined)]),
    ],
    [
      'a lost update: two writes replace the same entry',
      'linearizable',
      /update \/h\/k = v3, expecting 1.*the key held v2 at 2, so it must be refused/s,
      historyOf([threeWrites[0]!, update(K, 'v2', 1, [3, 6], done(2)), update(K, 'v3', 1, [4, 5], done(3))]),
    ],
    [
      'a write refused although the key was as expected',
      'linearizable',
      /must not be refused/,
      historyOf([threeWrites[0]!, update(K, 'v2', 1, [3, 4], refused(k1))]),
    ],
    [
      'a refusal that shows an entry long replaced',
      'linearizable',
      /refused, there is v1 at 1.*the key held v2 at 2/s,
      historyOf([threeWrites[0]!, threeWrites[1]!, create(K, 'v9', [5, 6], refused(k1))]),
    ],
    [
      'a page that misses an acknowledged write',
      'linearizable',
      /range \/h\/ → page of revision 1: empty/,
      historyOf([threeWrites[0]!, list('/h/', [3, 4], 1, [])]),
    ],
    [
      'a write that a watcher saw but a later read did not',
      'linearizable',
      /get \/h\/k → nothing/,
      historyOf(
        [create(K, 'v1', [1, 10], done(1)), get(K, [5, 6], undefined)],
        [watcher('/h/', [opened(0), { ...sent(1, K, 'v1'), time: 3 }])],
      ),
    ],
    [
      'a write that is applied twice',
      'authorship',
      /one write was seen at two revisions, 2 and 4:.*#2 c2 update.*#4 c4 get \/h\/k → v2 at 4/s,
      historyOf([
        threeWrites[0]!,
        update(K, 'v2', 1, [3, 4], unknown),
        get(K, [5, 6], k2),
        get(K, [7, 8], entry(K, 'v2', 4)),
      ]),
    ],
    [
      'a value without a write',
      'authorship',
      /v7 at 1 was seen, but no write has it/,
      historyOf([get(K, [1, 2], entry(K, 'v7', 1))]),
    ],
    [
      'a value of another key',
      'authorship',
      /\/h\/l = v1 at 1 was seen, but no write has it/,
      historyOf([create(K, 'v1', [1, 2], done(1)), get(L, [3, 4], entry(L, 'v1', 1))]),
    ],
    [
      'a write that failed and yet was applied',
      'authorship',
      /its write was not applied:.*failed \(unavailable/s,
      historyOf([create(K, 'v1', [1, 2], failed()), get(K, [3, 4], k1)]),
    ],
    [
      'a delete that failed and yet was applied',
      'authorship',
      /deleted at 2 \(before: v1 at 1\), but no delete has that revision/,
      historyOf(
        [create(K, 'v1', [1, 2], done(1)), remove(K, 1, [3, 4], failed())],
        [watcher('/h/', [opened(0), sent(1, K, 'v1'), sent(2, K, undefined, k1)])],
      ),
    ],
    [
      'one revision for two writes',
      'authorship',
      /two writes at revision 1:.*= v1.*= w1/s,
      historyOf([create(K, 'v1', [1, 2], done(1)), create(L, 'w1', [3, 4], done(1))]),
    ],
    [
      'revisions that go back, on different keys',
      'real-time',
      /a write took revision 4 although 5 had been shown.*create \/h\/k.*create \/h\/l/s,
      historyOf([create(K, 'v1', [1, 2], done(5)), create(L, 'w1', [3, 4], done(4))]),
    ],
    [
      'a page that is older than what was acknowledged, on other keys',
      'real-time',
      /a read at latest answered as of 1 although 2 had been shown/,
      historyOf([create(K, 'v1', [1, 2], done(1)), create(L, 'w1', [3, 4], done(2)), list('/h/x/', [5, 6], 1, [])]),
    ],
    [
      'a latest revision that goes back',
      'real-time',
      /answered as of 1 although 2/,
      historyOf([latestRevision([1, 2], 2), latestRevision([3, 4], 1)]),
    ],
    [
      'a page of no single revision',
      'snapshot',
      /at revision 1 \/h\/l held nothing, not w1 at 2/,
      historyOf([
        create(K, 'v1', [1, 2], done(1)),
        list('/h/', [3, 10], 1, [k1, l2]),
        create(L, 'w1', [4, 5], done(2)),
      ]),
    ],
    [
      'a page at an earlier revision that shows what came later',
      'snapshot',
      /at revision 1 \/h\/k held v1 at 1, not v2 at 2/,
      historyOf([threeWrites[0]!, threeWrites[1]!, list('/h/', [5, 6], 1, [k2], { at: { exactly: 1 } })]),
    ],
    [
      'a wrong count of what remains',
      'snapshot',
      /1 remain, not 3/,
      historyOf([
        create(K, 'v1', [1, 2], done(1)),
        create(L, 'w1', [3, 4], done(2)),
        list('/h/', [5, 6], 2, [k1], { limit: 1, remaining: 3 }),
      ]),
    ],
    [
      'a get at an earlier revision that shows what came later',
      'snapshot',
      /at revision 1 the key held v1 at 1/,
      historyOf([threeWrites[0]!, threeWrites[1]!, get(K, [5, 6], k2, { exactly: 1 })]),
    ],
    [
      'an error that nothing explains',
      'answers',
      /failed with an error that it did not cause/,
      historyOf([create(K, 'v1', [1, 2], failed('corrupt'))]),
    ],
    [
      'a gap',
      'watch-reliable',
      /events are missing before.*revision 2, never sent: #2 c2 update/s,
      historyOf(threeWrites, [watcher('/h/', [opened(0), threeEvents[0], threeEvents[2]])]),
    ],
    [
      'a gap between two sessions',
      'watch-reliable',
      /revision 2, never sent/,
      historyOf(threeWrites, [watcher('/h/', [opened(0), threeEvents[0], closed, opened(1), threeEvents[2]])]),
    ],
    [
      'a gap where only another watcher knows of the write',
      'watch-reliable',
      /revision 2, never sent/,
      historyOf(
        [threeWrites[0]!, update(K, 'v2', 1, [3, 4], unknown), remove(K, 2, [5, 6], done(3))],
        [watcher('/h/', [opened(0), ...threeEvents]), watcher(K, [opened(0), threeEvents[0], threeEvents[2]])],
      ),
    ],
    [
      'a repetition',
      'watch-unique',
      /the event of revision 1 was repeated/,
      historyOf(threeWrites, [watcher('/h/', [opened(0), threeEvents[0], threeEvents[0]])]),
    ],
    [
      'a repetition after resuming',
      'watch-unique',
      /revision 1 was repeated.*closed.*opened after 1/s,
      historyOf(threeWrites, [watcher('/h/', [opened(0), threeEvents[0], closed, opened(1), threeEvents[0]])]),
    ],
    [
      'a wrong order',
      'watch-ordered',
      /revision 1 came after 2 had been reached/,
      historyOf(threeWrites, [watcher('/h/', [opened(0), threeEvents[1], threeEvents[0]])]),
    ],
    [
      'a wrong previous value',
      'watch-previous',
      /it replaced v2 at 2, not v1 at 1/,
      historyOf(threeWrites, [watcher('/h/', [opened(2), sent(3, K, undefined, k1)])]),
    ],
    [
      'no previous value',
      'watch-previous',
      /it replaced v1 at 1, not nothing/,
      historyOf(threeWrites, [watcher('/h/', [opened(1), sent(2, K, 'v2')])]),
    ],
    [
      'an event from elsewhere',
      'watch-calls',
      /\/h\/k is not what it watches/,
      historyOf(threeWrites, [watcher(L, [opened(0), threeEvents[0]])]),
    ],
    [
      'progress ahead of an event',
      'watch-progress',
      /ahead of what was sent.*revision 2, sent at 1003/s,
      historyOf(threeWrites, [watcher('/h/', [opened(0), threeEvents[0], progress(2), threeEvents[1]])]),
    ],
    [
      'progress without an event',
      'watch-progress',
      /ahead of what was sent.*never sent/s,
      historyOf(threeWrites, [watcher('/h/', [opened(0), progress(1)])]),
    ],
    [
      'progress that goes back',
      'watch-progress',
      /went back from 3 to 2/,
      historyOf(threeWrites, [watcher('/h/', [opened(0), ...threeEvents, progress(3), progress(2)])]),
    ],
    [
      'a sink called while paused',
      'watch-calls',
      /while it was paused/,
      historyOf(threeWrites, [watcher('/h/', [opened(0), threeEvents[0], paused, threeEvents[1]])]),
    ],
    [
      'a sink called after closing',
      'watch-calls',
      /not open/,
      historyOf(threeWrites, [watcher('/h/', [opened(0), threeEvents[0], closed, threeEvents[1]])]),
    ],
    [
      'a sink called by a watch that was replaced',
      'watch-calls',
      /not open/,
      historyOf(threeWrites, [
        watcher('/h/', [opened(0), threeEvents[0], closed, opened(1), { ...threeEvents[1], session: 1 }]),
      ]),
    ],
    [
      'a watch that ends for no reason',
      'watch-calls',
      /ended with unavailable for no reason/,
      historyOf(threeWrites, [watcher('/h/', [opened(0), ended('unavailable')])]),
    ],
    [
      'a watch compacted away although it had come further',
      'watch-calls',
      /ended with compacted for no reason/,
      historyOf(
        threeWrites,
        [watcher('/h/', [opened(0), threeEvents[0], threeEvents[1], ended('compacted')])],
        [{ is: 'compaction', time: 900, to: 2 }],
      ),
    ],
  ]
  it.each(wrong)('%s', (_, rule, message, history) => {
    const found = checkHistory(history)
    expect(found.filter(violation => violation.rule === rule).map(violation => violation.message)).toContainEqual(
      expect.stringMatching(message),
    )
  })
})

describe('recorded histories', () => {
  it('are violations when one thing in them is changed', async () => {
    const store = createMemoryStore()
    const workload = startWorkload({ stores: [() => store], seed: 7 })
    await workload.answered(1500)
    expectSound(await workload.finish())
    const random = createRandom(7)
    for (const [name, change] of Object.entries(changes)) {
      for (let i = 0; i < 10; i++) {
        const history = structuredClone(workload.recorder.history)
        change(history, below => random.number(below))
        expect.soft(checkHistory(history).length, `${name}, ${i}`).toBeGreaterThan(0)
      }
    }
    await store.close()
  })

  it('are checked quickly with many unknown outcomes', () => {
    // Each delete may or may not have taken effect; only the last create shows that one of them did.
    const operations = [create(K, 'v0', [1, 2], done(1))]
    let time = 3
    for (let round = 1; round <= 100; round++) {
      const revision = round * 2 - 1
      for (let i = 0; i < 4; i++) operations.push(remove(K, revision, [time++, time++], unknown))
      operations.push(get(K, [time++, time++], entry(K, `v${round - 1}`, revision)))
      operations.push(create(K, `v${round}`, [time++, time++], done(revision + 2)))
    }
    const before = performance.now()
    expect(checkHistory(historyOf(operations))).toEqual([])
    expect(performance.now() - before).toBeLessThan(2000)
  })
})

type Change = (history: History, number: (below: number) => number) => void

/** Each makes a sound history wrong at some point. */
const changes: Record<string, Change> = {
  'an event is left out'({ watchers }, number) {
    const { steps } = watchers[0]!
    const events = steps.filter(step => step.is === 'event')
    steps.splice(steps.indexOf(events[number(events.length)]!), 1)
  },
  'two events are swapped'({ watchers }, number) {
    const { steps } = watchers[0]!
    const places = steps.flatMap((step, i) => (step.is === 'event' && steps[i + 1]?.is === 'event' ? [i] : []))
    const place = places[number(places.length)]!
    ;[steps[place], steps[place + 1]] = [steps[place + 1]!, steps[place]!]
  },
  'an event is repeated'({ watchers }, number) {
    const { steps } = watchers[0]!
    const events = steps.filter(step => step.is === 'event')
    const event = events[number(events.length)]!
    steps.splice(steps.indexOf(event), 0, event)
  },
  'a read shows what an earlier one did'({ operations }, number) {
    const reads = operations.filter(
      ({ requested, outcome }) => requested.what === 'get' && requested.at === 'latest' && outcome.is === 'entry',
    )
    const early = reads.slice(0, reads.length / 2).filter(({ outcome }) => outcome.is === 'entry' && outcome.entry)
    const { requested, outcome } = early[number(early.length)]!
    const others = reads.filter(read => sameText(read.requested, requested) && !sameText(read.outcome, outcome))
    others.at(-1)!.outcome = outcome
  },
  'an acknowledged write takes another revision'({ operations }, number) {
    const writes = operations.filter(({ outcome }) => outcome.is === 'done')
    const write = writes[number(writes.length)]!
    write.outcome = { is: 'done', revision: 1_000_000 }
  },
  'a refused write is acknowledged'({ operations }, number) {
    const refusals = operations.filter(({ outcome }) => outcome.is === 'refused')
    refusals[number(refusals.length)]!.outcome = { is: 'done', revision: 1_000_000 }
  },
  'an acknowledged write was refused'({ operations }, number) {
    const writes = operations.filter(({ outcome }) => outcome.is === 'done')
    writes[number(writes.length)]!.outcome = { is: 'refused', current: undefined }
  },
}

const sameText = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The same operation, later. */
function shift<T extends { calledAt: number; answeredAt: number | undefined }>(by: number): (operation: T) => T {
  return operation => ({ ...operation, calledAt: operation.calledAt + by, answeredAt: operation.answeredAt! + by })
}
