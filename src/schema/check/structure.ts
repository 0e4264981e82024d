// What makes a schema structural. Every node outside of junctors has a type (1); junctors hold value checks only (2),
// and only of fields that are declared outside (3, at the root); metadata are not restricted but for their names (4).
import { regexErrorOf } from '../../base/regex-cache.js'
import {
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  indexPath,
  keyPath,
} from '../../meta/errors/field-errors.js'
import { EMPTY_SCHEMA, type Schema } from '../structure/structural.js'

type Level = 'root' | 'field' | 'item'

export function checkStructure(schema: Schema, at: string): FieldError[] {
  const errors: FieldError[] = []
  visit(schema, 'root', at, errors)
  return errors
}

function visit(schema: Schema, level: Level, at: string, errors: FieldError[]): void {
  const { type, items, properties, additionalProperties, extensions } = schema
  if (type === 'array' && items === undefined) errors.push(fieldRequired(childPath(at, 'items'), 'must be specified'))
  if (items !== undefined) visit(items, 'item', childPath(at, 'items'), errors)
  for (const [name, property] of properties) {
    visit(property, 'field', keyPath(childPath(at, 'properties'), name), errors)
  }
  if (typeof additionalProperties === 'object') {
    visit(additionalProperties, 'field', childPath(at, 'additionalProperties'), errors)
  }
  if (extensions.intOrString) {
    const why = 'must be false if x-kubernetes-int-or-string is true'
    if (extensions.preserveUnknownFields === true) {
      errors.push(fieldInvalid(childPath(at, 'x-kubernetes-preserve-unknown-fields'), true, why))
    }
    if (extensions.embeddedResource) {
      errors.push(fieldInvalid(childPath(at, 'x-kubernetes-embedded-resource'), true, why))
    }
  }
  // Two forms of int-or-string may name types in a junctor.
  visitValueChecks(schema, isIntOrStringPair(schema.checks.anyOf), isIntOrStringFirst(schema), at, errors)
  checkNodeType(schema, level, at, errors)
  if (level === 'root' || extensions.embeddedResource) checkResource(schema, level, at, errors)
}

function checkNodeType({ type, extensions }: Schema, level: Level, at: string, errors: FieldError[]): void {
  const field = childPath(at, 'type')
  if (extensions.embeddedResource && type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true'
    errors.push(type === '' ? fieldRequired(field, why) : fieldInvalid(field, type, why))
  } else if (type === '' && !extensions.intOrString && extensions.preserveUnknownFields !== true) {
    errors.push(fieldRequired(field, `must not be empty ${WHERE[level]}`))
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    errors.push(fieldInvalid(field, type, 'must be object at the root'))
  }
}

const WHERE: Readonly<Record<Level, string>> = {
  root: 'at the root',
  field: 'for specified object fields',
  item: 'for specified array items',
}

/** The root and embedded resources: objects with apiVersion, kind and metadata. */
function checkResource(schema: Schema, level: Level, at: string, errors: FieldError[]): void {
  const { properties, additionalProperties, extensions } = schema
  if (additionalProperties !== undefined) {
    const field = childPath(at, 'additionalProperties')
    if (extensions.embeddedResource) {
      errors.push(fieldForbidden(field, 'must not be used if x-kubernetes-embedded-resource is set'))
    }
    if (level === 'root') errors.push(fieldForbidden(field, 'must not be used at the root'))
  }
  if (extensions.embeddedResource && properties.size === 0 && extensions.preserveUnknownFields !== true) {
    const why =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    errors.push(fieldRequired(childPath(at, 'properties'), why))
  }
  for (const [name, type] of RESOURCE_FIELDS) {
    const property = properties.get(name)
    if (property === undefined || property.type === type) continue
    const field = childPath(keyPath(childPath(at, 'properties'), name), 'type')
    errors.push(fieldInvalid(field, property.type, `must be ${type}`))
  }
  const metadata = properties.get('metadata')
  if (level === 'root' && metadata !== undefined && restrictsMore(metadata)) {
    const why = 'must not specify anything other than name and generateName, but metadata is implicitly specified'
    errors.push(fieldForbidden(keyPath(childPath(at, 'properties'), 'metadata'), why))
  }
}

const RESOURCE_FIELDS: readonly (readonly [name: string, type: string])[] = [
  ['kind', 'string'],
  ['apiVersion', 'string'],
  ['metadata', 'object'],
]

/** Whether a schema for metadata restricts more than its type and the names. */
function restrictsMore(metadata: Schema): boolean {
  const { properties, title, description, nullable, items, additionalProperties } = metadata
  const namesOnly = [...properties.keys()].every(name => name === 'name' || name === 'generateName')
  return (
    !namesOnly ||
    title !== '' ||
    description !== '' ||
    nullable ||
    items !== undefined ||
    additionalProperties !== undefined ||
    hasExtensions(metadata) ||
    hasChecks(metadata)
  )
}

function hasExtensions({ extensions }: Schema): boolean {
  const { preserveUnknownFields, embeddedResource, intOrString, listType, listMapKeys, mapType, rules } = extensions
  return (
    preserveUnknownFields === true ||
    embeddedResource ||
    intOrString ||
    listType !== undefined ||
    listMapKeys.length > 0 ||
    mapType !== undefined ||
    rules.length > 0
  )
}

const hasChecks = ({ checks }: Schema): boolean =>
  Object.values(checks).some(check =>
    Array.isArray(check) ? check.length > 0 : check !== undefined && check !== '' && check !== false,
  )

