// JavaScript from a checked expression, for one that is evaluated often. Values that a layout tells of are read where
// they are, operations on known types are those of JavaScript, and costs are added up for each straight part of the
// code.
//
// The code knows only how things go well. Where an error comes up, a value is not what its type promises, an int gets
// too large or the budget is spent, it gives up, and the closures evaluate the expression again from the start:
// evaluation has no effects. Parts that it cannot express are left to closures, too.
import type { Checked } from '../../check/checker.js'
import type { Environment } from '../../environment.js'
import type { Value } from '../../values/values.js'
import type { Frame, Variables } from '../frame.js'
import { writeCall } from './calls.js'
import { Generator } from './generator.js'
import { writeLoop } from './loops.js'
import type { GIVE_UP } from './writer.js'

export interface Generated {
  /** Leaves what was spent in the frame. */
  readonly run: (variables: Variables, frame: Frame) => Value | typeof GIVE_UP
  /** How many local variables the closures have that it calls. */
  readonly locals: number
}

export function generate(checked: Checked, environment: Environment): Generated {
  const generator = new Generator(checked, environment, { writeCall, writeLoop })
  const { code } = generator.writeValue(checked.expr)
  return { run: generator.writer.build(code) as Generated['run'], locals: generator.locals }
}
