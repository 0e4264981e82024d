// Revisions agree with time across all keys: every revision that an outcome or a watcher has shown is older than every
// write called after it, and is part of every read at `latest` called after it.
import type { Revision } from '../../../src/storage/store.js'
import { type History, isWrite, type Operation, type Outcome, type Violation } from './history.js'
import type { Ledger } from './ledger.js'
import { operationInWords, stepInWords } from './wording.js'

export function checkRealTime(history: History, ledger: Ledger): Violation[] {
  const shown = everythingShown(history).toSorted((a, b) => a.time - b.time)
  const violations: Violation[] = []
  let newest: ObjectView = { time: 0, revision: 0, where: () => 'the beginning' }
  let next = 0
  for (const operation of history.operations.toSorted((a, b) => a.calledAt - b.calledAt)) {
    for (; next < shown.length && shown[next]!.time < operation.calledAt; next++) {
      if (shown[next]!.revision > newest.revision) newest = shown[next]!
    }
    const problem = problemOf(operation, newest.revision, ledger)
    if (problem) {
      const message = `${problem}:\n    ${newest.where()}\n    ${operationInWords(operation)}`
      violations.push({ rule: 'real-time', message })
    }
  }
  return violations
}

/** Evidence that the store had reached a revision at some time. */
interface ObjectView {
  readonly time: number
  readonly revision: Revision
  readonly where: () => string
}

function everythingShown({ operations, watchers }: History): ObjectView[] {
  const shown: ObjectView[] = []
  for (const operation of operations) {
    const revision = newestIn(operation.outcome)
    if (revision === 0 || operation.answeredAt === undefined) continue
    shown.push({ time: operation.answeredAt, revision, where: () => operationInWords(operation) })
  }
  for (const { name, steps } of watchers) {
    for (const step of steps) {
      const revision = step.is === 'event' ? step.event.revision : step.is === 'progress' ? step.revision : undefined
      if (revision === undefined) continue
      shown.push({ time: step.time, revision, where: () => `watcher ${name}: ${stepInWords(step)}` })
    }
  }
  return shown
}

function newestIn(outcome: Outcome): Revision {
  switch (outcome.is) {
    case 'done':
    case 'page':
    case 'revision':
      return outcome.revision
    case 'entry':
      return outcome.entry?.revision ?? 0
    case 'refused':
      return outcome.current?.revision ?? 0
    default:
      return 0
  }
}

function problemOf(operation: Operation, newest: Revision, ledger: Ledger): string | undefined {
  const { requested, outcome } = operation
  if (isWrite(requested)) {
    const revision = ledger.byOperation.get(operation)?.revision
    if (revision === undefined || revision > newest) return undefined
    return `a write took revision ${revision} although ${newest} had been shown before it was called`
  }
  if (outcome.is !== 'page' && outcome.is !== 'revision') return undefined
  const at = requested.what === 'revision' ? 'latest' : requested.at
  const { revision } = outcome
  if (at === 'latest' && revision < newest) {
    return `a read at latest answered as of ${revision} although ${newest} had been shown before it was called`
  }
  if (typeof at === 'object') {
    if ('exactly' in at && revision !== at.exactly) return `a read at ${at.exactly} answered as of ${revision}`
    if ('notOlderThan' in at && revision < at.notOlderThan) {
      return `a read not older than ${at.notOlderThan} answered as of ${revision}`
    }
  }
  return undefined
}
