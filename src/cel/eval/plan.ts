// A checked tree, or one that was only parsed, to closures. Constant parts are computed once, here.
import { CelError, isError } from '../cel-error.js'
import type { CelType } from '../check/cel-type.js'
import type { Checked, Reference } from '../check/checker.js'
import { candidateNames, type Environment } from '../environment.js'
import {
  ACCUMULATOR,
  type CallExpr,
  type ComprehensionExpr,
  type Expr,
  type ListExpr,
  type MapExpr,
  type SelectExpr,
  type StructExpr,
} from '../syntax/syntax-tree.js'
import { CelMap, OptionalValue, TypeValue, typeName, type Value } from '../values/values.js'
import { type Compiled, constant, type Evaluate, LIST_COST, spend } from './frame.js'
import { fold, quantify } from './loops.js'
import { printKey } from './operators.js'
import { compileCall } from './plan-calls.js'
import type { Compiler } from './plan-functions.js'
import { quantifierOf } from './quantifiers.js'
import { hasField, InstantiationError, select } from './selection.js'

const MAP_COST = 30
const STRUCT_COST = 40

export interface CompiledTree {
  readonly compiled: Compiled
  /** How many local variables it has. */
  readonly locals: number
}

/** Puts something around the closures of a part. */
export type Watch = (expr: Expr, compiled: Compiled) => Compiled

export function compileTree(
  tree: { expr: Expr } & Partial<Checked>,
  environment: Environment,
  watch?: Watch,
): CompiledTree {
  const { types = [], references = [] } = tree
  const compiler = new TreeCompiler(environment, types, references, tree.types !== undefined, watch)
  const compiled = compiler.compile(tree.expr)
  return { compiled, locals: compiler.locals }
}

interface Local {
  readonly name: string
  readonly slot: number
  /** Computes the variable when it is first read. */
  readonly lazy?: Evaluate
  readonly outer: Local | undefined
}

class TreeCompiler implements Compiler {
  locals = 0
  private scope: Local | undefined
  private readonly shared = new Map<Expr, Compiled>()

  constructor(
    readonly environment: Environment,
    private readonly types: readonly (CelType | undefined)[],
    private readonly references: readonly (Reference | undefined)[],
    readonly checked: boolean,
    private readonly watch: Watch | undefined,
  ) {}

  typeOf(expr: Expr): CelType | undefined {
    return this.types[expr.id]
  }

  referenceOf(expr: Expr): Reference | undefined {
    return this.references[expr.id]
  }

  compile(expr: Expr): Compiled {
    if (!expr.shared) return this.compileWatched(expr)
    let compiled = this.shared.get(expr)
    if (compiled === undefined) {
      compiled = this.compileWatched(expr)
      this.shared.set(expr, compiled)
    }
    return compiled
  }

  private compileWatched(expr: Expr): Compiled {
    const compiled = this.compileNode(expr)
    return this.watch ? this.watch(expr, compiled) : compiled
  }

  private compileNode(expr: Expr): Compiled {
    switch (expr.kind) {
      case 'literal':
        return constant(expr.value)
      case 'ident':
        return this.compileName(expr, expr.name)
      case 'select':
        return this.compileSelect(expr)
      case 'call':
        return compileCall(this, expr)
      case 'list':
        return this.compileList(expr)
      case 'map':
        return this.compileMap(expr)
      case 'struct':
        return this.compileStruct(expr)
      case 'comprehension':
        return this.compileComprehension(expr)
      case 'unspecified':
        throw new InstantiationError('the expression has a part that could not be read')
    }
  }

  // ---- names

  private compileName(expr: Expr, name: string): Compiled {
    const local = this.findLocal(name)
    if (local) return attribute(readLocal(local))
    const reference = this.referenceOf(expr)
    if (reference?.kind === 'ident') {
      if (reference.type) return constant(new TypeValue(reference.type))
      const { constants, unusableTypes = {} } = this.environment
      if (Object.hasOwn(unusableTypes, reference.name)) {
        throw new InstantiationError(`reference to undefined type: ${reference.name}`)
      }
      const known = constants.get(reference.name)
      return known ? constant(known.value) : attribute(readVariable(reference.name))
    }
    const resolved = this.resolveUnchecked(name)
    if (resolved) return resolved
    const candidates = candidateNames(this.environment.container, name)
    return attribute(({ variables }) => {
      for (const candidate of candidates) if (Object.hasOwn(variables, candidate)) return variables[candidate]!
      return new CelError(`no such attribute(s): ${candidates.join(', ')}`)
    })
  }

