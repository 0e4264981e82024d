// What a validation rule may refer to, and the values that it sees, for an object and its type.

import {
  type Value as CelValue,
  createEnvironment,
  type Environment,
  extendEnvironment,
  fromPlain,
  RULE_ENVIRONMENT,
  types,
  type Variables,
} from '../cel/index.js'
import { getOwn, isObject, type Value, type ValueObject } from '../meta/values/value.js'
import { ruleEnvironment } from '../schema/rules.js'
import { parseSchema, structuralType } from '../schema/structural.js'
import { celReader, type DeclaredType, declareTypes, escapeName } from '../types/cel-types.js'
import type { Type } from '../types/type.js'
import { builtinTypes } from '../types/type-table.js'

export interface RuleInput {
  readonly object?: Value | undefined
  readonly oldObject?: Value | undefined
  /** What the object is; dynamic when absent. */
  readonly type?: Type | undefined
  /** Where in the object the rule is: `spec.items[0]`. */
  readonly path?: string | undefined
}

export interface RuleSetting {
  readonly environment: Environment
  readonly inputs: Variables
  /** The type of `self`; undefined where it is dynamic. */
  readonly declared: DeclaredType | undefined
}

export function ruleSetting({ object, oldObject, type, path = '' }: RuleInput): RuleSetting {
  const steps = stepsOf(path)
  const declarations = type && declareTypes(type, { isResource: true })
  const declared = steps.reduce((at: DeclaredType | undefined, step) => at && partOf(at, step), declarations?.root)
  const read = declared ? celReader(declared) : fromPlain
  const inputs: Record<string, CelValue> = {}
  const add = (name: string, value: Value | undefined): void => {
    const found = steps.reduce(valueOf, value)
    if (found !== undefined) inputs[name] = read(found)
  }
  add('self', object)
  add('oldSelf', oldObject)
  const environment =
    declared && declarations
      ? ruleEnvironment(declared, declarations.objectTypes, false)
      : extendEnvironment(createEnvironment(RULE_ENVIRONMENT), { variables: { self: types.DYN, oldSelf: types.DYN } })
  return { environment, inputs, declared }
}

/** The type of the objects that a schema describes. */
export const typeOfSchema = (schema: ValueObject): Type =>
  structuralType(builtinTypes(), {
    schema: () => parseSchema(schema),
    written: () => schema,
    writtenBytes: undefined,
    preserveUnknownFields: false,
  })

type Step = string | number

/** `spec.items[0]['a.b']`. */
const stepsOf = (path: string): readonly Step[] =>
  Array.from(path.matchAll(/([^.[\]]+)|\[(?:(\d+)|'([^']*)'|"([^"]*)")\]/g), ([, name, index, single, double]) =>
    index === undefined ? (name ?? single ?? double ?? '') : Number(index),
  )

function partOf({ fields, unnamed, element }: DeclaredType, step: Step): DeclaredType | undefined {
  if (typeof step === 'number') return element
  const name = escapeName(step)
  return (name === undefined ? unnamed.get(step) : fields.get(name)?.declared) ?? element
}

function valueOf(value: Value | undefined, step: Step): Value | undefined {
  if (typeof step === 'number') return Array.isArray(value) ? value[step] : undefined
  return isObject(value) ? getOwn(value, step) : undefined
}
