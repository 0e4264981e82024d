// The code of names, literals and selections, and what all nodes need: checked shapes, variables, and
// closures for what has no form in JavaScript.
import { CelError } from '../../cel-error.js'
import type { CelType } from '../../check/cel-type.js'
import type { Checked, Reference } from '../../check/checker.js'
import type { Environment } from '../../environment.js'
import {
  type CallExpr,
  type ComprehensionExpr,
  type Expr,
  type IdentExpr,
  OPERATORS,
  type SelectExpr,
  walk,
} from '../../syntax/syntax-tree.js'
import type { Value } from '../../values/values.js'
import { isCompound, isDynamic, type Layout } from '../layout.js'
import { compileTree } from '../plan.js'
import { hasField, selectField } from '../selection.js'
import { literal, type Operand, Writer } from './writer.js'

/** Thrown for a part that has no form in JavaScript. */
export class NotWritten extends Error {}

/** The branches of a condition do not cost the 1 for looking up a name (see `Compiled.branch`). */
export type Position = 'run' | 'branch'

/** The writers of nodes that are in other files. */
export interface NodeWriters {
  readonly writeCall: (generator: Generator, expr: CallExpr, position: Position) => Operand
  readonly writeLoop: (generator: Generator, expr: ComprehensionExpr) => Operand
}

interface Local {
  readonly name: string
  readonly operand: Operand
  readonly outer: Local | undefined
}

export class Generator {
  readonly writer = new Writer()
  locals = 0
  private scope: Local | undefined
  private readonly variables = new Map<string, Operand>()

  constructor(
    private readonly checked: Checked,
    readonly environment: Environment,
    private readonly writers: NodeWriters,
  ) {}

  typeOf(expr: Expr): CelType | undefined {
    return this.checked.types[expr.id]
  }

  referenceOf(expr: Expr): Reference | undefined {
    return this.checked.references[expr.id]
  }

  /** Writes an expression, as code or as a call of its closure. */
  write(expr: Expr, position: Position = 'run'): Operand {
    return this.writer.attempt(
      () => this.writeNode(expr, position),
      error => this.leaveToClosure(error, expr, position),
    )
  }

  /** The same as a value that can be handed to any function. */
  writeValue(expr: Expr): Operand {
    return this.writer.attempt(
      () => this.viewOf(expr, this.write(expr)),
      error => this.leaveToClosure(error, expr, 'run'),
    )
  }

  private writeNode(expr: Expr, position: Position): Operand {
    // Code for it would be written twice.
    if (expr.shared) throw new NotWritten()
    switch (expr.kind) {
      case 'literal':
        return literal(expr.value) ?? this.writeClosure(expr, position)
      case 'ident':
        return this.writeName(expr, expr.name, position)
      case 'select':
        if (this.referenceOf(expr)?.kind === 'ident') return this.writeName(expr, undefined, position)
        return expr.testOnly ? this.writeHas(expr) : this.writeSelect(expr, position)
      case 'call':
        return this.writers.writeCall(this, expr, position)
      case 'comprehension':
        return this.writers.writeLoop(this, expr)
      default:
        throw new NotWritten()
    }
  }

  // ---- closures

  /** Closures know nothing of the variables that loops have in the code. */
  private leaveToClosure(error: unknown, expr: Expr, position: Position): Operand {
    if (!(error instanceof NotWritten) || this.usesLocals(expr)) throw error
    return this.writeClosure(expr, position)
  }

  private usesLocals(expr: Expr): boolean {
    for (const part of walk(expr)) if (part.kind === 'ident' && this.findLocal(part.name)) return true
    return false
  }

  /** The value of an expression that has the same one always. */
  constantOf(expr: Expr): Value | undefined {
    return this.usesLocals(expr)
      ? undefined
      : compileTree({ ...this.checked, expr }, this.environment).compiled.constant
  }

  private writeClosure(expr: Expr, position: Position): Operand {
    const { compiled, locals } = compileTree({ ...this.checked, expr }, this.environment)
    if (compiled.constant !== undefined) return this.constant(compiled.constant)
    this.locals = Math.max(this.locals, locals)
    const run = position === 'branch' ? (compiled.branch ?? compiled.run) : compiled.run
    return this.writeOutside(`${this.writer.param(run)}(frame)`)
  }

  constant(value: Value): Operand {
    if (value instanceof CelError) this.writer.giveUpIf('true')
    return literal(value) ?? { code: this.writer.param(value), shape: 'value', constant: value }
  }

