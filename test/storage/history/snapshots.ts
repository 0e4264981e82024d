// A page has the entries of the prefix at its revision, and a get at a revision finds the entry of that revision.
import type { Revision } from '../../../src/storage/store.js'
import {
  covers,
  expectedBy,
  type History,
  isWrite,
  type Operation,
  type Outcome,
  type Seen,
  sameEntry,
  type Violation,
} from './history.js'
import type { Ledger } from './ledger.js'
import { entryInWords, operationInWords } from './wording.js'

export function checkSnapshots(history: History, ledger: Ledger): Violation[] {
  const entryAt = createTimeTravel(ledger)
  const keys = [...ledger.keys].toSorted()
  return history.operations.flatMap(operation => {
    const { requested, outcome } = operation
    const problem =
      requested.what === 'range' && outcome.is === 'page'
        ? problemOfPage(requested, outcome, keys, entryAt)
        : requested.what === 'get' && outcome.is === 'entry'
          ? problemOfGet(requested, outcome, entryAt)
          : undefined
    return problem ? [{ rule: 'snapshot' as const, message: `${problem}:\n    ${operationInWords(operation)}` }] : []
  })
}

interface Then {
  readonly entry: Seen | undefined
  /** A delete of unknown outcome may have removed the entry. */
  readonly doubtful: boolean
}

type TimeTravel = (key: string, revision: Revision) => Then

function createTimeTravel(ledger: Ledger): TimeTravel {
  const doubtful = new Set(
    ledger.possibleDeletes.flatMap(({ requested }) =>
      isWrite(requested) ? [`${requested.key} ${expectedBy(requested)}`] : [],
    ),
  )
  return (key, revision) => {
    const write = ledger.ofKey(key).findLast(each => each.revision <= revision)
    if (write?.value === undefined) return { entry: undefined, doubtful: false }
    return {
      entry: { key, value: write.value, revision: write.revision },
      doubtful: doubtful.has(`${key} ${write.revision}`),
    }
  }
}

function problemOfGet(
  { key, at }: Extract<Operation['requested'], { what: 'get' }>,
  { entry }: Extract<Outcome, { is: 'entry' }>,
  entryAt: TimeTravel,
): string | undefined {
  if (typeof at !== 'object') return undefined // at `latest`, linearizability is checked instead
  if ('notOlderThan' in at) {
    const then = entryAt(key, at.notOlderThan)
    if (!then.entry || !entry || entry.revision >= then.entry.revision) return undefined
    return `older than requested for: at ${at.notOlderThan} the key held ${entryInWords(then.entry)}`
  }
  const then = entryAt(key, at.exactly)
  if (sameEntry(entry, then.entry) || (then.doubtful && !entry)) return undefined
  return `at revision ${at.exactly} the key held ${entryInWords(then.entry)}`
}

function problemOfPage(
  { prefix, limit = Number.POSITIVE_INFINITY, startAfter = '' }: Extract<Operation['requested'], { what: 'range' }>,
  { entries, remaining, revision }: Extract<Outcome, { is: 'page' }>,
  keys: readonly string[],
  entryAt: TimeTravel,
): string | undefined {
  if (entries.length > limit) return `more than ${limit} entries`
  if (remaining > 0 && entries.length < limit) return `${remaining} are said to remain although the page is not full`
  const byKey = new Map(entries.map(entry => [entry.key, entry]))
  if (byKey.size < entries.length || entries.some((entry, i) => i > 0 && entry.key <= entries[i - 1]!.key)) {
    return 'keys are repeated or out of order'
  }
  const stray = entries.find(entry => !covers(prefix, entry.key) || entry.key <= startAfter)
  if (stray) return `${stray.key} is not in what was requested for`

  const last = remaining > 0 ? entries.at(-1)?.key : undefined
  let certain = 0
  let doubtful = 0
  for (const key of keys) {
    if (!covers(prefix, key) || key <= startAfter) continue
    const then = entryAt(key, revision)
    if (last !== undefined && key > last) {
      if (then.doubtful) doubtful++
      else if (then.entry) certain++
      continue
    }
    const entry = byKey.get(key)
    if (!sameEntry(entry, then.entry) && !(then.doubtful && !entry)) {
      return `at revision ${revision} ${key} held ${entryInWords(then.entry)}, not ${entryInWords(entry)}`
    }
  }
  if (remaining < certain || remaining > certain + doubtful) return `${certain} remain, not ${remaining}`
  return undefined
}
