// JavaScript as it is written, statement by statement. Nothing of an expression gets into the text but through
// `literal` and `param`: the names of users are strings in it, their values come from outside.

import type { Value } from '../../values/values.js'
import type { Layout } from '../layout.js'

/** What is known of a value in the code: a primitive of checked type, any value, or what is behind a view. */
export type Shape = 'int' | 'string' | 'bool' | 'value' | Layout

/** A value in the code: a name or a literal, which may be repeated. */
export interface Operand {
  readonly code: string
  readonly shape: Shape
  /** Set if the value is known before any evaluation. */
  readonly constant?: Value
}

/** Returned by the code if it cannot continue: the expression is then evaluated from the start by its closures. */
export const GIVE_UP: unique symbol = Symbol('give up')
export const RETURN_GIVE_UP = 'return GIVE_UP'

export class Writer {
  private readonly lines: string[] = []
  private readonly head: string[] = []
  private readonly params: unknown[] = []
  private readonly names = new Map<unknown, string>()
  private temps = 0
  /** The cost of the statements since the last branch, which one statement adds. */
  private cost = 0

  /** The name under which the code has something from outside. */
  param(value: unknown): string {
    let name = this.names.get(value)
    if (name === undefined) {
      name = `k${this.params.push(value) - 1}`
      this.names.set(value, name)
    }
    return name
  }

  line(text: string): void {
    this.lines.push(text)
  }

  /** A statement before all others. */
  first(text: string): void {
    this.head.push(text)
  }

  /** A new name for the value of some code. */
  temp(code: string): string {
    const name = this.name()
    this.line(`const ${name} = ${code}`)
    return name
  }

  name(): string {
    return `t${this.temps++}`
  }

  giveUpIf(condition: string): void {
    this.line(`if (${condition}) ${RETURN_GIVE_UP}`)
  }

  spend(cost: number): void {
    this.cost += cost
  }

  /** For a cost that is known only when the code runs. */
  spendCode(code: string): void {
    this.line(`c += ${code}`)
  }

  /** Called before code branches, and before other functions read the cost. */
  flush(): void {
    if (this.cost > 0) this.line(`c += ${this.cost}`)
    this.cost = 0
  }

  /** A block; its cost is spent only if it runs. */
  block(head: string, body: () => void, otherwise?: () => void): void {
    this.flush()
    this.line(`${head} {`)
    body()
    this.flush()
    if (otherwise) {
      this.line('} else {')
      otherwise()
      this.flush()
    }
    this.line('}')
  }

  /** Writes something else if the first attempt ends in an error. */
  attempt<T>(write: () => T, otherwise: (error: unknown) => T): T {
    const { cost } = this
    const { length } = this.lines
    try {
      return write()
    } catch (error) {
      this.lines.length = length
      this.cost = cost
      return otherwise(error)
    }
  }

  /** The function of the code, with what it has from outside. */
  build(result: string): (...args: never[]) => unknown {
    this.flush()
    const outside = this.params.map((_, i) => `const k${i} = k[${i}]`)
    const body = [...this.head, 'let c = 0', ...this.lines, 'frame.cost = c', `return ${result}`]
    const source = ['"use strict"', ...outside, 'return (variables, frame) => {', ...body, '}'].join('\n')
    // oxlint-disable-next-line typescript/no-implied-eval -- this is what all of it is for
    const make = new Function('k', 'GIVE_UP', source) as (k: unknown, giveUp: symbol) => (...args: never[]) => unknown
    return make(this.params, GIVE_UP)
  }
}

/** A constant as JavaScript has it; undefined for what has no literal. */
export function literal(value: Value): Operand | undefined {
  switch (typeof value) {
    case 'string':
      return { code: JSON.stringify(value), shape: 'string', constant: value }
    case 'boolean':
      return { code: String(value), shape: 'bool', constant: value }
    case 'number':
      return { code: value < 0 ? `(${value})` : String(value), shape: 'int', constant: value }
    default:
      return undefined
  }
}
