// CustomResourceDefinition as a kind: its form comes from the table of built-in types, its meaning from here.
import type { ApiObject, Kind, KindVersion, ObjectRules, StatusRules } from '../kinds/kind.js'
import { metaOf } from '../meta/object-meta.js'
import { badRequest, StatusError, withWarnings } from '../meta/status.js'
import { equalValues, isObject, type Value } from '../meta/value.js'
import { readDefaultMetadata } from '../schema/check/default-metadata.js'
import { setCondition, withStatus } from './conditions.js'
import { CLEANUP_FINALIZER, isGoing, specOf, statusOf, versionsOf } from './definition.js'
import { defaultDefinition } from './definition-defaults.js'
import {
  definitionWarnings,
  validateDefinition,
  validateDefinitionStatus,
  validateDefinitionUpdate,
} from './validate-definition.js'

/** `base` is the kind as the table of types has it, without rules of its own. */
export function definitionKind(base: Kind): Kind {
  return {
    ...base,
    folder: `/${base.group}/${base.names.plural}/`,
    versions: base.versions.map(definitionVersion),
    manners: { ...base.manners, unconditionalUpdate: false, terminates: true },
  }
}

function definitionVersion(base: KindVersion): KindVersion {
  return {
    ...base,
    rules: definitionRules(base.rules),
    subresources: { status: STATUS_RULES },
  }
}

function definitionRules(base: ObjectRules): ObjectRules {
  return {
    shape: (body, duplicates) => shapeDefinition(base, body, duplicates),
    // The table of types has no defaults for it.
    default: defaultDefinition,
    forCreate: object => withReadDefaults(withStorageVersion(withGeneration(withStatus(object, statusOf(NOTHING)), 1))),
    forUpdate(object, old) {
      const kept = withStatus(object, statusOf(old))
      const before = metaOf(old).generation ?? 0
      const isSame = equalValues(object['spec'], old['spec'])
      return withReadDefaults(withStorageVersion(withGeneration(kept, isSame ? before : Number(before) + 1)))
    },
    validate: validateDefinition,
    validateUpdate: validateDefinitionUpdate,
    // Whoever asks for it to go must first wait for its objects.
    isHeld: object => !isGoing(object) || Boolean(metaOf(object).finalizers?.length),
    forDeletion: markTerminating,
    warnings: definitionWarnings,
  }
}

/** Changes the definition in place. */
function withReadDefaults(definition: ApiObject): ApiObject {
  for (const { schema } of versionsOf(definition)) readDefaultMetadata(schema?.openAPIV3Schema ?? null)
  return definition
}

/** An older version is known by name; to read it as this one is refused, after a look at what it holds. */
function shapeDefinition(
  base: ObjectRules,
  body: Value,
  duplicates: readonly string[],
): ReturnType<ObjectRules['shape']> {
  if (isObject(body) && body['apiVersion'] === OLD_VERSION && body['kind'] === KIND) {
    const { strict } = base.shape({ ...body, apiVersion: VERSION }, duplicates)
    const why = `the API version in the data (${OLD_VERSION}) does not match the expected API version (${VERSION})`
    throw withWarnings(badRequest(why), strict)
  }
  try {
    const shaped = base.shape(body, duplicates)
    keepEmptyVersions(shaped.object['spec'], isObject(body) ? body['spec'] : undefined)
    return shaped
  } catch (error) {
    throw error instanceof StatusError ? ofThisScheme(error) : error
  }
}

/** Definitions are kept as JSON, which other than protobuf tells an empty list from none. */
function keepEmptyVersions(spec: Value | undefined, written: Value | undefined): void {
  if (!isObject(spec) || !isObject(written)) return
  if (Array.isArray(written['versions']) && spec['versions'] === null) spec['versions'] = []
}

const KIND = 'CustomResourceDefinition'
const VERSION = 'apiextensions.k8s.io/v1'
const OLD_VERSION = 'apiextensions.k8s.io/v1beta1'

/** The reference server knows definitions by other tables than the rest, and says so. */
function ofThisScheme({ status, cause, warnings }: StatusError): StatusError {
  const named = (text: string): string =>
    text.replace('in scheme "pkg/api/legacyscheme/scheme.go:30"', 'in scheme "pkg/apiserver/apiserver.go:55"')
  const why = typeof cause === 'string' ? named(cause) : cause
  return new StatusError({ ...status, message: named(status.message ?? '') }, { cause: why }, warnings)
}

const NOTHING = {} as ApiObject

const STATUS_RULES: StatusRules = {
  forUpdate(object, old) {
    const spec = old['spec']!
    const generation = metaOf(old).generation ?? 0
    return withStorageVersion(withGeneration({ ...object, spec }, generation), true)
  },
  validateUpdate: validateDefinitionStatus,
}

const withGeneration = (object: ApiObject, generation: number | bigint): ApiObject => ({
  ...object,
  metadata: { ...object.metadata, generation },
})

/** The version in which objects are stored from now on is among those that may be found in storage. */
function withStorageVersion(object: ApiObject, onlyIfEmpty = false): ApiObject {
  const status = statusOf(object)
  const stored = status.storedVersions ?? []
  const storage = versionsOf(object).find(version => version.storage)?.name
  if (storage === undefined || stored.includes(storage) || (onlyIfEmpty && stored.length > 0)) return object
  return withStatus(object, { ...status, storedVersions: [...stored, storage] })
}

/** It waits for its objects, has no grace period, and is of no other generation than before. */
function markTerminating(object: ApiObject): ApiObject {
  const { deletionGracePeriodSeconds: _, ...metadata } = object.metadata
  const { finalizers = [], generation = 1, deletionTimestamp } = metaOf(object)
  const others = finalizers.filter(name => name !== 'orphan' && name !== 'foregroundDeletion')
  const held = others.includes(CLEANUP_FINALIZER) ? others : [...others, CLEANUP_FINALIZER]
  const marked = {
    ...object,
    metadata: { ...metadata, generation: Number(generation) - 1, finalizers: held },
  } as ApiObject
  return setCondition(marked, DELETION_PENDING, Date.parse(deletionTimestamp ?? ''))
}

const DELETION_PENDING = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionPending',
  message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
}

/** The group and plural that a definition has for good. */
export const resourceDefinedBy = (definition: ApiObject): { readonly group: string; readonly plural: string } => {
  const { group, names } = specOf(definition)
  return { group, plural: names.plural }
}
