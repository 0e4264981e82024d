// Syntax trees in the notation of the conformance suite's baselines.
import { printType } from '../check/cel-type.js'
import type { Checked } from '../check/checker.js'
import { Double, Uint } from '../values/numbers.js'
import type { Expr, LiteralValue } from './syntax-tree.js'

/** With types and references if the tree was checked. */
export function debugPrint(root: Expr, checked?: Checked): string {
  const lines = (expr: Expr, indent: string): string => {
    const inner = `${indent}  `
    const list = (parts: readonly string[]): string => parts.map(part => `${inner}${part}`).join(',\n')
    const body = (): string => {
      const reference = checked?.references[expr.id]
      switch (expr.kind) {
        case 'literal':
          return printLiteral(expr.value)
        case 'ident':
          return reference?.kind === 'ident' ? reference.name : expr.name
        case 'select':
          if (reference?.kind === 'ident') return reference.name
          return `${lines(expr.operand, indent)}.${expr.field}${expr.testOnly ? '~test-only~' : ''}`
        case 'call': {
          const named = reference?.kind === 'function' ? reference : undefined
          const target = expr.target && !named?.namespaced ? `${lines(expr.target, indent)}.` : ''
          const args = expr.args.map(arg => lines(arg, inner))
          return `${target}${named?.name ?? expr.name}(${args.length === 0 ? '' : `\n${list(args)}\n${indent}`})`
        }
        case 'list':
          return expr.elements.length === 0
            ? '[]'
            : `[\n${list(expr.elements.map(element => lines(element, inner)))}\n${indent}]`
        case 'map':
          if (expr.entries.length === 0) return '{}'
          return `{\n${list(
            expr.entries.map(
              ({ key, value, optional }) =>
                `${optional ? '?' : ''}${lines(key, inner)}:${lines(value, inner)}${checked ? '' : '^#*expr.Expr_CreateStruct_Entry#'}`,
            ),
          )}\n${indent}}`
        case 'struct': {
          const name = reference?.kind === 'ident' ? reference.name : expr.typeName
          if (expr.fields.length === 0) return `${name}{}`
          return `${name}{\n${list(
            expr.fields.map(
              field =>
                `${field.optional ? '?' : ''}${field.name}:${lines(field.value, inner)}${checked ? '' : '^#*expr.Expr_CreateStruct_Entry#'}`,
            ),
          )}\n${indent}}`
        }
        case 'comprehension':
          return [
            '__comprehension__(',
            `${inner}// Variable`,
            `${inner}${expr.iterVar},`,
            ...(expr.iterVar2 === undefined ? [] : [`${inner}${expr.iterVar2},`]),
            `${inner}// Target`,
            `${inner}${lines(expr.range, inner)},`,
            `${inner}// Accumulator`,
            `${inner}${expr.accuVar},`,
            `${inner}// Init`,
            `${inner}${lines(expr.init, inner)},`,
            `${inner}// LoopCondition`,
            `${inner}${lines(expr.condition, inner)},`,
            `${inner}// LoopStep`,
            `${inner}${lines(expr.step, inner)},`,
            `${inner}// Result`,
            `${inner}${lines(expr.result, inner)})`,
          ].join('\n')
        case 'unspecified':
          return ''
      }
    }
    return body() + adorn(expr)
  }
  const adorn = (expr: Expr): string => {
    if (!checked) return `^#${kindName(expr)}#`
    const type = checked.types[expr.id]
    const reference = checked.references[expr.id]
    const refers =
      reference === undefined
        ? ''
        : reference.kind === 'ident'
          ? `^${reference.name}`
          : `^${reference.overloads
              .map(({ id }) => id)
              .toSorted()
              .join('|')}`
    return type ? `~${printType(type)}${refers}` : ''
  }
  return lines(root, '')
}

function kindName(expr: Expr): string {
  switch (expr.kind) {
    case 'literal':
      return `*expr.Constant_${literalName(expr.value)}Value`
    case 'map':
    case 'struct':
      return '*expr.Expr_StructExpr'
    default:
      return `*expr.Expr_${expr.kind[0]!.toUpperCase()}${expr.kind.slice(1)}Expr`
  }
}

function literalName(value: LiteralValue): string {
  if (value === null) return 'Null'
  if (value instanceof Uint) return 'Uint64'
  if (value instanceof Double) return 'Double'
  if (value instanceof Uint8Array) return 'Bytes'
  return { boolean: 'Bool', number: 'Int64', bigint: 'Int64', string: 'String' }[typeof value as string] ?? ''
}

function printLiteral(value: LiteralValue): string {
  if (value instanceof Uint) return `${value.value}u`
  if (value instanceof Double) {
    const { value: number } = value
    if (number < 1e6 && number > -1e6) return (Object.is(number, -0) ? '-' : '') + String(number)
    return number.toExponential().replace(/e\+([0-9])$/, 'e+0$1')
  }
  if (typeof value === 'string') return quoted(value)
  if (value instanceof Uint8Array) return `b${quoted(Buffer.from(value).toString('utf8'))}`
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}

const quoted = (text: string): string => JSON.stringify(text)
