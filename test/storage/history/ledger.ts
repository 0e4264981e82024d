// The writes of a history that certainly took effect, with their revisions: acknowledged writes, and writes of unknown
// outcome whose value or deletion was seen.
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
  /** Undefined for a delete. */
  readonly value: string | undefined
  /** The revision of the replaced entry, 0 if there was none. */
  readonly expected: Revision
  readonly revision: Revision
}

export interface Ledger {
  readonly byRevision: ReadonlyMap<Revision, Write>
  readonly byOperation: ReadonlyMap<Operation, Write>
  /** Oldest first. */
  readonly ofKey: (key: string) => readonly Write[]
  readonly keys: ReadonlySet<string>
  /** When a watcher first received the write of this revision: it had taken effect by then. */
  readonly shownAt: ReadonlyMap<Revision, number>
  /** Deletes of unknown outcome that may have taken effect without being seen. */
  readonly possibleDeletes: readonly Operation[]
  readonly violations: readonly Violation[]
}

export function createLedger(history: History): Ledger {
  const byRevision = new Map<Revision, Write>()
  const byOperation = new Map<Operation, Write>()
  const violations: Violation[] = []
  const reported = new Set<string>()

  function wrong(about: string, message: string): void {
    if (reported.has(about)) return // a wrong value is often seen several times
    reported.add(about)
    violations.push({ rule: 'authorship', message })
  }

  function enter(operation: Operation, revision: Revision): void {
    const { requested } = operation
    if (!isWrite(requested)) return
    const write = {
      operation,
      key: requested.key,
      value: valueOf(requested),
      expected: expectedBy(requested),
      revision,
    }
    const other = byRevision.get(revision)
    if (other) wrong(`revision ${revision}`, `two writes at revision ${revision}:${both(other.operation, operation)}`)
    else byRevision.set(revision, write)
    byOperation.set(operation, write)
  }

  const authors = new Map<string, Operation>()
  const deletes: Operation[] = []
  for (const operation of history.operations) {
    const { requested, outcome } = operation
    if (!isWrite(requested)) continue
    if (requested.what === 'delete') deletes.push(operation)
    else authors.set(requested.value, operation)
    if (outcome.is === 'done') enter(operation, outcome.revision)
  }

  function sawValue({ key, value, revision }: Seen, where: string): void {
    const author = authors.get(value)
    const what = `${key} = ${entryInWords({ key, value, revision })}`
    if (!author || !isWrite(author.requested) || author.requested.key !== key) {
      wrong(value, `${what} was seen, but no write has it:\n    ${where}`)
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
      ({ requested, outcome }) =>
        isWrite(requested) &&
        requested.key === event.key &&
        expectedBy(requested) === expected &&
        outcome.is === 'unknown',
    )
    const write = author && byOperation.get(author)
    if (!author)
      wrong(`deletion ${event.revision}`, `${eventInWords(event)}, but no delete has that revision:\n    ${where}`)
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
    possibleDeletes: deletes.filter(({ requested, outcome }) => {
      if (outcome.is !== 'unknown' || !isWrite(requested)) return false
      // An entry is replaced once: if another write has replaced it, this delete did not take effect.
      return !writesOfKey.get(requested.key)?.some(write => write.expected === expectedBy(requested))
    }),
    violations,
  }
}

const both = (a: Operation, b: Operation): string => `\n    ${operationInWords(a)}\n    ${operationInWords(b)}`
