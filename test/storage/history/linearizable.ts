// Checks linearizability: is there an order of the operations on a key, each taking effect at one moment between its
// call and its outcome, that explains all outcomes? Searched key by key with the algorithm of Wing & Gong and Lowe's
// cache of configurations: take any operation that may come first, apply it, continue, and backtrack when no operation
// fits.
//
// Revisions keep the search short. They fix the order of writes with known revisions, so it branches only at unseen
// deletes of unknown outcome. Operations that change nothing are taken as soon as they fit: no later moment could be
// better for them, and the remaining search is the same.
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
  valueOf,
} from './history.js'
import type { Ledger } from './ledger.js'
import { entryInWords, lines, operationInWords } from './wording.js'

export function checkLinearizable(history: History, ledger: Ledger): Violation[] {
  const keys = new Set(ledger.keys)
  for (const { requested } of history.operations) if ('key' in requested) keys.add(requested.key)
  return [...keys].toSorted().flatMap(key => {
    const stuck = search(key, stepsOf(key, history, ledger))
    return stuck ? [violation(key, stuck)] : []
  })
}

/** An operation on one key as the search sees it. */
interface Step {
  readonly operation: Operation
  readonly calledAt: number
  /** The moment by which it took effect. */
  readonly effectiveAt: number
  /** It may not have taken effect at all. */
  readonly optional: boolean
  readonly effect:
    | { readonly is: 'look'; readonly found: Seen | undefined }
    | { readonly is: 'refusal'; readonly found: Seen | undefined; readonly expected: Revision }
    | {
        readonly is: 'write'
        readonly value: string | undefined
        readonly expected: Revision
        /** Unknown for deletes that were not seen. */
        readonly revision: Revision | undefined
      }
}

interface State {
  readonly entry: Seen | undefined
  /** The revision of the last write whose revision is known. */
  readonly revision: Revision
}

function stepsOf(key: string, history: History, ledger: Ledger): Step[] {
  const steps: Step[] = []
  for (const operation of history.operations) {
    const { requested, outcome, calledAt } = operation
    const effect = effectOf(key, operation, ledger)
    if (!effect) continue
    const revision = effect.is === 'write' ? effect.revision : undefined
    const answeredAt = (outcome.is === 'unknown' ? undefined : operation.answeredAt) ?? Number.POSITIVE_INFINITY
    const shownAt = (revision === undefined ? undefined : ledger.shownAt.get(revision)) ?? Number.POSITIVE_INFINITY
    const optional = isWrite(requested) && outcome.is === 'unknown' && revision === undefined
    steps.push({ operation, calledAt, effectiveAt: Math.min(answeredAt, shownAt), optional, effect })
  }
  return steps.toSorted((a, b) => a.calledAt - b.calledAt)
}

function effectOf(key: string, operation: Operation, ledger: Ledger): Step['effect'] | undefined {
  const { requested, outcome } = operation
  if (isWrite(requested)) {
    if (requested.key !== key) return undefined
    const expected = expectedBy(requested)
    if (outcome.is === 'refused') return { is: 'refusal', found: outcome.current, expected }
    const revision = ledger.byOperation.get(operation)?.revision
    // A value that was never seen can be ignored: any later operation on the key would have shown it.
    if (outcome.is === 'unknown' && revision === undefined && requested.what !== 'delete') return undefined
    if (outcome.is === 'failed') return undefined
    return { is: 'write', value: valueOf(requested), expected, revision }
  }
  if (requested.what === 'revision' || requested.at !== 'latest') return undefined
  if (requested.what === 'get') {
    return requested.key === key && outcome.is === 'entry' ? { is: 'look', found: outcome.entry } : undefined
  }
  // A page reads each key in its range.
  if (outcome.is !== 'page' || !covers(requested.prefix, key) || !reaches(outcome, key, requested.startAfter))
    return undefined
  return { is: 'look', found: outcome.entries.find(entry => entry.key === key) }
}

function reaches(page: Extract<Outcome, { is: 'page' }>, key: string, startAfter = ''): boolean {
  const last = page.entries.at(-1)
  return key > startAfter && (page.remaining === 0 || (last !== undefined && key <= last.key))
}