  /** A call of a function that spends its own cost. */
  writeOutside(call: string): Operand {
    this.writer.flush()
    this.writer.line('frame.cost = c')
    const result = this.notAnError(call)
    this.writer.line('c = frame.cost')
    return result
  }

  notAnError(call: string): Operand {
    const code = this.writer.temp(call)
    this.writer.giveUpIf(this.isError(code))
    return { code, shape: 'value' }
  }

  private isError(code: string): string {
    return `${code} instanceof ${this.writer.param(CelError)}`
  }

  // ---- shapes

  /** A variable is a view as it is. */
  viewOf(expr: Expr, operand: Operand): Operand {
    const reference = this.referenceOf(expr)
    const isLocal = expr.kind === 'ident' && this.findLocal(expr.name) !== undefined
    if (typeof operand.shape === 'string' || reference?.kind !== 'ident' || isLocal) return this.valueOf(operand)
    return { code: this.writer.temp(`variables[${JSON.stringify(reference.name)}]`), shape: 'value' }
  }

  valueOf(operand: Operand): Operand {
    const { code, shape } = operand
    if (typeof shape === 'string') return operand
    if (!isDynamic(shape)) throw new NotWritten()
    return { code: this.writer.temp(`${this.writer.param(shape.view)}(${code})`), shape: 'value' }
  }

  as(shape: 'int' | 'string' | 'bool', operand: Operand): Operand {
    if (operand.shape === shape) return operand
    if (isDynamic(operand.shape)) return this.look(operand.code, { kind: shape })
    if (operand.shape !== 'value') throw new NotWritten()
    this.writer.giveUpIf(`typeof ${operand.code} !== '${JS_TYPES[shape]}'`)
    return { code: operand.code, shape }
  }

  /** A part of a host's value, after its type has been checked. */
  look(raw: string, layout: Layout): Operand {
    switch (layout.kind) {
      case 'int':
        this.writer.giveUpIf(`!Number.isInteger(${raw})`)
        return { code: raw, shape: 'int' }
      case 'string':
      case 'bool':
        this.writer.giveUpIf(`typeof ${raw} !== '${JS_TYPES[layout.kind]}'`)
        return { code: raw, shape: layout.kind }
      case 'plain':
        this.writer.giveUpIf(`${raw} === undefined || ${raw} === null`)
        return this.notAnError(`${this.writer.param(layout.read)}(${raw})`)
      case 'dynamic':
        this.writer.giveUpIf(`${raw} === undefined`)
        return { code: raw, shape: layout }
      case 'hidden':
        throw new NotWritten()
      default:
        this.writer.giveUpIf(`!${this.writer.param(layout.fits)}(${raw})`)
        return { code: raw, shape: layout }
    }
  }

  // ---- names

  private writeName(expr: Expr, name: string | undefined, position: Position): Operand {
    const local = name === undefined ? undefined : this.findLocal(name)
    const reference = this.referenceOf(expr)
    const known =
      local?.operand ?? (reference?.kind === 'ident' ? this.variable(reference.name, reference.type) : undefined)
    if (known === undefined) throw new NotWritten()
    this.writer.spend(position === 'run' ? 1 : 0)
    if (local === undefined) {
      const isError = typeof known.shape === 'string' ? ` || ${this.isError(known.code)}` : ''
      this.writer.giveUpIf(`${known.code} === undefined${isError}`)
    }
    return known
  }

  private findLocal(name: string): Local | undefined {
    for (let local = this.scope; local; local = local.outer) if (local.name === name) return local
    return undefined
  }

  /** Writes code in which a name stands for a value. */
  within(name: string, operand: Operand, write: () => void): void {
    const outer = this.scope
    this.scope = { name, operand, outer }
    try {
      write()
    } finally {
      this.scope = outer
    }
  }

  /** A variable of the host; undefined for other names. */
  private variable(name: string, type: CelType | undefined): Operand | undefined {
    const { constants, layouts = {}, unusableTypes = {} } = this.environment
    if (type !== undefined || constants.has(name) || Object.hasOwn(unusableTypes, name)) return undefined
    if (name in Object.prototype) return undefined
    let operand = this.variables.get(name)
    if (operand === undefined) {
      const layout = Object.hasOwn(layouts, name) ? layouts[name] : undefined
      const code = this.writer.name()
      const value = `variables[${JSON.stringify(name)}]`
      if (layout !== undefined && (isCompound(layout) || isDynamic(layout))) {
        this.writer.first(`const ${code} = ${this.writer.param(layout.behind)}(${value})`)
        operand = { code, shape: layout }
      } else {
        this.writer.first(`const ${code} = ${value}`)
        operand = { code, shape: 'value' }
      }
      this.variables.set(name, operand)
    }
    return operand
  }

