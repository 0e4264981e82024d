// The errors of a definition, on its own and as a change of the old one.

import {
  asString,
  asStruct,
  childPath,
  type FieldError,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { isPrintable } from '../../meta/go/go-text.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { checkDnsSubdomain } from '../../meta/object/names.js'
import { checkObjectMeta, checkObjectMetaUpdate, metaOf } from '../../meta/object/object-meta.js'
import { firstByKey } from '../../meta/values/list-keys.js'
import { equalValues, type Value } from '../../meta/values/value.js'
import { formatWarnings } from '../../schema/check-schema.js'
import type { RuleCompiler } from '../../schema/rules.js'
import { isUsableCa } from '../../webhook/check-client-config.js'
import { checkApproval } from '../definition/api-approval.js'
import { hasDefaults, type Leniency, leniencyFor } from '../definition/ratcheting.js'
import { describeVersions, sharedParts } from '../definition/shared-parts.js'
import {
  type ConversionSpec,
  type DefinitionSpec,
  isTrue,
  specOf,
  statusOf,
  type VersionSpec,
  versionsOf,
} from '../definition.js'
import { type ConversionChecks, checkConversion, hasKnownReview } from './validate-conversion.js'
import { checkLabel, checkNames, checkRequiredNames } from './validate-names.js'
import { checkParts } from './validate-parts.js'

export interface DefinitionChecks {
  readonly ruleCompiler: RuleCompiler
  /** The definition was written as v1beta1 and has been converted. */
  readonly isOldForm?: boolean
}

export interface CheckedDefinition {
  readonly errors: readonly FieldError[]
  /** Of the schemas; each once. */
  readonly warnings: readonly string[]
}

export function validateDefinition(
  definition: ApiObject,
  { ruleCompiler, isOldForm = false }: DefinitionChecks,
): CheckedDefinition {
  const leniency = leniencyFor(definition, isOldForm, undefined)
  const schemas: SchemaChecks = { leniency, ruleCompiler, warnings: new Set() }
  const { group, names } = specOf(definition)
  const name = (text: string): string[] => [
    ...checkDnsSubdomain(text),
    ...(text === `${names.plural}.${group}` ? [] : ['must be spec.names.plural+"."+spec.group']),
  ]
  const errors = [
    ...checkObjectMeta(metaOf(definition), { namespaced: false, name }),
    ...checkSpec(specOf(definition), undefined, { needsKnownReview: true, needsUsableCa: false }, schemas),
    ...checkRest(definition, undefined, leniency),
  ]
  return { errors, warnings: [...schemas.warnings] }
}

export function validateDefinitionUpdate(
  definition: ApiObject,
  old: ApiObject,
  { ruleCompiler, isOldForm = false }: DefinitionChecks,
): CheckedDefinition {
  const leniency = leniencyFor(definition, isOldForm, old)
  const schemas: SchemaChecks = { leniency, ruleCompiler, warnings: new Set() }
  const spec = specOf(definition)
  const before = specOf(old)
  const isEstablished = isTrue(old, 'Established')
  const errors = [
    ...checkObjectMetaUpdate(metaOf(definition), metaOf(old)),
    ...checkSpec(spec, before, checksAfter(before.conversion, isEstablished), schemas),
    ...(isEstablished
      ? [
          ...checkSame(spec.scope, before.scope, 'spec.scope'),
          ...checkSame(spec.names.kind, before.names.kind, 'spec.names.kind'),
        ]
      : []),
    ...checkSame(spec.group, before.group, 'spec.group'),
    ...checkSame(spec.names.plural, before.names.plural, 'spec.names.plural'),
    ...checkRest(definition, old, leniency),
  ]
  const tolerated = unknownFormats(before)
  return { errors, warnings: [...schemas.warnings].filter(warning => !tolerated.has(warning)) }
}

/** The warnings of the formats that a definition has already. */
const unknownFormats = ({ versions }: DefinitionSpec): ReadonlySet<string> =>
  new Set((versions ?? []).flatMap(({ schema }) => formatWarnings(schema?.openAPIV3Schema)))

export const validateDefinitionStatus = (definition: ApiObject, old: ApiObject): FieldError[] => [
  ...checkObjectMetaUpdate(metaOf(definition), metaOf(old)),
  ...checkNames(statusOf(definition).acceptedNames, 'status.acceptedNames'),
]

/** What the checks of all schemas share. */
interface SchemaChecks {
  readonly leniency: Leniency
  readonly ruleCompiler: RuleCompiler
  readonly warnings: Set<string>
}

/** What was there before and could not be used may stay so; what worked must go on working. */
function checksAfter(old: ConversionSpec | undefined, isEstablished: boolean): ConversionChecks {
  const versions = old?.webhook?.conversionReviewVersions ?? []
  const wasUsable = isUsableCa(old?.webhook?.clientConfig?.caBundle ?? '')
  return {
    needsKnownReview: versions.length === 0 || hasKnownReview(versions),
    needsUsableCa: isEstablished && wasUsable,
  }
}

const checkSame = (value: string, old: string, path: string): FieldError[] =>
  value === old ? [] : [fieldInvalid(path, value, 'field is immutable')]

// ---- the spec

function checkSpec(
  spec: DefinitionSpec,
  before: DefinitionSpec | undefined,
  checks: ConversionChecks,
  schemas: SchemaChecks,
): FieldError[] {
  const { names, conversion, preserveUnknownFields = false } = spec
  return [
    ...checkGroup(spec.group),
    ...checkScope(spec.scope),
    ...checkVersions(spec, before, schemas),
    ...checkRequiredNames(names, 'spec.names'),
    ...checkNames(names, 'spec.names'),
    ...(conversion && preserveUnknownFields && conversion.strategy !== 'None'
      ? [
          fieldInvalid(
            'spec.conversion.strategy',
            conversion.strategy,
            'must be None if spec.preserveUnknownFields is true',
          ),
        ]
      : []),
    ...(conversion ? checkConversion(conversion, 'spec.conversion', checks) : []),
  ]
}

function checkGroup(group: string): FieldError[] {
  if (group === '') return [fieldRequired('spec.group')]
  const errors = checkDnsSubdomain(group)
  if (errors.length > 0) return [fieldInvalid('spec.group', group, errors.join(','))]
  return group.includes('.') ? [] : [fieldInvalid('spec.group', group, 'should be a domain with at least one dot')]
}

const SCOPES = ['Cluster', 'Namespaced']

function checkScope(scope: string): FieldError[] {
  if (scope === '') return [fieldRequired('spec.scope')]
  return SCOPES.includes(scope) ? [] : [fieldNotSupported('spec.scope', asString(scope), SCOPES)]
}

function checkVersions(
  spec: DefinitionSpec,
  before: DefinitionSpec | undefined,
  { leniency, ruleCompiler, warnings }: SchemaChecks,
): FieldError[] {
  const { versions: written, preserveUnknownFields = false } = spec
  const versions = written ?? []
  const versionsBefore = firstByKey(before?.versions ?? [], ({ name }) => name)
  const parts = sharedParts(versions)
  const { shared, own } = parts
  const errors: FieldError[] = []
  if (!shared.schema?.openAPIV3Schema && !leniency.mayLackSchema) {
    for (const [i, { schema }] of own.entries()) {
      if (!schema?.openAPIV3Schema) errors.push(fieldRequired(`spec.versions[${i}].schema.openAPIV3Schema`))
    }
  }
  if (preserveUnknownFields && hasDefaults(spec)) {
    const why = 'must be false in order to use defaults in the schema'
    errors.push(fieldInvalid('spec.preserveUnknownFields', true, why))
  }
  for (const [i, version] of versions.entries()) {
    const path = indexPath('spec.versions', i)
    const hasStatus = version.subresources?.status !== undefined
    errors.push(
      ...checkLabel(version.name, childPath(path, 'name')),
      ...checkParts(
        own[i]!,
        { path, schemaField: 'schema', hasStatus, hasOldSchema: hasSchemaOf(versionsBefore, version) },
        leniency,
        ruleCompiler,
        warnings,
      ),
      ...checkDeprecation(version, childPath(path, 'deprecationWarning')),
    )
  }
  const described = written ? describeVersions(versions, parts) : null
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    errors.push(fieldInvalid('spec.versions', described, 'must contain unique version names'))
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.push(fieldInvalid('spec.versions', described, 'must have exactly one version marked as storage version'))
  }
  const [first] = versions
  const hasStatus = versions.some(({ subresources }) => subresources?.status !== undefined)
  return [
    ...errors,
    ...(first === undefined || first.name === '' ? [] : checkLabel(first.name, 'spec.version')),
    ...checkParts(
      shared,
      { path: 'spec', schemaField: 'validation', hasStatus, hasOldSchema: hasSchemaOf(versionsBefore, first) },
      leniency,
      ruleCompiler,
      warnings,
    ),
  ]
}

