// A schema as kube-apiserver's messages print it: all members of a Go struct, in its order.
import { compareTexts } from '../../meta/go/go-text.js'
import { asGiven } from '../../meta/values/given-empty.js'
import { isObject, setOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import type { Rule } from '../structure/structural.js'

type Form = (value: Value) => Value

const asIs: Form = value => value
const schemaMap: Form = value => mapMembers(value, describeInGo)
const schemaList: Form = value => (Array.isArray(value) ? value.map(describeInGo) : null)
const schemaOrBool: Form = value =>
  isObject(value) ? { Allows: true, Schema: describeInGo(value) } : { Allows: value === true, Schema: null }
const schemaOrList: Form = value => {
  if (isObject(value)) return { Schema: describeInGo(value), JSONSchemas: null }
  return Array.isArray(value) ? { Schema: null, JSONSchemas: value.map(describeInGo) } : null
}
const dependencies: Form = value =>
  mapMembers(value, member =>
    isObject(member) ? { Schema: describeInGo(member), Property: null } : { Schema: null, Property: member },
  )
const docs: Form = value => (isObject(value) ? structOf(value, DOCS) : null)
const rules: Form = value =>
  Array.isArray(value) ? value.map(rule => structOf(isObject(rule) ? rule : {}, RULE)) : null

/** The name in Go, the keyword, its zero value, and how a value is printed. */
type Member = readonly [name: string, keyword: string, empty: Value, form: Form]

const DOCS: readonly Member[] = [
  ['Description', 'description', '', asIs],
  ['URL', 'url', '', asIs],
]

const RULE: readonly Member[] = [
  ['Rule', 'rule', '', asIs],
  ['Message', 'message', '', asIs],
  ['MessageExpression', 'messageExpression', '', asIs],
  ['Reason', 'reason', null, asIs],
  ['FieldPath', 'fieldPath', '', asIs],
  ['OptionalOldSelf', 'optionalOldSelf', null, asIs],
]

const SCHEMA: readonly Member[] = [
  ['ID', 'id', '', asIs],
  ['Schema', '$schema', '', asIs],
  ['Ref', '$ref', null, asIs],
  ['Description', 'description', '', asIs],
  ['Type', 'type', '', asIs],
  ['Nullable', 'nullable', false, asIs],
  ['Format', 'format', '', asIs],
  ['Title', 'title', '', asIs],
  ['Default', 'default', null, asIs],
  ['Maximum', 'maximum', null, asIs],
  ['ExclusiveMaximum', 'exclusiveMaximum', false, asIs],
  ['Minimum', 'minimum', null, asIs],
  ['ExclusiveMinimum', 'exclusiveMinimum', false, asIs],
  ['MaxLength', 'maxLength', null, asIs],
  ['MinLength', 'minLength', null, asIs],
  ['Pattern', 'pattern', '', asIs],
  ['MaxItems', 'maxItems', null, asIs],
  ['MinItems', 'minItems', null, asIs],
  ['UniqueItems', 'uniqueItems', false, asIs],
  ['MultipleOf', 'multipleOf', null, asIs],
  ['Enum', 'enum', null, asIs],
  ['MaxProperties', 'maxProperties', null, asIs],
  ['MinProperties', 'minProperties', null, asIs],
  ['Required', 'required', null, asIs],
  ['Items', 'items', null, schemaOrList],
  ['AllOf', 'allOf', null, schemaList],
  ['OneOf', 'oneOf', null, schemaList],
  ['AnyOf', 'anyOf', null, schemaList],
  ['Not', 'not', null, value => describeInGo(value)],
  ['Properties', 'properties', null, schemaMap],
  ['AdditionalProperties', 'additionalProperties', null, schemaOrBool],
  ['PatternProperties', 'patternProperties', null, schemaMap],
  ['Dependencies', 'dependencies', null, dependencies],
  ['AdditionalItems', 'additionalItems', null, schemaOrBool],
  ['Definitions', 'definitions', null, schemaMap],
  ['ExternalDocs', 'externalDocs', null, docs],
  ['Example', 'example', null, asIs],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields', null, asIs],
  ['XEmbeddedResource', 'x-kubernetes-embedded-resource', false, asIs],
  ['XIntOrString', 'x-kubernetes-int-or-string', false, asIs],
  ['XListMapKeys', 'x-kubernetes-list-map-keys', null, asIs],
  ['XListType', 'x-kubernetes-list-type', null, asIs],
  ['XMapType', 'x-kubernetes-map-type', null, asIs],
  ['XValidations', 'x-kubernetes-validations', null, rules],
]

/** The members of a schema, in Go's order. */
export const GO_FIELDS: readonly string[] = SCHEMA.map(([name]) => name)

const GIVEN: readonly Member[] = SCHEMA.map(([name, keyword, empty]) => [name, keyword, empty, asIs])

/** To be printed in the order it has. */
export const describeInGo = (written: Value): ValueObject => structOf(isObject(written) ? written : {}, SCHEMA)

/** Which members of a schema are given, without looking into them. */
export function describeRootInGo(written: Value): ValueObject {
  const root = isObject(written) ? written : {}
  return structOf(root, GIVEN)
}

export const describeRuleInGo = (rule: Rule): ValueObject =>
  structOf({ ...rule, reason: rule.reason ?? null, optionalOldSelf: rule.optionalOldSelf ?? null }, RULE)

function structOf(written: ValueObject, members: readonly Member[]): ValueObject {
  const described: ValueObject = {}
  for (const [name, keyword, empty, form] of members) {
    const value = asGiven(written, keyword)
    described[name] = value === null ? empty : form(value)
  }
  return described
}

/** Maps are printed by key. */
function mapMembers(value: Value, form: Form): Value {
  if (!isObject(value)) return null
  const mapped: ValueObject = {}
  for (const key of Object.keys(value).toSorted(compareTexts)) setOwn(mapped, key, form(value[key]!))
  return mapped
}
