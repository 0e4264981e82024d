// Long work in steps: after a step that took long, other requests get a turn before the next step begins.
//
//   const turns = startTurns()
//   step()
//   if (turns.isDue()) await turns.give()

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Awaitable } from './awaitable.js'

export interface Turns {
  /** Asked before a promise is made, so that short work needs none. */
  isDue(): boolean
  give(): Promise<void>
  /** Both in one: a promise only if a turn is due. */
  next(): Awaitable<void>
}

/** How long the steps of one request may take together before others get a turn. */
const TURN_MS = 10

export const startTurns = (turnMs = TURN_MS): Turns => new WorkInTurns(turnMs)

/** A class, since one is made for every write. */
class WorkInTurns implements Turns {
  private began = performance.now()

  constructor(private readonly turnMs: number) {}

  isDue(): boolean {
    return performance.now() - this.began > this.turnMs
  }

  next(): Awaitable<void> {
    return this.isDue() ? this.give() : undefined
  }

  async give(): Promise<void> {
    await nextTurn()
    this.began = performance.now()
  }
}