/** The value checks of a node: those in junctors, and the pattern. */
function visitValueChecks(
  schema: Schema,
  skipAnyOf: boolean,
  skipFirst: boolean,
  at: string,
  errors: FieldError[],
): void {
  const { allOf, anyOf, oneOf, not } = schema.checks
  if (!skipAnyOf) visitBranches(anyOf, false, childPath(at, 'anyOf'), errors)
  visitBranches(allOf, skipFirst, childPath(at, 'allOf'), errors)
  visitBranches(oneOf, false, childPath(at, 'oneOf'), errors)
  if (not !== undefined) visitBranch(not, false, childPath(at, 'not'), errors)
  checkPattern(schema.checks.pattern, childPath(at, 'pattern'), errors)
}

function checkPattern(pattern: string, field: string, errors: FieldError[]): void {
  const error = pattern === '' ? undefined : regexErrorOf(pattern)
  if (error === undefined) return
  errors.push(fieldInvalid(field, pattern, `must be a valid regular expression, but isn't: ${error}`))
}

/** There may be very many empty branches, in which there is nothing to check. */
function visitBranches(branches: readonly Schema[], skipFirst: boolean, at: string, errors: FieldError[]): void {
  for (const [i, branch] of branches.entries()) {
    if (branch !== EMPTY_SCHEMA) visitBranch(branch, skipFirst && i === 0, indexPath(at, i), errors)
  }
}

function visitBranch(branch: Schema, skipAnyOf: boolean, at: string, errors: FieldError[]): void {
  visitValueChecks(branch, skipAnyOf, false, at, errors)
  if (branch.items !== undefined) visitBranch(branch.items, false, childPath(at, 'items'), errors)
  for (const [name, property] of branch.properties) {
    visitBranch(property, false, keyPath(childPath(at, 'properties'), name), errors)
  }
  const { extensions } = branch
  const forbid = (keyword: string, isThere: boolean, must: string): void => {
    if (isThere) errors.push(fieldForbidden(childPath(at, keyword), `must be ${must} to be structural`))
  }
  forbid('type', branch.type !== '', 'empty')
  forbid('title', branch.title !== '', 'empty')
  forbid('description', branch.description !== '', 'empty')
  forbid('default', branch.default !== undefined, 'undefined')
  forbid('nullable', branch.nullable, 'false')
  forbid('additionalProperties', branch.additionalProperties !== undefined, 'undefined')
  forbid('x-kubernetes-preserve-unknown-fields', extensions.preserveUnknownFields === true, 'false')
  forbid('x-kubernetes-embedded-resource', extensions.embeddedResource, 'false')
  forbid('x-kubernetes-int-or-string', extensions.intOrString, 'false')
  forbid('x-kubernetes-list-type', extensions.listType !== undefined, 'undefined')
  forbid('x-kubernetes-list-map-keys', extensions.listMapKeys.length > 0, 'empty')
  forbid('x-kubernetes-map-type', extensions.mapType !== undefined, 'undefined')
  forbid('x-kubernetes-validations', extensions.rules.length > 0, 'empty')
  if (branch.properties.has('metadata')) {
    const field = keyPath(childPath(at, 'properties'), 'metadata')
    errors.push(fieldForbidden(field, 'must not be specified in a nested context'))
  }
}

/** `anyOf: [{type: integer}, {type: string}]`, in this order and with nothing else in it. */
function isIntOrStringPair(branches: readonly Schema[]): boolean {
  return branches.length === 2 && isBareType(branches[0]!, 'integer') && isBareType(branches[1]!, 'string')
}

const isIntOrStringFirst = ({ checks }: Schema): boolean =>
  checks.allOf[0] !== undefined && isIntOrStringPair(checks.allOf[0].checks.anyOf)

function isBareType(branch: Schema, type: string): boolean {
  return (
    branch.type === type &&
    branch.properties.size === 0 &&
    branch.default === undefined &&
    !restrictsMore({ ...branch, properties: new Map() })
  )
}

// ---- rule 3

/** What the junctors of the root speak of must be declared outside of them. Those of other nodes are not followed. */
export function checkCompleteness(root: Schema, at: string): FieldError[] {
  const errors: FieldError[] = []
  completeJunctors(root, root, at, at, errors)
  return errors
}

function completeJunctors(
  branch: Schema,
  declared: Schema,
  declaredAt: string,
  at: string,
  errors: FieldError[],
): void {
  const { not, allOf, anyOf, oneOf } = branch.checks
  if (not !== undefined) completeBranch(not, declared, declaredAt, childPath(at, 'not'), errors)
  for (const [junctor, branches] of Object.entries({ allOf, anyOf, oneOf })) {
    for (const [i, below] of branches.entries()) {
      if (below === EMPTY_SCHEMA) continue
      completeBranch(below, declared, declaredAt, indexPath(childPath(at, junctor), i), errors)
    }
  }
}

function completeBranch(
  branch: Schema,
  declared: Schema | undefined,
  declaredAt: string,
  at: string,
  errors: FieldError[],
): void {
  if (declared === undefined) {
    errors.push(fieldRequired(declaredAt, `because it is defined in ${at}`))
    return
  }
  completeJunctors(branch, declared, declaredAt, at, errors)
  if (branch.items !== undefined) {
    completeBranch(branch.items, declared.items, childPath(declaredAt, 'items'), childPath(at, 'items'), errors)
  }
  for (const [name, property] of branch.properties) {
    const there = keyPath(childPath(declaredAt, 'properties'), name)
    const here = keyPath(childPath(at, 'properties'), name)
    completeBranch(property, declared.properties.get(name), there, here, errors)
  }
}
