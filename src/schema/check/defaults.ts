// Defaults must have the shape of their schema: without unknown fields, valid, and with valid metadata where they are
// (part of) a resource. They are checked as they are written, without other defaults inside them.
import { childPath, type FieldError, fieldInvalid, keyPath, printFieldErrors } from '../../meta/errors/field-errors.js'
import { copyValue, equalValues, type Value, type ValueObject } from '../../meta/values/value.js'
import { isTypeOrMetadata, prune, STEP, shapeValue } from '../shape/shape.js'
import { BELOW, type Schema } from '../structure/structural.js'
import { checkEmbedded } from '../validate/embedded.js'
import { errorsOf, shown, startRun } from '../validate/run.js'
import { validatorOf } from '../validate/validator.js'

const holdsDefaults = ({ below }: Schema): boolean => (below & BELOW.default) !== 0

/** The errors that rules find in the default of a schema, with fields below `at`. */
export type DefaultRuleCheck = (value: Value, schema: Schema, at: string) => readonly FieldError[]

export function checkDefaults(schema: Schema, at: string, checkRules: DefaultRuleCheck = () => []): FieldError[] {
  const errors: FieldError[] = []
  visit(schema, at, { ...OUTSIDE, isRoot: true }, checkRules, errors)
  return errors
}

interface SchemaPosition {
  readonly isRoot: boolean
  /** The resource whose type or metadata the node is part of. */
  readonly resource: Schema | undefined
  /** The resource around a value at this node, without other fields. */
  wrap(value: Value): Value
}

const OUTSIDE: SchemaPosition = { isRoot: false, resource: undefined, wrap: value => value }

function visit(
  schema: Schema,
  at: string,
  position: SchemaPosition,
  checkRules: DefaultRuleCheck,
  errors: FieldError[],
): void {
  if (!holdsDefaults(schema)) return
  const { properties, items, extensions } = schema
  if (schema.default !== undefined) {
    const found =
      position.resource === undefined
        ? checkDefault(schema, schema.default, childPath(at, 'default'), position.isRoot)
        : checkMetadataDefault(schema, schema.default, childPath(at, 'default'), position.resource, position.wrap)
    errors.push(...found)
    if (found.length === 0) errors.push(...checkRules(schema.default, schema, childPath(at, 'default')))
  }
  if (items !== undefined) {
    const below: SchemaPosition = { ...position, isRoot: false, wrap: value => position.wrap([value]) }
    visit(items, childPath(at, 'items'), below, checkRules, errors)
  }
  for (const [name, property] of properties) {
    if (!holdsDefaults(property)) continue
    const field = keyPath(childPath(at, 'properties'), name)
    visit(property, field, positionOf(name, schema, extensions.embeddedResource, position), checkRules, errors)
  }
  // Defaults below additionalProperties are not checked.
}

function positionOf(name: string, parent: Schema, isEmbedded: boolean, position: SchemaPosition): SchemaPosition {
  if (isEmbedded && isTypeOrMetadata(name)) {
    const wrap = (value: Value): ValueObject => ({ apiVersion: 'unknown/v1', kind: 'Unknown', [name]: value })
    return { isRoot: false, resource: parent, wrap }
  }
  return { ...position, isRoot: false, wrap: value => position.wrap({ [name]: value }) }
}

function checkDefault(schema: Schema, value: Value, at: string, isRoot: boolean): readonly FieldError[] {
  const errors: FieldError[] = []
  const isResource = isRoot || schema.extensions.embeddedResource
  const pruned = copyValue(value)
  prune(pruned, schema, { isResource })
  if (!equalValues(pruned, value)) errors.push(fieldInvalid(at, shown(value), 'must not have unknown fields'))
  const { error } = shapeValue(copyValue(value), schema, { steps: STEP.coerce, isResource, at })
  if (error !== undefined) return [...errors, error]
  const embedded = checkEmbedded(value, schema, at, isResource)
  return [...errors, ...(embedded.length > 0 ? embedded : validate(schema, value, at))]
}

/** The default of (a part of) an embedded resource's metadata: what it makes must be metadata. */
function checkMetadataDefault(
  schema: Schema,
  value: Value,
  at: string,
  resource: Schema,
  wrap: (value: Value) => Value,
): readonly FieldError[] {
  const whole = wrap(copyValue(value))
  const { error } = shapeValue(whole, resource, { steps: STEP.coerce, isResource: true })
  const errors = error === undefined ? checkEmbedded(whole, resource, '', true) : [error]
  if (errors.length > 0) {
    return [fieldInvalid(at, shown(value), `must result in valid metadata: ${printFieldErrors(errors)}`)]
  }
  return validate(schema, value, at)
}

function validate(schema: Schema, value: Value, at: string): readonly FieldError[] {
  return errorsOf(startRun(at), validatorOf(asForDefaults(schema)), value)
}

/**
 * Defaults are checked by the types and formats that schemas name: `x-kubernetes-int-or-string` alone allows any value,
 * and a format counts for any type.
 */
function asForDefaults(schema: Schema): Schema {
  const { items, additionalProperties, extensions, checks } = schema
  const properties = new Map([...schema.properties].map(([name, property]) => [name, asForDefaults(property)]))
  return {
    ...schema,
    properties,
    items: items && asForDefaults(items),
    additionalProperties:
      typeof additionalProperties === 'object' ? asForDefaults(additionalProperties) : additionalProperties,
    extensions: extensions.intOrString ? { ...extensions, intOrString: false } : extensions,
    checks: checks.format === '' ? checks : { ...checks, formatOfAnyType: true },
  }
}