  /** The type or constant that a name stands for in a tree that was not checked. */
  private resolveUnchecked(name: string): Compiled | undefined {
    const { types, constants, objectTypes, container, variables = {} } = this.environment
    for (const candidate of candidateNames(container, name)) {
      if (Object.hasOwn(variables, candidate)) return undefined
      const known = constants.get(candidate)
      if (known) return constant(known.value)
      const type = types.get(candidate)
      if (type) return constant(new TypeValue(type))
      if (objectTypes.has(candidate)) return constant(new TypeValue({ kind: 'object', name: candidate, params: [] }))
    }
    return undefined
  }

  private findLocal(name: string): Local | undefined {
    for (let local = this.scope; local; local = local.outer) if (local.name === name) return local
    return undefined
  }

  private declare(name: string, lazy?: Evaluate): Local {
    const local: Local = { name, slot: this.locals++, outer: this.scope, ...(lazy ? { lazy } : {}) }
    this.scope = local
    return local
  }

  /** The name of a chain of selections that does not begin with a local variable. */
  qualifiedName(expr: Expr): string | undefined {
    if (expr.kind === 'ident') return this.findLocal(expr.name) ? undefined : expr.name
    if (expr.kind !== 'select' || expr.testOnly) return undefined
    const prefix = this.qualifiedName(expr.operand)
    return prefix === undefined ? undefined : `${prefix}.${expr.field}`
  }

  // ---- selections

  private compileSelect(expr: SelectExpr): Compiled {
    if (this.referenceOf(expr)?.kind === 'ident') return this.compileName(expr, expr.field)
    const operand = this.compile(expr.operand)
    const { field } = expr
    if (expr.testOnly) {
      // has() costs what its operand costs.
      const { run, branch, read = run } = operand
      const [before, after] = operand.read ? [1, 0] : [0, branch ? 0 : 1]
      return {
        run: frame => {
          spend(frame, before)
          const value = read(frame)
          spend(frame, after)
          return value instanceof CelError ? value : hasField(value, field)
        },
      }
    }
    const selected = select(operand, field)
    return this.checked ? selected : this.orQualifiedName(expr, selected)
  }

  /** Without a checker, `a.b.c` is looked up as one name first. */
  private orQualifiedName(expr: SelectExpr, selected: Compiled): Compiled {
    const name = this.qualifiedName(expr)
    if (name === undefined) return selected
    const resolved = this.resolveUnchecked(name)
    if (resolved) return resolved
    const candidates = candidateNames(this.environment.container, name)
    const orElse =
      (otherwise: Evaluate): Evaluate =>
      frame => {
        for (const candidate of candidates) {
          if (Object.hasOwn(frame.variables, candidate)) {
            spend(frame, 1)
            return frame.variables[candidate]!
          }
        }
        return otherwise(frame)
      }
    return { run: orElse(selected.run), branch: orElse(selected.branch ?? selected.run) }
  }

  // ---- literals with parts

  private compileList({ elements, optional }: ListExpr): Compiled {
    const parts = elements.map(element => this.compile(element))
    if (optional.length === 0 && parts.every(part => part.constant !== undefined)) {
      return constant(parts.map(part => part.constant!))
    }
    const runs = parts.map(part => part.run)
    return {
      run: frame => {
        const list: Value[] = []
        for (let i = 0; i < runs.length; i++) {
          const value = runs[i]!(frame)
          if (isError(value)) return value
          if (!optional.includes(i)) list.push(value)
          else if (!(value instanceof OptionalValue)) return notOptional('', value)
          else if (value.value !== undefined) list.push(value.value)
        }
        spend(frame, LIST_COST)
        return list
      },
    }
  }

  private compileMap({ entries }: MapExpr): Compiled {
    const parts = entries.map(({ key, value, optional }) => ({
      key: this.compile(key),
      value: this.compile(value),
      optional,
    }))
    if (
      parts.every(({ key, value, optional }) => !optional && key.constant !== undefined && value.constant !== undefined)
    ) {
      const map = new CelMap()
      for (const { key, value } of parts) map.set(key.constant!, value.constant!)
      return constant(map)
    }
    return {
      run: frame => {
        const map = new CelMap()
        for (const { key, value, optional } of parts) {
          const k = key.run(frame)
          if (isError(k)) return k
          const v = value.run(frame)
          if (isError(v)) return v
          if (optional && !(v instanceof OptionalValue)) return notOptional(printKey(k), v)
          const entry = optional ? (v as OptionalValue).value : v
          if (entry === undefined) continue
          map.set(k, entry)
        }
        spend(frame, MAP_COST)
        return map
      },
    }
  }

