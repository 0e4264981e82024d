// The match conditions of an authorization webhook: expressions about the review that it would be sent. It is asked only if
// all of them are true.

import { once } from '../../base/memo.js'
import {
  type CelType,
  compile,
  createEnvironment,
  type Environment,
  fromPlain,
  type ObjectTypes,
  type Program,
  RULE_ENVIRONMENT,
  runtimeTypeName,
  types,
} from '../../cel/index.js'
import { aggregate } from '../../meta/errors/aggregate.js'
import {
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  fieldTooMany,
} from '../../meta/errors/field-errors.js'
import { objectOrNone } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'

const { BOOL, STRING, listOf, mapOf, objectType } = types
const STRINGS = listOf(STRING)
const REQUIREMENT = { key: STRING, operator: STRING, values: STRINGS }

const OBJECT_TYPES: Readonly<Record<string, Readonly<Record<string, CelType>>>> = {
  'kubernetes.SubjectAccessReviewSpec': {
    resourceAttributes: objectType('kubernetes.ResourceAttributes'),
    nonResourceAttributes: objectType('kubernetes.NonResourceAttributes'),
    user: STRING,
    groups: STRINGS,
    extra: mapOf(STRING, STRINGS),
    uid: STRING,
  },
  'kubernetes.ResourceAttributes': {
    namespace: STRING,
    verb: STRING,
    group: STRING,
    version: STRING,
    resource: STRING,
    subresource: STRING,
    name: STRING,
    fieldSelector: objectType('kubernetes.FieldSelectorAttributes'),
    labelSelector: objectType('kubernetes.LabelSelectorAttributes'),
  },
  'kubernetes.NonResourceAttributes': { path: STRING, verb: STRING },
  'kubernetes.FieldSelectorAttributes': {
    rawSelector: STRING,
    requirements: listOf(objectType('kubernetes.FieldSelectorRequirement')),
  },
  'kubernetes.LabelSelectorAttributes': {
    rawSelector: STRING,
    requirements: listOf(objectType('kubernetes.LabelSelectorRequirement')),
  },
  'kubernetes.FieldSelectorRequirement': REQUIREMENT,
  'kubernetes.LabelSelectorRequirement': REQUIREMENT,
}

const REVIEW_TYPES: ObjectTypes = {
  has: name => Object.hasOwn(OBJECT_TYPES, name),
  field(type, field) {
    const fields = Object.hasOwn(OBJECT_TYPES, type) ? OBJECT_TYPES[type]! : {}
    return Object.hasOwn(fields, field) ? fields[field] : undefined
  },
}

const environment = once(
  (): Environment =>
    createEnvironment({
      ...RULE_ENVIRONMENT,
      objectTypes: REVIEW_TYPES,
      variables: { request: objectType('kubernetes.SubjectAccessReviewSpec') },
    }),
)

const MAX_CONDITIONS = 64
const COST_LIMIT = 1_000_000

export interface ReviewCondition {
  readonly expression: string
  readonly program: Program
}

/** The conditions and what is wrong with them; `path` is that of the list. */
export function compileConditions(
  expressions: readonly string[],
  path: string,
): { readonly conditions: readonly ReviewCondition[]; readonly errors: readonly FieldError[] } {
  if (expressions.length > MAX_CONDITIONS) {
    return { conditions: [], errors: [fieldTooMany(path, expressions.length, MAX_CONDITIONS)] }
  }
  const conditions: ReviewCondition[] = []
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [i, expression] of expressions.entries()) {
    const at = `${path}[${i}].expression`
    if (expression.trim() === '') errors.push(fieldRequired(at))
    else if (seen.has(expression)) errors.push(fieldDuplicate(at, expression))
    else {
      seen.add(expression)
      const compiled = compile(expression, environment())
      if (!compiled.ok) errors.push(fieldInvalid(at, expression, `compilation failed: ${compiled.message}`))
      else if (runtimeTypeName(compiled.program.type) !== 'bool') {
        const found = runtimeTypeName(compiled.program.type)
        errors.push(fieldInvalid(at, expression, `must evaluate to ${runtimeTypeName(BOOL)} but got ${found}`))
      } else conditions.push({ expression, program: compiled.program })
    }
  }
  return { conditions, errors }
}

export type ConditionsResult = { readonly matches: boolean; readonly error?: undefined } | { readonly error: string }

/** The first condition that is false decides; errors of others count only if none is. */
export function evaluateConditions(conditions: readonly ReviewCondition[], spec: ValueObject): ConditionsResult {
  const request = fromPlain(completeSpec(spec))
  const errors: string[] = []
  for (const { expression, program } of conditions) {
    const { value, error } = program.evaluate({ request }, { costLimit: COST_LIMIT })
    if (error) errors.push(`cel evaluation error: expression '${expression}' resulted in error: ${error.message}`)
    else if (value === false) return { matches: false }
  }
  return errors.length > 0 ? { error: aggregate(errors) } : { matches: true }
}

/** The spec with its empty fields, so that an expression may read them. Absent objects are not there. */
function completeSpec(spec: ValueObject): ValueObject {
  const resource = objectOrNone(spec, 'resourceAttributes')
  const path = objectOrNone(spec, 'nonResourceAttributes')
  return {
    user: '',
    groups: [],
    uid: '',
    extra: {},
    ...spec,
    ...(resource && {
      resourceAttributes: {
        namespace: '',
        verb: '',
        group: '',
        version: '',
        resource: '',
        subresource: '',
        name: '',
        ...resource,
      },
    }),
    ...(path && { nonResourceAttributes: { path: '', verb: '', ...path } }),
  }
}