/** Whether a version of that name had this very schema. */
function hasSchemaOf(before: ReadonlyMap<string, VersionSpec>, version: VersionSpec | undefined): boolean {
  const old = before.get(version?.name ?? '')
  return old !== undefined && equalValues(old.schema?.openAPIV3Schema, version?.schema?.openAPIV3Schema)
}

const MAX_WARNING = 256

function checkDeprecation({ deprecated = false, deprecationWarning: text }: VersionSpec, path: string): FieldError[] {
  if (text === undefined) return []
  const shown = asStruct(text)
  const errors: FieldError[] = []
  if (!deprecated) errors.push(fieldInvalid(path, shown, 'can only be set for deprecated versions'))
  if (text === '') errors.push(fieldInvalid(path, shown, 'must not be an empty string'))
  if (Buffer.byteLength(text) > MAX_WARNING) {
    errors.push(fieldInvalid(path, shown, `must be <= ${MAX_WARNING} characters long`))
  }
  let index = 0
  for (const character of text) {
    if (!isPrintable(character)) {
      const why = `must only contain printable UTF-8 characters; non-printable character found at index ${index}`
      errors.push(fieldInvalid(path, shown, why))
      break
    }
    index += Buffer.byteLength(character)
  }
  return errors
}

// ---- status, and what spans more than one part

