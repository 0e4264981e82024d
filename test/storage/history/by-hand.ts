// Short functions for writing histories by hand. Times of operations are given; watchers come after them by default.
import type { ReadAt, Revision } from '../../../src/storage/store.js'
import type { History, Incident, Operation, Outcome, Requested, Seen, WatcherLog, WatchStep } from './history.js'

type Times = readonly [calledAt: number, answeredAt: number]

export function historyOf(
  operations: readonly Omit<Operation, 'id' | 'client'>[],
  watchers: readonly WatcherLog[] = [],
  incidents: readonly Incident[] = [],
): History {
  return {
    operations: operations.map((operation, i) => ({ id: i + 1, client: `c${i + 1}`, ...operation })),
    watchers: [...watchers],
    incidents: [...incidents],
  }
}

const operation = (
  requested: Requested,
  [calledAt, answeredAt]: Times,
  outcome: Outcome,
): Omit<Operation, 'id' | 'client'> => ({
  requested,
  calledAt,
  answeredAt,
  outcome,
})

export const create = (key: string, value: string, times: Times, outcome: Outcome) =>
  operation({ what: 'create', key, value }, times, outcome)

export const update = (key: string, value: string, expected: Revision, times: Times, outcome: Outcome) =>
  operation({ what: 'update', key, value, expected }, times, outcome)

export const remove = (key: string, expected: Revision, times: Times, outcome: Outcome) =>
  operation({ what: 'delete', key, expected }, times, outcome)

export const get = (key: string, times: Times, found: Seen | undefined, at: ReadAt = 'latest') =>
  operation({ what: 'get', key, at }, times, { is: 'entry', entry: found })

export const list = (
  prefix: string,
  times: Times,
  revision: Revision,
  entries: readonly Seen[],
  { at = 'latest', limit, remaining = 0 }: { at?: ReadAt; limit?: number; remaining?: number } = {},
) => operation({ what: 'range', prefix, at, limit }, times, { is: 'page', revision, entries, remaining })

export const latestRevision = (times: Times, revision: Revision) =>
  operation({ what: 'revision' }, times, { is: 'revision', revision })

export const done = (revision: Revision): Outcome => ({ is: 'done', revision })
export const refused = (current?: Seen): Outcome => ({ is: 'refused', current })
export const failed = (code = 'unavailable'): Outcome => ({ is: 'failed', code, message: 'no connection' })
export const unknown: Outcome = { is: 'unknown', code: 'outcome-unknown', message: 'the connection broke' }
export const entry = (key: string, value: string, revision: Revision): Seen => ({ key, value, revision })

type Untimed<T> = T extends unknown ? Omit<T, 'time' | 'session'> : never
type HandmadeStep = Untimed<WatchStep> & { time?: number; session?: number }

/** Steps have times from 1000 on, and belong to the session that was opened last. */
export function watcher(target: string, steps: readonly HandmadeStep[]): WatcherLog {
  let session = 0
  return {
    name: 'w1',
    target,
    steps: steps.map((step, i) => {
      if (step.is === 'opened') session++
      return { time: 1000 + i, session, ...step }
    }),
  }
}

export const opened = (after: Revision): HandmadeStep => ({ is: 'opened', after })
export const progress = (revision: Revision): HandmadeStep => ({ is: 'progress', revision })
export const ended = (code: string): HandmadeStep => ({ is: 'ended', code, message: 'so it is' })
export const paused: HandmadeStep = { is: 'paused' }
export const resumed: HandmadeStep = { is: 'resumed' }
export const closed: HandmadeStep = { is: 'closed' }
export const sent = (revision: Revision, key: string, value?: string, previous?: Seen): HandmadeStep => ({
  is: 'event',
  event: { revision, key, value, previous },
})
