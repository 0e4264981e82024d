// The writes of a history that are known to have happened, each with its revision: those that were acknowledged, and
// those of unknown outcome whose value, or whose deletion, somebody saw.
import type { Revision } from '../../../src/storage/store.js'
import {
  expectedBy,
  type History,
  isWrite,
  type Operation,
  type Seen,
  type SeenEvent,
  type Violation,
  valueOf,
} from './history.js'
import { entryInWords, eventInWords, operationInWords } from './wording.js'

export interface Write {
  readonly operation: Operation
  readonly key: string
  /** Undefined when it deleted the key. */
  readonly value: string | undefined
  /** The revision of the entry it replaced, 0 when there was none. */
  readonly expected: Revision
  readonly revision: Revision
}

export interface Ledger {
  readonly byRevision: ReadonlyMap<Revision, Write>
  readonly byOperation: ReadonlyMap<Operation, Write>
  /** Oldest first. */
  readonly ofKey: (key: string) => readonly Write[]
  readonly keys: ReadonlySet<string>
  /** When a watcher was first sent the write of this revision: by then it had taken effect. */
  readonly shownAt: ReadonlyMap<Revision, number>
  /** Deletes of unknown outcome that may have happened without anybody seeing it. */
  readonly possibleDeletes: readonly Operation[]
  readonly violations: readonly Violation[]
}

export function drawUpLedger(history: History): Ledger {
  const byRevision = new Map<Revision, Write>()
  const byOperation = new Map<Operation, Write>()
  const violations: Violation[] = []
  const reported = new Set<string>()

  function wrong(about: string, message: string): void {
    if (reported.has(about)) return // a wrong value is often seen many times
    reported.add(about)
    violations.push({ rule: 'authorship', message })
  }

  function enter(operation: Operation, revision: Revision): void {
    const { requested: asked } = operation
    if (!isWrite(asked)) return
    const write = { operation, key: asked.key, value: valueOf(asked), expected: expectedBy(asked), revision }
    const other = byRevision.get(revision)
    if (other) wrong(`revision ${revision}`, `two writes at revision ${revision}:${both(other.operation, operation)}`)
    else byRevision.set(revision, write)
    byOperation.set(operation, write)
  }

  const authors = new Map<string, Operation>()
  const deletes: Operation[] = []
  for (const operation of history.operations) {
    const { requested: asked, outcome } = operation
    if (!isWrite(asked)) continue
    if (asked.what === 'delete') deletes.push(operation)
    else authors.set(asked.value, operation)
    if (outcome.is === 'done') enter(operation, outcome.revision)
  }

  function sawValue({ key, value, revision }: Seen, where: string): void {
    const author = authors.get(value)
    const what = `${key} = ${entryInWords({ key, value, revision })}`
    if (!author || !isWrite(author.requested) || author.requested.key !== key) {
      wrong(value, `${what} was seen, but nobody wrote it:\n    ${where}`)
      return
    }
    const proof = `\n    ${operationInWords(author)}\n    ${where}`
    const { outcome } = author
    if (outcome.is === 'failed' || outcome.is === 'refused') {
      wrong(value, `${what} was seen, but its write was not applied:${proof}`)
      return
    }
    const write = byOperation.get(author)
    if (!write) enter(author, revision)
    else if (write.revision !== revision) {
      wrong(value, `one write was seen at two revisions, ${write.revision} and ${revision}:${proof}`)
    }
  }

  function sawDeletion(event: SeenEvent, where: string): void {
    const known = byRevision.get(event.revision)
    if (known?.key === event.key && known.value === undefined) return
    const expected = event.previous?.revision
    const author = deletes.find(
      ({ requested: asked, outcome }) =>
        isWrite(asked) && asked.key === event.key && expectedBy(asked) === expected && outcome.is === 'unknown',
    )
    const write = author && byOperation.get(author)
    if (!author) wrong(`deletion ${event.revision}`, `${eventInWords(event)}, but nobody deleted it:\n    ${where}`)
    else if (!write) enter(author, event.revision)
    else if (write.revision !== event.revision) {
      const proof = `\n    ${operationInWords(author)}\n    ${where}`
      wrong(`deletion ${event.revision}`, `one deletion was seen at two revisions:${proof}`)
    }
  }

  for (const operation of history.operations) {
    const { outcome } = operation
    const where = operationInWords(operation)
    if (outcome.is === 'entry' && outcome.entry) sawValue(outcome.entry, where)
    if (outcome.is === 'refused' && outcome.current) sawValue(outcome.current, where)
    if (outcome.is === 'page') for (const entry of outcome.entries) sawValue(entry, where)
  }

  const shownAt = new Map<Revision, number>()
  for (const { name, steps } of history.watchers) {
    for (const step of steps) {
      if (step.is !== 'event') continue
      const { event, time } = step
      const where = `watcher ${name} was sent ${eventInWords(event)}   [${time}]`
      if (event.previous) sawValue(event.previous, where)
      if (event.value === undefined) sawDeletion(event, where)
      else sawValue({ key: event.key, value: event.value, revision: event.revision }, where)
      shownAt.set(event.revision, Math.min(time, shownAt.get(event.revision) ?? time))
    }
  }

  const writesOfKey = new Map<string, Write[]>()
  for (const write of [...byRevision.values()].toSorted((a, b) => a.revision - b.revision)) {
    const others = writesOfKey.get(write.key)
    if (others) others.push(write)
    else writesOfKey.set(write.key, [write])
  }
  return {
    byRevision,
    byOperation,
    ofKey: key => writesOfKey.get(key) ?? [],
    keys: new Set(writesOfKey.keys()),
    shownAt,
    possibleDeletes: deletes.filter(({ requested: asked, outcome }) => {
      if (outcome.is !== 'unknown' || !isWrite(asked)) return false
      // An entry is replaced once: where something else is known to have replaced it, this delete did not.
      return !writesOfKey.get(asked.key)?.some(write => write.expected === expectedBy(asked))
    }),
    violations,
  }
}

const both = (a: Operation, b: Operation): string => `\n    ${operationInWords(a)}\n    ${operationInWords(b)}`