function checkRest(definition: ApiObject, old: ApiObject | undefined, { mayPreserve }: Leniency): FieldError[] {
  const { group, preserveUnknownFields = false } = specOf(definition)
  const { acceptedNames, storedVersions } = statusOf(definition)
  const annotations = metaOf(definition).annotations ?? {}
  return [
    ...checkNames(acceptedNames, 'status.acceptedNames'),
    ...checkStoredVersions(storedVersions ?? null, versionsOf(definition)),
    ...checkApproval(group, annotations, old && (metaOf(old).annotations ?? {})),
    ...(preserveUnknownFields && !mayPreserve
      ? [
          fieldInvalid(
            'spec.preserveUnknownFields',
            true,
            'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
          ),
        ]
      : []),
  ]
}

function checkStoredVersions(stored: readonly string[] | null, versions: readonly VersionSpec[]): FieldError[] {
  const path = 'status.storedVersions'
  const errors: FieldError[] = []
  if (!stored?.length) errors.push(fieldInvalid(path, stored as Value, 'must have at least one stored version'))
  // Each stored version counts for one version, so that the second of two with one name has none.
  const left = new Set(stored)
  const isServed = new Set(versions.map(({ name }) => name))
  for (const { name, storage } of versions) {
    if (!left.delete(name) && storage && stored?.length) {
      errors.push(fieldInvalid(path, stored as Value, `must have the storage version ${name}`))
    }
  }
  for (const [i, name] of (stored ?? []).entries()) {
    if (isServed.has(name)) continue
    const why = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`
    errors.push(fieldInvalid(indexPath(path, i), name, why))
  }
  return errors
}
