// Checks watches: every write to the target is delivered in order, once, none missing, with the previous entry;
// progress is never ahead of the delivered events; and all of that holds across closing and resuming.
import type { Revision } from '../../../src/storage/store.js'
import {
  covers,
  type History,
  type Rule,
  sameEntry,
  type Violation,
  type WatcherLog,
  type WatchStep,
} from './history.js'
import type { Ledger, Write } from './ledger.js'
import { entryInWords, lines, operationInWords, stepInWords, stepsInWords } from './wording.js'

export function checkWatches(history: History, ledger: Ledger): Violation[] {
  return history.watchers.flatMap(watcher => {
    const violations: Violation[] = []
    const report: Report = (rule, step, problem, evidence = []) =>
      violations.push({
        rule,
        message:
          `watcher ${watcher.name} of ${watcher.target}: ${problem}` +
          `${stepsInWords(watcher.steps, step)}${evidence.length > 0 ? `\n  because of${lines(evidence)}` : ''}`,
      })
    checkCalls(history, watcher, report)
    checkEvents(watcher, ledger, report)
    checkCoverage(watcher, ledger, report)
    return violations
  })
}

type Report = (rule: Rule, step: WatchStep, problem: string, evidence?: readonly string[]) => void

/** A sink is called only while its watch is open and not paused, and the watch ends only with a valid error. */
function checkCalls({ incidents }: History, { steps }: WatcherLog, report: Report): void {
  let state: 'open' | 'paused' | 'over' = 'over'
  let session = 0
  let hasPaused = false
  let position: Revision = 0
  let gaveUp = false
  for (const step of steps) {
    const fromStore = step.is === 'event' || step.is === 'progress' || step.is === 'ended'
    if (fromStore && (state === 'over' || step.session !== session)) {
      report('watch-calls', step, 'the sink was called while its watch was not open')
      continue
    }
    if (state === 'paused' && (step.is === 'event' || step.is === 'progress')) {
      report('watch-calls', step, 'the sink was called while it was paused')
    }
    switch (step.is) {
      case 'opened':
        // A client may start elsewhere only after its position was compacted.
        if (session > 0 && step.after !== position && !gaveUp) {
          report('watch-resumable', step, `resumed after ${step.after}, but it had come to ${position}`)
        }
        state = 'open'
        session = step.session
        hasPaused = false
        gaveUp = false
        position = step.after
        break
      case 'event':
        position = Math.max(position, step.event.revision)
        break
      case 'progress':
        position = Math.max(position, step.revision)
        break
      case 'paused':
        state = 'paused'
        hasPaused = true
        break
      case 'resumed':
        state = 'open'
        break
      case 'closed':
        state = 'over'
        break
      case 'ended': {
        state = 'over'
        gaveUp = step.code === 'compacted'
        const before = incidents.filter(incident => incident.time < step.time)
        const excused =
          (step.code === 'compacted' && before.some(each => each.is === 'compaction' && each.to > position)) ||
          (step.code === 'closed' && before.some(each => each.is === 'close')) ||
          (step.code === 'slow-watcher' && hasPaused)
        if (!excused) report('watch-calls', step, `the watch ended with ${step.code} for no reason`)
      }
    }
  }
}

/** Each event: in order, once, with an existing write and its previous entry. */
function checkEvents({ target, steps }: WatcherLog, ledger: Ledger, report: Report): void {
  let last: Revision = 0
  const sent = new Set<Revision>()
  for (const step of steps) {
    if (step.is === 'opened') last = Math.max(last, step.after)
    if (step.is !== 'event') continue
    const { event } = step
    if (!covers(target, event.key)) report('watch-calls', step, `${event.key} is not what it watches`)
    if (sent.has(event.revision)) report('watch-unique', step, `the event of revision ${event.revision} was repeated`)
    else if (event.revision <= last) {
      report('watch-ordered', step, `the event of revision ${event.revision} came after ${last} had been reached`)
    }
    sent.add(event.revision)
    last = Math.max(last, event.revision)

    const write = ledger.byRevision.get(event.revision)
    // An event without a write at its revision is reported with the ledger.
    if (!write || write.key !== event.key || write.value !== event.value) continue
    const replaced = write.expected === 0 ? undefined : ledger.byRevision.get(write.expected)
    const previous = replaced?.value === undefined ? undefined : { ...replaced, value: replaced.value }
    if (!sameEntry(previous, event.previous)) {
      report('watch-previous', step, `it replaced ${entryInWords(previous)}, not ${entryInWords(event.previous)}`, [
        operationInWords(write.operation),
      ])
    }
  }
}

/** No event is missing between the start of a session and its last event or progress. */
function checkCoverage({ target, steps }: WatcherLog, ledger: Ledger, report: Report): void {
  const wanted = [...ledger.byRevision.values()]
    .filter(write => covers(target, write.key))
    .toSorted((a, b) => a.revision - b.revision)
  // Counts events of any session: repetitions and wrong order are reported elsewhere.
  const sentAt = new Map<Revision, number>()
  for (const step of steps) if (step.is === 'event') sentAt.set(step.event.revision, step.time)

  let position: Revision = 0
  let progressed: Revision = 0
  for (const step of steps) {
    if (step.is === 'opened') {
      position = step.after
      progressed = 0
    } else if (step.is === 'event' || step.is === 'progress') {
      const to = step.is === 'event' ? step.event.revision : step.revision
      if (step.is === 'progress' && to < progressed) {
        report('watch-progress', step, `progress went back from ${progressed} to ${to}`)
      }
      const missed = between(wanted, position, to).filter(
        write => !((sentAt.get(write.revision) ?? Infinity) <= step.time),
      )
      if (missed.length > 0) reportMissed(step, missed, sentAt, report)
      if (step.is === 'progress') progressed = Math.max(progressed, to)
      position = Math.max(position, to)
    }
  }
}

function reportMissed(
  step: WatchStep,
  missed: readonly Write[],
  sentAt: ReadonlyMap<Revision, number>,
  report: Report,
): void {
  const evidence = missed.map(({ operation, revision }) => {
    const sent = sentAt.get(revision)
    return `revision ${revision}, ${sent === undefined ? 'never sent' : `sent at ${sent}`}: ${operationInWords(operation)}`
  })
  if (step.is === 'progress') report('watch-progress', step, 'progress is ahead of what was sent', evidence)
  else report('watch-reliable', step, `events are missing before ${stepInWords(step)}`, evidence)
}

/** The writes after one revision and up to another. */
function between(writes: readonly Write[], after: Revision, to: Revision): readonly Write[] {
  let low = 0
  let high = writes.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (writes[middle]!.revision <= after) low = middle + 1
    else high = middle
  }
  let end = low
  while (end < writes.length && writes[end]!.revision <= to) end++
  return writes.slice(low, end)
}