  private compileStruct(expr: StructExpr): Compiled {
    const { objectTypes, messageTypes, container } = this.environment
    const reference = this.referenceOf(expr)
    const name =
      reference?.kind === 'ident'
        ? reference.name
        : candidateNames(container, expr.typeName).find(candidate => objectTypes.has(candidate))
    const maker = name !== undefined && messageTypes?.has(name) ? messageTypes : objectTypes
    if (name === undefined || !maker.create) throw new InstantiationError(`unknown type: ${expr.typeName}`)
    const parts = expr.fields.map(field => ({ ...field, ...this.compile(field.value) }))
    return {
      run: frame => {
        const fields = new Map<string, Value>()
        for (const { name: field, run, optional } of parts) {
          const value = run(frame)
          if (isError(value)) return value
          fields.delete(field)
          if (!optional) fields.set(field, value)
          else if (!(value instanceof OptionalValue)) return notOptional(field, value)
          else if (value.value !== undefined) fields.set(field, value.value)
        }
        spend(frame, STRUCT_COST)
        return maker.create!(name, fields, frame.budget)
      },
    }
  }

  // ---- comprehensions

  private compileComprehension(expr: ComprehensionExpr): Compiled {
    if (isBinding(expr)) return this.compileBinding(expr)
    const range = this.compile(expr.range)
    const outer = this.scope
    const init = this.compileInit(expr.init)
    const accu = this.declare(expr.accuVar)
    const withAccu = this.scope
    const first = this.declare(expr.iterVar)
    const second = expr.iterVar2 === undefined ? undefined : this.declare(expr.iterVar2)
    const decides = quantifierOf(expr)
    if (decides !== undefined) {
      const predicate = this.compile((expr.step as CallExpr).args[1]!).run
      this.scope = outer
      return { run: quantify({ range: range.run, predicate, decides, first: first.slot, second: second?.slot }) }
    }
    const condition = this.compile(expr.condition)
    const step = this.compile(expr.step)
    this.scope = withAccu
    const result = this.compile(expr.result)
    this.scope = outer
    return {
      run: fold({
        range: range.run,
        init,
        // A condition that is always true need not be evaluated.
        condition: condition.constant === true ? undefined : condition.run,
        step: step.run,
        result: result.run,
        accu: accu.slot,
        first: first.slot,
        second: second?.slot,
      }),
    }
  }

  /** The initial list or map of an accumulator is new each time: steps add to it in place. */
  private compileInit(init: Expr): Evaluate {
    if (init.kind === 'list' && init.elements.length === 0) return () => []
    if (init.kind === 'map' && init.entries.length === 0) return () => new CelMap()
    return this.compile(init).run
  }

  private compileBinding(expr: ComprehensionExpr): Compiled {
    const outer = this.scope
    const init = this.compile(expr.init)
    const { slot } = this.declare(expr.accuVar, init.run)
    const result = this.compile(expr.result)
    this.scope = outer
    return {
      run: frame => {
        frame.locals[slot] = undefined
        return result.run(frame)
      },
    }
  }

  /** The slot of the accumulator if the expression is it. */
  accumulatorSlot(expr: Expr): number | undefined {
    return expr.kind === 'ident' && expr.name === ACCUMULATOR ? this.findLocal(ACCUMULATOR)?.slot : undefined
  }
}

/** A name costs 1 to look up, except as the branch of a condition. */
const attribute = (read: Evaluate): Compiled => ({
  run: frame => {
    spend(frame, 1)
    return read(frame)
  },
  branch: read,
  read,
})

function readVariable(name: string): Evaluate {
  const missing = new CelError(`no such attribute(s): ${name}`)
  // Names of Object.prototype are variables only if they are own properties of the host's object.
  if (name in Object.prototype) return ({ variables }) => (Object.hasOwn(variables, name) ? variables[name]! : missing)
  return ({ variables }) => variables[name] ?? (variables[name] === null ? null : missing)
}

function readLocal({ slot, lazy }: Local): Evaluate {
  if (!lazy) return ({ locals }) => locals[slot]!
  return frame => {
    const known = frame.locals[slot]
    if (known !== undefined) return known
    const value = lazy(frame)
    frame.locals[slot] = value
    return value
  }
}

const notOptional = (name: string, value: Value): CelError =>
  new CelError(`cannot initialize optional entry '${name}' from non-optional value ${typeName(value)}`)

/** A local variable: an accumulator over nothing. */
const isBinding = ({ range, condition, accuVar }: ComprehensionExpr): boolean =>
  range.kind === 'list' &&
  range.elements.length === 0 &&
  condition.kind === 'literal' &&
  condition.value === false &&
  accuVar !== ACCUMULATOR
