import type { Expected, Step } from './runner.mjs'

export function acceptedAnswers(steps: readonly Step[], index: number): readonly Expected[] | undefined
