// CustomResourceDefinition as a kind: its type comes from the table of built-in types, its strategy from here.

import type { CborMarks } from '../codec/cbor.js'
import type { Kind, KindVersion, Strategy, SubresourceStrategy } from '../kinds/kind.js'
import { limitErrors } from '../meta/errors/error-limit.js'
import type { FieldError } from '../meta/errors/field-errors.js'
import { StatusError } from '../meta/errors/status.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import { equalValues, isObject, type Value } from '../meta/values/value.js'
import { preparePatterns, prepareRules, readDefaultMetadata } from '../schema/check-schema.js'
import { RuleCompiler } from '../schema/rules.js'
import { setCondition, withStatus } from './conditions.js'
import { defaultDefinition } from './definition/definition-defaults.js'
import { checkOldForm, convertDefinition, defaultOldDefinition, V1, V1BETA1 } from './definition/definition-v1beta1.js'
import { CLEANUP_FINALIZER, isTerminating, specOf, statusOf, versionsOf } from './definition.js'
import {
  type CheckedDefinition,
  type DefinitionChecks,
  validateDefinition,
  validateDefinitionStatus,
  validateDefinitionUpdate,
} from './validation/validate-definition.js'

/** `base` is the kind as the table of types has it, without a strategy of its own. */
export function definitionKind(base: Kind, ruleCompiler: RuleCompiler = new RuleCompiler()): Kind {
  return {
    ...base,
    keyPrefix: `/${base.group}/${base.names.plural}/`,
    versions: base.versions.map(version => definitionVersion(version, ruleCompiler)),
    traits: {
      ...base.traits,
      allowUnconditionalUpdate: false,
      hasTerminatingPhase: true,
      subresourcesWithoutTable: ['status'],
    },
    convert: convertDefinition,
  }
}

function definitionVersion(base: KindVersion, ruleCompiler: RuleCompiler): KindVersion {
  const isOldForm = `apiextensions.k8s.io/${base.name}` === V1BETA1
  const strategy = definitionStrategy(base.strategy, { ruleCompiler })
  return {
    ...base,
    ...(isOldForm && { deprecationWarning: DEPRECATION }),
    strategy: isOldForm ? oldDefinitionStrategy(base.strategy, strategy, { ruleCompiler, isOldForm }) : strategy,
    subresources: { status: STATUS_RULES },
  }
}

const DEPRECATION = `${V1BETA1} CustomResourceDefinition is deprecated in v1.16+; use ${V1} CustomResourceDefinition`

/** v1beta1 is validated as v1 after conversion; the metadata and the status of both are the same. */
function oldDefinitionStrategy(base: Strategy, strategy: Strategy, checks: DefinitionChecks): Strategy {
  const asV1 = (object: ApiObject): ApiObject => convertDefinition(object, V1)
  return {
    ...strategy,
    decode: (body, duplicates, cbor) => shapeDefinition(base, body, duplicates, cbor),
    applyDefaults: defaultOldDefinition,
    prepareValidation: object => prepareSchemas(asV1(object), checks.ruleCompiler),
    validate: (object, warnings) => [
      ...checkOldForm(object),
      ...errorsOf(() => validateDefinition(asV1(object), checks), warnings),
    ],
    validateUpdate: (object, old, warnings) => [
      ...checkOldForm(object),
      ...errorsOf(() => validateDefinitionUpdate(asV1(object), asV1(old), checks), warnings),
    ],
  }
}

/** Warnings are for definitions that are accepted. */
const errorsOf = (validate: () => CheckedDefinition, warnings: string[]): readonly FieldError[] =>
  limitErrors(() => {
    const checked = validate()
    if (checked.errors.length === 0) for (const text of checked.warnings) warnings.push(text)
    return checked.errors
  })

function definitionStrategy(base: Strategy, checks: DefinitionChecks): Strategy {
  return {
    decode: (body, duplicates, cbor) => shapeDefinition(base, body, duplicates, cbor),
    // The table of types has no defaults for it.
    applyDefaults: defaultDefinition,
    prepareForCreate: object =>
      withReadDefaults(withStorageVersion(withGeneration(withStatus(object, statusOf(NOTHING)), 1))),
    prepareForUpdate(object, old) {
      const kept = withStatus(object, statusOf(old))
      const before = metaOf(old).generation ?? 0
      const isSame = equalValues(object['spec'], old['spec'])
      return withReadDefaults(withStorageVersion(withGeneration(kept, isSame ? before : Number(before) + 1)))
    },
    prepareValidation: object => prepareSchemas(object, checks.ruleCompiler),
    validate: (object, warnings) => errorsOf(() => validateDefinition(object, checks), warnings),
    validateUpdate: (object, old, warnings) => errorsOf(() => validateDefinitionUpdate(object, old, checks), warnings),
    // A definition is kept until its objects are deleted.
    blocksDeletion: object => !isTerminating(object) || Boolean(metaOf(object).finalizers?.length),
    prepareForDelete: markTerminating,
    warnings: () => [],
  }
}

