// Expressions on an object: `binnacle cel eval` and `binnacle cel repl`. With the schema of a definition, `self` has its types,
// as in validation rules; without one, it is dynamic.

import {
  type CelType,
  type Value as CelValue,
  compile,
  createEnvironment,
  type Environment,
  extendEnvironment,
  fromPlain,
  printType,
  RULE_ENVIRONMENT,
  toPlain,
  types,
  type Variables,
} from '../cel/index.js'
import { getOwn, isObject, type Value, type ValueObject } from '../meta/values/value.js'
import { parseSchema, structuralType } from '../schema/structural.js'
import { celReader, type DeclaredType, declareTypes, escapeName } from '../types/cel-types.js'
import { builtinTypes } from '../types/type-table.js'

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
  const declarations =
    schema &&
    declareTypes(
      structuralType(builtinTypes(), {
        schema: () => parseSchema(schema),
        written: () => schema,
        writtenBytes: undefined,
        preserveUnknownFields: false,
      }),
      { isResource: true },
    )
  const read = declarations ? celReader(declarations.root) : undefined
  const self: CelType = declarations?.root.celType ?? types.DYN
  const declared: Record<string, CelType> = {}
  const variables: Record<string, CelValue> = {}
  const add = (name: string, type: CelType, value: Value | undefined, typed: boolean): void => {
    if (value === undefined) return
    declared[name] = type
    variables[name] = typed && read ? read(value) : fromPlain(value)
  }
  add('self', self, object, true)
  add('oldSelf', self, old, true)
  add('object', types.DYN, object, false)
  add('oldObject', types.DYN, old, false)
  add('params', types.DYN, params, false)
  const environment = extendEnvironment(createEnvironment(RULE_ENVIRONMENT), {
    variables: declared,
    ...(declarations && { objectTypes: declarations.objectTypes }),
  })
  return {
    evaluate: text => evaluate(text, environment, variables),
    complete: text => complete(text, environment, { object, old, params }, declarations?.root),
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
