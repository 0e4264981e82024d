// Expressions on an object: `binnacle cel eval` and `binnacle cel repl`. With the schema of a definition, `self` has its types,
// as in validation rules; without one, it is dynamic.

import {
  compile,
  type Environment,
  extendEnvironment,
  fromPlain,
  printType,
  toPlain,
  types,
  type Variables,
} from '../cel/index.js'
import { getOwn, isObject, type Value, type ValueObject } from '../meta/values/value.js'
import { type DeclaredType, escapeName } from '../types/cel-types.js'
import { ruleSetting, typeOfSchema } from './cel-setting.js'

export interface CelSession {
  evaluate(text: string): Evaluated
  /** What could follow at the end of a text, and the part of the text that it replaces. */
  complete(text: string): readonly [readonly string[], string]
}

export type Evaluated =
  | { readonly ok: true; readonly value: unknown; readonly type: string; readonly cost: number }
  | { readonly ok: false; readonly error: string }

export interface CelInputs {
  /** As `self` and `object`. */
  readonly object?: Value | undefined
  /** As `oldSelf` and `oldObject`. */
  readonly old?: Value | undefined
  readonly params?: Value | undefined
  /** The schema of `self`. */
  readonly schema?: ValueObject | undefined
}

/** What one expression may cost, as for a validation rule. */
const COST_LIMIT = 10_000_000

export function createCelSession({ object, old, params, schema }: CelInputs): CelSession {
  const rule = ruleSetting({ object, oldObject: old, type: schema && typeOfSchema(schema) })
  const dynamic = Object.entries({ object, oldObject: old, params }).filter(([, value]) => value !== undefined)
  const environment = extendEnvironment(rule.environment, {
    variables: Object.fromEntries(dynamic.map(([name]) => [name, types.DYN])),
  })
  const variables = { ...rule.inputs, ...Object.fromEntries(dynamic.map(([name, value]) => [name, fromPlain(value)])) }
  return {
    evaluate: text => evaluate(text, environment, variables),
    complete: text => complete(text, environment, { object, old, params }, rule.declared),
  }
}

function evaluate(text: string, environment: Environment, variables: Variables): Evaluated {
  const compiled = compile(text, environment)
  if (!compiled.ok) return { ok: false, error: compiled.message }
  const { value, error, cost } = compiled.program.evaluate(variables, { costLimit: COST_LIMIT })
  if (error !== undefined) return { ok: false, error: error.message }
  return { ok: true, value: toPlain(value!), type: printType(compiled.program.type), cost }
}

interface Roots {
  readonly object?: Value | undefined
  readonly old?: Value | undefined
  readonly params?: Value | undefined
}

/** Fields of the object and of its schema behind a dot; otherwise variables and functions. */
function complete(
  text: string,
  environment: Environment,
  roots: Roots,
  declared: DeclaredType | undefined,
): readonly [readonly string[], string] {
  const [, path = '', last = ''] = /((?:[A-Za-z_]\w*(?:\[\d+\])?\.)*)([A-Za-z_]\w*)?$/.exec(text) ?? []
  const steps = path.split('.').slice(0, -1)
  const functions = [...environment.functions.keys()].filter(name => /^[A-Za-z]\w*$/.test(name))
  const candidates =
    steps.length === 0 ? [...Object.keys(environment.variables ?? {}), ...functions] : membersAt(steps, roots, declared)
  return [[...new Set(candidates)].filter(name => name.startsWith(last)).toSorted(), last]
}

function membersAt(
  [root, ...steps]: readonly string[],
  { object, old, params }: Roots,
  declared: DeclaredType | undefined,
): readonly string[] {
  const isSelf = root === 'self' || root === 'oldSelf'
  let value: Value | undefined = root === 'params' ? params : root === 'oldSelf' || root === 'oldObject' ? old : object
  let type = isSelf ? declared : undefined
  for (const step of steps) {
    const [, name = '', index] = /^(\w+)(?:\[(\d+)\])?$/.exec(step) ?? []
    value = isObject(value) ? getOwn(value, name) : undefined
    type = type?.fields.get(name)?.declared ?? type?.element
    if (index === undefined) continue
    value = Array.isArray(value) ? value[Number(index)] : undefined
    type = type?.element
  }
  const own = isObject(value) ? Object.keys(value).map(key => escapeName(key) ?? '') : []
  return [...own, ...(type?.fields.keys() ?? [])].filter(Boolean)
}
