// An expression as text again, with its macros as they are written.
import { Duration, printSeconds, printTimestamp, Timestamp } from '../values/moments.js'
import { Double, Uint } from '../values/numbers.js'
import { ACCUMULATOR, type CallExpr, type ComprehensionExpr, type Expr, OPERATORS } from './syntax-tree.js'

export function printExpression(expr: Expr): string {
  switch (expr.kind) {
    case 'literal':
      return printLiteral(expr.value)
    case 'ident':
      return expr.name
    case 'select':
      return expr.testOnly
        ? `has(${printExpression(expr.operand)}.${expr.field})`
        : `${operand(expr.operand)}.${expr.field}`
    case 'call':
      return printCall(expr)
    case 'list':
      return `[${expr.elements.map(printExpression).join(', ')}]`
    case 'map':
      return `{${expr.entries.map(({ key, value }) => `${printExpression(key)}: ${printExpression(value)}`).join(', ')}}`
    case 'struct':
      return `${expr.typeName}{${expr.fields.map(({ name, value }) => `${name}: ${printExpression(value)}`).join(', ')}}`
    case 'comprehension':
      return printMacro(expr)
    case 'unspecified':
      return '…'
  }
}

/** The part of a macro that is evaluated for each element. */
export function bodyOf({ step }: ComprehensionExpr): Expr {
  if (step.kind !== 'call') return step
  const { args } = step
  if (isAccumulator(args[0]))
    return args[1]?.kind === 'list' && args[1].elements.length === 1 ? args[1].elements[0]! : args[1]!
  return step.name === OPERATORS.conditional ? args[0]! : step
}

function printMacro(expr: ComprehensionExpr): string {
  const variables = expr.iterVar2 === undefined ? expr.iterVar : `${expr.iterVar}, ${expr.iterVar2}`
  if (isBinding(expr)) {
    return `cel.bind(${expr.accuVar}, ${printExpression(expr.init)}, ${printExpression(expr.result)})`
  }
  return `${operand(expr.range)}.${macroName(expr)}(${variables}, ${printExpression(bodyOf(expr))})`
}

function macroName({ step, init }: ComprehensionExpr): string {
  if (step.kind !== 'call') return 'fold'
  if (step.name === OPERATORS.and) return 'all'
  if (step.name === OPERATORS.or) return 'exists'
  if (step.name !== OPERATORS.conditional) return init.kind === 'map' ? 'transformMap' : 'map'
  return init.kind === 'list' ? 'filter' : init.kind === 'map' ? 'transformMap' : 'exists_one'
}

function printCall({ name, target, args }: CallExpr): string {
  const [a, b, c] = args
  const mapped = optMapOf({ name, args })
  if (mapped) {
    const { macro, optional, binding } = mapped
    return `${operand(optional)}.${macro}(${binding.accuVar}, ${printExpression(binding.result)})`
  }
  if (name === OPERATORS.conditional) return `${operand(a!)} ? ${operand(b!)} : ${operand(c!)}`
  if (name === OPERATORS.index) return `${operand(a!)}[${printExpression(b!)}]`
  if (name === OPERATORS.optionalIndex) return `${operand(a!)}[?${printExpression(b!)}]`
  if (name === OPERATORS.optionalSelect) return `${operand(a!)}.?${(b as { value?: unknown }).value as string}`
  if (name === OPERATORS.in) return `${operand(a!)} in ${operand(b!)}`
  const infix = /^_(\W+)_$/.exec(name)?.[1]
  if (infix !== undefined && args.length === 2) return `${operand(a!)} ${infix} ${operand(b!)}`
  const prefix = /^([!-])_$/.exec(name)?.[1]
  if (prefix !== undefined) return `${prefix}${operand(a!)}`
  const call = `${name}(${args.map(printExpression).join(', ')})`
  return target ? `${operand(target)}.${call}` : call
}

interface OptMap {
  readonly macro: 'optMap' | 'optFlatMap'
  readonly optional: Expr
  readonly binding: ComprehensionExpr
}

/** `optional.optMap(name, body)` and optFlatMap() by the branch of their expansion that has a value. */
export function optMapOf({ name, args }: Pick<CallExpr, 'name' | 'args'>): OptMap | undefined {
  const [condition, then] = args
  if (name !== OPERATORS.conditional || condition?.kind !== 'call' || !condition.target?.shared) return undefined
  const isMap = then?.kind === 'call' && then.name === 'optional.of'
  const binding = isMap ? then.args[0]! : then!
  if (binding.kind !== 'comprehension') return undefined
  return { macro: isMap ? 'optMap' : 'optFlatMap', optional: condition.target, binding }
}

/** `cel.bind(name, init, result)`. */
export const isBinding = ({ range, accuVar }: ComprehensionExpr): boolean =>
  range.kind === 'list' && range.elements.length === 0 && accuVar !== ACCUMULATOR

/** In brackets where it would be read otherwise. */
function operand(expr: Expr): string {
  const text = printExpression(expr)
  return expr.kind === 'call' && /^_(?!\[)/.test(expr.name) && expr.name !== OPERATORS.optionalSelect
    ? `(${text})`
    : text
}

function printLiteral(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof Uint) return `${value.value}u`
  if (value instanceof Double) return Number.isInteger(value.value) ? value.value.toFixed(1) : String(value.value)
  if (value instanceof Uint8Array) return `b${JSON.stringify(Buffer.from(value).toString('latin1'))}`
  if (value instanceof Timestamp) return `timestamp("${printTimestamp(value)}")`
  if (value instanceof Duration) return `duration("${printSeconds(value)}")`
  return String(value)
}

const isAccumulator = (expr: Expr | undefined): boolean => expr?.kind === 'ident' && expr.name === ACCUMULATOR