function* prepareSchemas(definition: ApiObject, ruleCompiler: RuleCompiler): Generator<void> {
  for (const { schema } of versionsOf(definition)) {
    const written = schema?.openAPIV3Schema ?? null
    yield* preparePatterns(written)
    yield* prepareRules(written, ruleCompiler)
  }
}

/** Changes the definition in place. */
function withReadDefaults(definition: ApiObject): ApiObject {
  for (const { schema } of versionsOf(definition)) readDefaultMetadata(schema?.openAPIV3Schema ?? null)
  return definition
}

function shapeDefinition(
  base: Strategy,
  body: Value,
  duplicates: readonly string[],
  cbor: CborMarks | undefined,
): ReturnType<Strategy['decode']> {
  try {
    const shaped = base.decode(body, duplicates, cbor)
    keepEmptyVersions(shaped.object['spec'], isObject(body) ? body['spec'] : undefined)
    return shaped
  } catch (error) {
    throw error instanceof StatusError ? ofThisScheme(error) : error
  }
}

/** Definitions are stored as JSON, which unlike protobuf has both an empty list and none. */
function keepEmptyVersions(spec: Value | undefined, written: Value | undefined): void {
  if (!isObject(spec) || !isObject(written)) return
  if (Array.isArray(written['versions']) && spec['versions'] === null) spec['versions'] = []
}

/** kube-apiserver has a scheme of its own for definitions, which error messages name. */
function ofThisScheme({ status, cause }: StatusError): StatusError {
  const named = (text: string): string =>
    text.replace('in scheme "pkg/api/legacyscheme/scheme.go:30"', 'in scheme "pkg/apiserver/apiserver.go:55"')
  const why = typeof cause === 'string' ? named(cause) : cause
  return new StatusError({ ...status, message: named(status.message ?? '') }, { cause: why })
}

const NOTHING = {} as ApiObject

const STATUS_RULES: SubresourceStrategy = {
  prepareForUpdate(object, old) {
    const spec = old['spec']!
    const generation = metaOf(old).generation ?? 0
    return withStorageVersion(withGeneration({ ...object, spec }, generation), true)
  },
  validateUpdate: validateDefinitionStatus,
  // Labels and annotations can be written here, too.
  resetFields: ['spec'],
}

const withGeneration = (object: ApiObject, generation: number | bigint): ApiObject => ({
  ...object,
  metadata: { ...object.metadata, generation },
})

/** Adds the storage version to the versions that objects may be stored in. */
function withStorageVersion(object: ApiObject, onlyIfEmpty = false): ApiObject {
  const status = statusOf(object)
  const stored = status.storedVersions ?? []
  const storage = versionsOf(object).find(version => version.storage)?.name
  if (storage === undefined || stored.includes(storage) || (onlyIfEmpty && stored.length > 0)) return object
  return withStatus(object, { ...status, storedVersions: [...stored, storage] })
}

/** It waits for its objects to be deleted. */
function markTerminating(object: ApiObject): ApiObject {
  const { finalizers = [], deletionTimestamp } = metaOf(object)
  const others = finalizers.filter(name => name !== 'orphan' && name !== 'foregroundDeletion')
  const held = others.includes(CLEANUP_FINALIZER) ? others : [...others, CLEANUP_FINALIZER]
  const marked = { ...object, metadata: { ...object.metadata, finalizers: held } }
  return setCondition(marked, DELETION_PENDING, Date.parse(deletionTimestamp ?? ''))
}

const DELETION_PENDING = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionPending',
  message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
}

/** The group and plural of a definition, which cannot change. */
export const resourceDefinedBy = (definition: ApiObject): { readonly group: string; readonly plural: string } => {
  const { group, names } = specOf(definition)
  return { group, plural: names.plural }
}
