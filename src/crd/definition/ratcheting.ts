// Errors of a definition that are tolerated: what v1beta1 allows, and what was accepted before, so that the definition
// can be changed elsewhere.

import { type FieldError, fieldInvalid } from '../../meta/errors/field-errors.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { Value } from '../../meta/values/value.js'
import { structuralErrors } from '../../schema/check-schema.js'
import { type DefinitionSpec, specOf, versionsOf } from '../definition.js'

export interface Leniency {
  /** Unknown fields may be kept. */
  readonly mayPreserve: boolean
  /** There may be versions without a schema. */
  readonly mayLackSchema: boolean
  readonly mayBeUnstructured: boolean
  /** Why there may be no defaults; empty if there may. */
  readonly noDefaults: string
}

/** `isOldForm`: the definition was written as v1beta1. `old`: the definition before an update. */
export function leniencyFor(definition: ApiObject, isOldForm: boolean, old: ApiObject | undefined): Leniency {
  const preserves = specOf(definition).preserveUnknownFields === true
  return {
    mayPreserve: isOldForm || (old !== undefined && specOf(old).preserveUnknownFields === true),
    mayLackSchema: isOldForm || (old !== undefined && versionsOf(old).some(({ schema }) => !schema?.openAPIV3Schema)),
    mayBeUnstructured:
      preserves &&
      (isOldForm || (old !== undefined && schemaErrors(specOf(old)).length > 0)) &&
      !hasExtensions(specOf(definition)),
    noDefaults: isOldForm && !(old && hasDefaults(specOf(old))) ? NO_DEFAULTS : '',
  }
}

const NO_DEFAULTS = '(cannot set default values in apiextensions.k8s.io/v1beta1 CRDs, must use apiextensions.k8s.io/v1)'

/** Why the objects of a definition are not pruned and its schemas not published. */
export const unstructuredParts = (spec: DefinitionSpec): FieldError[] =>
  spec.preserveUnknownFields === true
    ? [fieldInvalid('spec.preserveUnknownFields', true, 'must be false'), ...schemaErrors(spec)]
    : []

const schemaErrors = ({ versions }: DefinitionSpec): FieldError[] =>
  (versions ?? []).flatMap(({ schema }, i) =>
    schema?.openAPIV3Schema
      ? structuralErrors(schema.openAPIV3Schema, `spec.versions[${i}].schema.openAPIV3Schema`)
      : [],
  )

/** Extensions that only structural schemas may have. */
const EXTENSIONS = [
  'x-kubernetes-embedded-resource',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-list-type',
  'x-kubernetes-validations',
]

const hasExtensions = (spec: DefinitionSpec): boolean =>
  hasKeyword(spec, schema => EXTENSIONS.some(extension => Object.hasOwn(schema, extension)))

export const hasDefaults = (spec: DefinitionSpec): boolean =>
  hasKeyword(spec, schema => Object.hasOwn(schema, 'default'))

/** Whether a keyword stands anywhere in the schemas; those that are nested too deep are refused elsewhere. */
function hasKeyword({ versions }: DefinitionSpec, isSuch: (schema: object) => boolean): boolean {
  const open: Value[] = (versions ?? []).map(({ schema }) => schema?.openAPIV3Schema ?? null)
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue
    if (!Array.isArray(value) && isSuch(value)) return true
    for (const member of Object.values(value as Record<string, Value>)) open.push(member)
  }
  return false
}