/** The longest order that was found, and the operations that cannot follow it. */
interface Stuck {
  readonly order: readonly Step[]
  readonly state: State
  readonly next: readonly Step[]
}

function search(key: string, steps: readonly Step[]): Stuck | undefined {
  const taken = new Set<Step>()
  const order: Step[] = []
  const tried = new Set<string>()
  const toExplain = steps.filter(step => !step.optional).length
  let explained = 0
  let furthest: { stuck: Stuck; explained: number } | undefined

  function take(step: Step): void {
    taken.add(step)
    order.push(step)
    if (!step.optional) explained++
  }

  function putBack(step: Step): void {
    taken.delete(step)
    order.pop()
    if (!step.optional) explained--
  }

  /** The operations that may come next: no remaining operation had ended before they were called. */
  function candidates(): Step[] {
    let limit = Number.POSITIVE_INFINITY
    const found: Step[] = []
    for (const step of steps) {
      if (step.calledAt > limit) break
      if (taken.has(step)) continue
      found.push(step)
      limit = Math.min(limit, step.effectiveAt)
    }
    // Later steps may lower the limit, so it is applied at the end.
    return found.filter(step => step.calledAt <= limit)
  }

  function explainFrom(state: State): boolean {
    const mark = order.length
    let next = candidates()
    for (;;) {
      const fitting = next.filter(step => step.effect.is !== 'write' && whyNot(step, state) === undefined)
      if (fitting.length === 0) break
      fitting.forEach(take)
      next = candidates()
    }
    if (explained === toExplain) return true
    const configuration = nameOf(steps, taken, state)
    if (!tried.has(configuration)) {
      tried.add(configuration)
      for (const step of next) {
        if (step.effect.is !== 'write' || whyNot(step, state) !== undefined) continue
        take(step)
        if (explainFrom(after(key, step, state))) return true
        putBack(step)
      }
      if (!furthest || explained > furthest.explained) {
        furthest = { stuck: { order: [...order], state, next }, explained }
      }
    }
    while (order.length > mark) putBack(order.at(-1)!)
    return false
  }

  return explainFrom({ entry: undefined, revision: 0 }) ? undefined : furthest?.stuck
}

/** Identifies a configuration: the state and the explained operations. */
function nameOf(steps: readonly Step[], taken: ReadonlySet<Step>, state: State): string {
  const firstLeft = steps.findIndex(step => !step.optional && !taken.has(step))
  const odd = steps.flatMap((step, i) => (taken.has(step) === i < firstLeft ? [] : [i]))
  return `${state.entry?.revision ?? 0}/${state.revision}/${firstLeft}/${odd.join()}`
}

function after(key: string, { effect }: Step, state: State): State {
  if (effect.is !== 'write') return state
  const revision = effect.revision ?? state.revision
  return { revision, entry: effect.value === undefined ? undefined : { key, value: effect.value, revision } }
}

/** Why an operation cannot have taken effect in this state. */
function whyNot({ effect }: Step, { entry, revision }: State): string | undefined {
  const at = entry?.revision ?? 0
  switch (effect.is) {
    case 'look':
      return sameEntry(effect.found, entry) ? undefined : `the key held ${entryInWords(entry)}`
    case 'refusal':
      if (at === effect.expected) return 'the key was as expected, so it must not be refused'
      return sameEntry(effect.found, entry) ? undefined : `the key held ${entryInWords(entry)}`
    default:
      if (at !== effect.expected) return `the key held ${entryInWords(entry)}, so it must be refused`
      if (effect.revision !== undefined && effect.revision <= revision) return `revision ${revision} was already taken`
      return undefined
  }
}

function violation(key: string, { order, state, next }: Stuck): Violation {
  const last = order.slice(-6)
  const explained = last.length === 0 ? '' : `; explained so far, the last ${last.length} of ${order.length}:`
  const blocked = next
    .filter(step => !step.optional)
    .map(step => `${operationInWords(step.operation)}: ${whyNot(step, state) ?? 'possible, but leads nowhere'}`)
  return {
    rule: 'linearizable',
    message:
      `${key}: no order of its operations explains their answers${explained}` +
      `${lines(last.map(step => operationInWords(step.operation)))}\n  ` +
      `then the key held ${entryInWords(state.entry)}, and none of these can come next:${lines(blocked)}`,
  }
}
