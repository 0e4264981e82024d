// The other direction of a described conversion, as far as its steps can be undone: a move moves back, and what was set
// is removed. What was removed or computed stays lost.

import { createStep, type Step, type WrittenStep } from './steps.js'

export interface Undone {
  readonly steps: readonly Step[]
  readonly lost: readonly string[]
}

export function undo(steps: readonly Step[]): Undone {
  const undone: Step[] = []
  const lost: string[] = []
  for (const { written } of steps.toReversed()) {
    if ('remove' in written) lost.push(written.remove)
    else {
      const step = createStep(inverse(written))
      if (step.ok) undone.push(step.value)
    }
  }
  return { steps: undone, lost }
}

const inverse = (written: Exclude<WrittenStep, { readonly remove: string }>): WrittenStep =>
  'move' in written ? { move: written.to, to: written.move } : { remove: written.set }