  // ---- selections

  private writeSelect({ operand, field }: SelectExpr, position: Position): Operand {
    const from = this.write(operand, position)
    this.writer.spend(this.stepCost(operand, position))
    return this.step(from, field)
  }

  /**
   * Names, selections, indexes and conditions are ways into a value; on from anything else the first step costs 1 more.
   */
  stepCost(operand: Expr, position: Position): number {
    return this.isWay(operand) || position === 'branch' ? 1 : 2
  }

  isWay(expr: Expr): boolean {
    if (expr.kind === 'ident') return this.isVariable(expr)
    if (expr.kind === 'select')
      return !expr.testOnly && (this.referenceOf(expr)?.kind !== 'ident' || this.isVariable(expr))
    return expr.kind === 'call' && WAYS.has(expr.name)
  }

  private isVariable(expr: IdentExpr | SelectExpr): boolean {
    if (expr.kind === 'ident' && this.findLocal(expr.name)) return true
    const reference = this.referenceOf(expr)
    return reference?.kind !== 'ident' || (!reference.type && !this.environment.constants.has(reference.name))
  }

  private step(from: Operand, field: string): Operand {
    if (typeof from.shape === 'string') {
      return this.notAnError(`${this.writer.param(selectField)}(${this.valueOf(from).code}, ${JSON.stringify(field)})`)
    }
    this.isMap(from)
    const { raw, layout } = this.member(from.code, from.shape, field)
    return this.look(this.writer.temp(raw), layout)
  }

  /** Gives up if a dynamic value is no map. */
  private isMap({ code, shape }: Operand): void {
    if (isDynamic(shape)) this.writer.giveUpIf(`!${this.writer.param(shape.isMap)}(${code})`)
  }

  /** Where a field or the value of a key lies, which may be undefined or null. */
  private member(code: string, from: Layout, name: string): { readonly raw: string; readonly layout: Layout } {
    if (isDynamic(from)) return { raw: own(code, name), layout: from }
    if (!isCompound(from) || from.kind === 'list') throw new NotWritten()
    if (from.kind === 'map') return { raw: own(code, name), layout: from.element() }
    const field = from.field(name)
    if (field === undefined) throw new NotWritten()
    return { raw: own(code, field.property), layout: field.layout }
  }

  /** has() costs what its operand costs. */
  private writeHas({ operand, field }: SelectExpr): Operand {
    const { writer } = this
    const from = this.write(operand)
    writer.spend(this.isWay(operand) ? 0 : 1)
    const result = writer.name()
    if (typeof from.shape === 'string') {
      writer.line(`const ${result} = ${writer.param(hasField)}(${from.code}, ${JSON.stringify(field)})`)
      return this.as('bool', { code: result, shape: 'value' })
    }
    const { shape } = from
    this.isMap(from)
    const { raw, layout } = this.member(from.code, shape, field)
    if (isDynamic(shape)) return { code: writer.temp(`${raw} !== undefined`), shape: 'bool' }
    const code = writer.temp(raw)
    // Null is a value in maps, which may be a wrong one.
    if (shape.kind === 'map') writer.giveUpIf(`${code} === null`)
    writer.line(`let ${result} = false`)
    writer.block(`if (${code} !== undefined && ${code} !== null)`, () => {
      this.look(code, layout)
      writer.line(`${result} = true`)
    })
    return { code: result, shape: 'bool' }
  }
}

const WAYS: ReadonlySet<string> = new Set([
  OPERATORS.index,
  OPERATORS.optionalIndex,
  OPERATORS.optionalSelect,
  OPERATORS.conditional,
])

const JS_TYPES = { int: 'number', string: 'string', bool: 'boolean' } as const

/** A property that is the object's own. */
function own(object: string, property: string): string {
  const name = JSON.stringify(property)
  return property in Object.prototype
    ? `(Object.hasOwn(${object}, ${name}) ? ${object}[${name}] : undefined)`
    : `${object}[${name}]`
}
