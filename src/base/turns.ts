// Long work in steps: after a step that took long, other requests get a turn before the next step begins.
//
//   const turns = startTurns()
//   step()
//   if (turns.isDue()) await turns.give()
//
// All work that waits for its turn stands in one queue, of which one goes on in each round of the event loop. So a round
// takes no longer than one turn, however much work there is, and sockets are read in between.

import { type Awaitable, andThen, eachInTurn } from './awaitable.js'
import { type Cancellation, throwIfAborted } from './cancellation.js'

export interface Turns {
  /** Asked before a promise is made, so that short work needs none. */
  isDue(): boolean
  give(): Promise<void>
  /** Both in one: a promise only if a turn is due. */
  next(): Awaitable<void>
}

/** Calls the action for one item after the other: without a promise as long as it returns none and takes little time. */
export const eachInTurns = <T>(
  items: readonly T[],
  action: (item: T) => Awaitable<void>,
  turns: Turns,
): Awaitable<void> => eachInTurn(items, item => andThen(action(item), () => turns.next()))

/** Carries out work that yields after each step: without a promise if it takes little time. */
export function inTurns<T>(work: Iterator<unknown, T>, turns = startTurns()): Awaitable<T> {
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return step.value
    if (turns.isDue()) return turns.give().then(() => inTurns(work, turns))
  }
}

/** The same at once, however long it takes. */
export function atOnce<T>(work: Iterator<unknown, T>): T {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

/** How long the steps of one request may take together before others get a turn. */
const TURN_MS = 10
/** Turns get shorter while much waits, but not shorter than this. */
const SHORTEST_MS = 0.5

export const startTurns = (turnMs = TURN_MS): Turns => new WorkInTurns(turnMs)

/** `give` rejects if the result of the work is not wanted any more. */
export const startTurnsOf = (cancellation: Cancellation): Turns => new WorkInTurns(TURN_MS, cancellation)

/** A class, since one is made for every write. */
class WorkInTurns implements Turns {
  private began = performance.now()

  constructor(
    private readonly turnMs: number,
    private readonly cancellation?: Cancellation,
  ) {}

  isDue(): boolean {
    return performance.now() - this.began > Math.max(SHORTEST_MS, this.turnMs / (1 + waiting))
  }

  next(): Awaitable<void> {
    return this.isDue() ? this.give() : undefined
  }

  async give(): Promise<void> {
    await nextTurn()
    if (this.cancellation) throwIfAborted(this.cancellation)
    this.began = performance.now()
  }
}

interface Waiting {
  readonly goOn: () => void
  after: Waiting | undefined
}

// The queue belongs to the event loop, of which a process has one, whichever server the work is for.
let first: Waiting | undefined
let last: Waiting | undefined
let waiting = 0

/** Resolves when all work that waits already has had its turn. */
export function nextTurn(): Promise<void> {
  return new Promise(goOn => {
    const joined: Waiting = { goOn, after: undefined }
    if (last) last.after = joined
    else setImmediate(beginTurns)
    first ??= joined
    last = joined
    waiting++
  })
}

/** Work that begins to wait while sockets are read would go on in the same round, before they are read again. */
const beginTurns = (): void => void setImmediate(takeTurn)

function takeTurn(): void {
  const { goOn, after } = first!
  first = after
  if (after) setImmediate(takeTurn)
  else last = undefined
  waiting--
  goOn()
}
