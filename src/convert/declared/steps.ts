// The steps of a described conversion. A step gives a new object; the one it gets is not changed.

import { failed, parsed, type Result } from '../../base/result.js'
import {
  compile,
  createEnvironment,
  Double,
  extendEnvironment,
  fromPlain,
  type Program,
  RULE_ENVIRONMENT,
  toPlain,
  types,
} from '../../cel/index.js'
import { isObject, type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'
import { getAt, readPath, removeAt, setAt } from './paths.js'

export interface Step {
  readonly written: WrittenStep
  /** `before` is the whole object as the conversion got it. */
  apply(object: ValueObject, before: ValueObject): ValueObject
}

export type WrittenStep =
  | { readonly move: string; readonly to: string }
  | { readonly set: string; readonly value: Value }
  | { readonly set: string; readonly expression: string }
  | { readonly remove: string }

const FIELDS: readonly (readonly string[])[] = [['move', 'to'], ['set', 'value'], ['set', 'expression'], ['remove']]

export function readSteps(value: Value, at: string): Result<readonly Step[]> {
  if (!Array.isArray(value)) return failed(`${at} must be a list`)
  const steps: Step[] = []
  for (const [i, each] of value.entries()) {
    const step = readStep(each, `${at}[${i}]`)
    if (!step.ok) return step
    steps.push(step.value)
  }
  return parsed(steps)
}

function readStep(value: Value, at: string): Result<Step> {
  const names = isObject(value) ? Object.keys(value).toSorted() : []
  if (!isObject(value) || !FIELDS.some(fields => fields.toSorted().join() === names.join())) {
    return failed(`${at} must be {move, to}, {set, value}, {set, expression} or {remove}`)
  }
  for (const name of ['move', 'to', 'set', 'remove', 'expression']) {
    if (Object.hasOwn(value, name) && typeof value[name] !== 'string') return failed(`${at}.${name} must be a text`)
    if (name !== 'expression' && typeof value[name] === 'string' && !readPath(value[name])) {
      return failed(
        `${at}.${name} must be a path of fields such as spec.size; metadata, apart from labels and annotations, stays`,
      )
    }
  }
  return createStep(value as unknown as WrittenStep, at)
}

export function createStep(written: WrittenStep, at = ''): Result<Step> {
  if ('move' in written) {
    const [from, to] = [readPath(written.move)!, readPath(written.to)!]
    const apply: Step['apply'] = object => {
      const value = getAt(object, from)
      return value === undefined ? object : setAt(removeAt(object, from), to, value)
    }
    return parsed({ written, apply })
  }
  if ('remove' in written) {
    const path = readPath(written.remove)!
    return parsed({ written, apply: object => removeAt(object, path) })
  }
  const path = readPath(written.set)!
  if ('value' in written) return parsed({ written, apply: object => setAt(object, path, written.value) })
  const compiled = compile(written.expression, ENVIRONMENT)
  if (!compiled.ok) return failed(`${at}.expression: ${compiled.message}`)
  const { program } = compiled
  return parsed({ written, apply: (object, before) => withResult(object, path, run(program, before)) })
}

const ENVIRONMENT = extendEnvironment(createEnvironment(RULE_ENVIRONMENT), { variables: { self: types.DYN } })
/** What one expression may cost for one object, as for a rule. */
const COST_LIMIT = 1_000_000

/** An expression that gives null or an empty optional leaves the field out. */
const withResult = (object: ValueObject, path: readonly string[], value: Value | undefined): ValueObject =>
  value === undefined || value === null ? removeAt(object, path) : setAt(object, path, value)

function run(program: Program, self: ValueObject): Value | undefined {
  const { value, error } = program.evaluate({ self: fromPlain(withDoubles(self)) }, { costLimit: COST_LIMIT })
  if (error !== undefined) throw new Error(`the expression ${program.source.text} fails: ${error.message}`)
  return jsonOf(toPlain(value!))
}

function withDoubles(value: Value): unknown {
  if (value instanceof WholeFloat) return new Double(value.value)
  if (Array.isArray(value)) return value.map(withDoubles)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withDoubles(each)]))
}

function jsonOf(plain: unknown): Value | undefined {
  if (plain === undefined || plain === null) return undefined
  if (plain instanceof Date) return plain.toISOString()
  if (plain instanceof Uint8Array) return Buffer.from(plain).toString('base64')
  if (plain instanceof Map) throw new Error('keys of maps must be texts')
  if (Array.isArray(plain)) return plain.map(each => jsonOf(each) ?? null)
  if (typeof plain === 'object') {
    return Object.fromEntries(Object.entries(plain).flatMap(([key, each]) => [[key, jsonOf(each) ?? null]]))
  }
  return plain as Value
}
