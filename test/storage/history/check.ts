// All checks of a history, and a function for tests that fails with the part of the history that is wrong.
import { type History, isWrite, type Operation, type Violation } from './history.js'
import { createLedger } from './ledger.js'
import { checkLinearizable } from './linearizable.js'
import { checkRealTime } from './real-time.js'
import { checkSnapshots } from './snapshots.js'
import { checkWatches } from './watch-checker.js'
import { operationInWords } from './wording.js'

export function checkHistory(history: History): Violation[] {
  const ledger = createLedger(history)
  return [
    ...checkAnswers(history),
    ...ledger.violations,
    ...checkLinearizable(history, ledger),
    ...checkRealTime(history, ledger),
    ...checkSnapshots(history, ledger),
    ...checkWatches(history, ledger),
  ]
}

const MAX_TO_SHOW = 5

/** Fails if the history has a violation, and prints it. */
export function expectSound(history: History): void {
  const violations = checkHistory(history)
  if (violations.length === 0) return
  const { operations, watchers } = history
  const shown = violations.slice(0, MAX_TO_SHOW).map(({ rule, message }) => `${rule}: ${message}`)
  throw new Error(
    `${violations.length} violations in ${operations.length} operations and ${watchers.length} watches:\n` +
      `${shown.join('\n')}${violations.length > MAX_TO_SHOW ? '\n...' : ''}`,
  )
}

function checkAnswers(history: History): Violation[] {
  return history.operations.flatMap(operation => {
    const problem = problemOf(operation, history)
    return problem ? [{ rule: 'answers' as const, message: `${problem}:\n    ${operationInWords(operation)}` }] : []
  })
}

/** The problem of an operation that failed without a reason. */
function problemOf({ requested, answeredAt, outcome }: Operation, { incidents }: History): string | undefined {
  if (answeredAt === undefined) return 'an operation was never answered'
  if (outcome.is === 'unknown') {
    return outcome.code === 'outcome-unknown' && isWrite(requested)
      ? undefined
      : 'an operation ended with what is no answer'
  }
  if (outcome.is !== 'failed') return undefined
  switch (outcome.code) {
    case 'unavailable': // the test decides whether that was to be expected
      return undefined
    case 'closed':
      return incidents.some(each => each.is === 'close') ? undefined : 'the store was never closed'
    case 'compacted':
      return incidents.some(each => each.is === 'compaction') ? undefined : 'the store was never compacted'
    default: // clients send no malformed requests, and no revisions that they have not seen
      return 'an operation failed with an error that it did not cause'
  }
}
