// ObjectMeta: its type, the fields that the server sets on create and keeps on update, and its validation. All functions
// take decoded metadata and return new metadata; none changes its input.
import {
  asStruct,
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  indexPath,
} from '../errors/field-errors.js'
import { badRequest, type StatusError } from '../errors/status.js'
import { compareTexts, isPrintable, printCodePoint, printStrings, quote } from '../go/go-text.js'
import { groupVersionKind, printGroupVersionKind } from '../group-version.js'
import { checkLabels } from '../selectors/label-selectors.js'
import { keepGivenEmpty } from '../values/given-empty.js'
import { millisOf, printTime } from '../values/time.js'
import { isObject, setOwn, type Value, type ValueObject } from '../values/value.js'
import type { IdGenerator } from './ids.js'
import {
  ANNOTATIONS_MAX,
  annotationsSize,
  checkAnnotationKey,
  checkDnsLabel,
  checkGenerateName,
  checkQualifiedName,
  generateName,
  type NameRule,
} from './names.js'

export interface ObjectMeta {
  readonly name?: string
  readonly generateName?: string
  readonly namespace?: string
  readonly selfLink?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number | bigint
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number | bigint
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
  readonly finalizers?: readonly string[]
  readonly managedFields?: readonly ManagedFieldsEntry[]
}

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

export interface ManagedFieldsEntry {
  readonly manager?: string
  readonly operation?: string
  readonly apiVersion?: string
  readonly time?: string
  readonly fieldsType?: string
  readonly fieldsV1?: Value
  readonly subresource?: string
}

/** The finalizers that the propagation policy of a delete sets, for the garbage collector. */
export const ORPHAN_FINALIZER = 'orphan'
export const FOREGROUND_FINALIZER = 'foregroundDeletion'

/** The metadata of an object whose metadata was decoded before. */
export const metaOf = (object: ValueObject): ObjectMeta => (isObject(object['metadata']) ? object['metadata'] : {})

/** Metadata with its members in the order in which they are printed. */
export function orderedMeta(meta: ObjectMeta): ObjectMeta {
  // Called several times for each write. A statement for each field takes half the time of a loop over their names.
  const ordered: { -readonly [K in keyof ObjectMeta]: ObjectMeta[K] } = {}
  if (meta.name !== undefined) ordered.name = meta.name
  if (meta.generateName !== undefined) ordered.generateName = meta.generateName
  if (meta.namespace !== undefined) ordered.namespace = meta.namespace
  if (meta.selfLink !== undefined) ordered.selfLink = meta.selfLink
  if (meta.uid !== undefined) ordered.uid = meta.uid
  if (meta.resourceVersion !== undefined) ordered.resourceVersion = meta.resourceVersion
  if (meta.generation !== undefined) ordered.generation = meta.generation
  if (meta.creationTimestamp !== undefined) ordered.creationTimestamp = meta.creationTimestamp
  if (meta.deletionTimestamp !== undefined) ordered.deletionTimestamp = meta.deletionTimestamp
  if (meta.deletionGracePeriodSeconds !== undefined) {
    ordered.deletionGracePeriodSeconds = meta.deletionGracePeriodSeconds
  }
  if (meta.labels !== undefined) ordered.labels = meta.labels
  if (meta.annotations !== undefined) ordered.annotations = meta.annotations
  if (meta.ownerReferences !== undefined) ordered.ownerReferences = meta.ownerReferences
  if (meta.finalizers !== undefined) ordered.finalizers = meta.finalizers
  if (meta.managedFields !== undefined) ordered.managedFields = meta.managedFields
  keepGivenEmpty(meta as ValueObject, ordered as ValueObject)
  return ordered
}

/** The object with other metadata, after its apiVersion and kind. */
export const withMeta = (object: ValueObject, meta: ObjectMeta): ValueObject =>
  withHead(object, object['apiVersion'], object['kind'], meta as unknown as ValueObject)

/** The object with its type and metadata first. Called several times per write, so it avoids the cost of a spread. */
export function withHead(
  object: ValueObject,
  apiVersion: Value | undefined,
  kind: Value | undefined,
  metadata: ValueObject,
): ValueObject {
  const result: ValueObject = {}
  if (apiVersion !== undefined) result['apiVersion'] = apiVersion
  if (kind !== undefined) result['kind'] = kind
  result['metadata'] = metadata
  for (const key of Object.keys(object)) {
    if (key !== 'apiVersion' && key !== 'kind' && key !== 'metadata') setOwn(result, key, object[key]!)
  }
  keepGivenEmpty(object, result)
  return result
}

/** The fields of ObjectMeta in the order in which they are printed. */
export const META_FIELDS = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
]

// ---- the request's path against the body

/**
 * Sets the namespace of the request. A cluster-scoped object loses a namespace in its metadata, without an error; a
 * namespace other than the request's is an error.
 */
export function setRequestNamespace(meta: ObjectMeta, namespace: string): ObjectMeta {
  const { namespace: own = '' } = meta
  if (namespace === '') {
    const { namespace: _, ...rest } = meta
    return rest
  }
  if (own !== '' && own !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  // V8 (as of Node 20) gives each result of `{ ...meta, namespace }` a hidden class of its own, which all readers pay for.
  return Object.assign(orderedMeta(meta), { namespace })
}

/** The error if the name in the body differs from the name in the path. */
export function nameMismatch(meta: ObjectMeta, pathName: string): StatusError | undefined {
  if (!meta.name) {
    return badRequest(`the name of the object (${pathName} based on URL) was undeterminable: name must be provided`)
  }
  if (meta.name === pathName) return undefined
  return badRequest(`the name of the object (${meta.name}) does not match the name on the URL (${pathName})`)
}

// ---- fields that the server sets

/** The metadata of a new object, without the fields that a client cannot set. Admission may set some of them. */
export function withoutSystemFields(meta: ObjectMeta): ObjectMeta {
  if (!SYSTEM_FIELDS.some(field => meta[field] !== undefined)) return meta
  const rest: { -readonly [K in keyof ObjectMeta]: ObjectMeta[K] } = { ...meta }
  for (const field of SYSTEM_FIELDS) delete rest[field]
  return rest
}

const SYSTEM_FIELDS = [
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'uid',
  'selfLink',
] as const

/** The metadata of a new object, with the fields that only the server may set. */
export function metaForCreate(meta: ObjectMeta, now: number, ids: IdGenerator): ObjectMeta {
  const made: { -readonly [K in keyof ObjectMeta]: ObjectMeta[K] } = { ...meta }
  delete made.selfLink
  if (!meta.name && meta.generateName) made.name = generateName(meta.generateName, ids)
  made.uid = ids.uid()
  made.creationTimestamp = printTime(now)
  return made
}

/** The metadata of an update, with the fields that an update cannot change. */
export function metaForUpdate(meta: ObjectMeta, old: ObjectMeta): ObjectMeta {
  const { selfLink: _, ...kept }: { -readonly [K in keyof ObjectMeta]: ObjectMeta[K] } = meta
  if (!kept.uid && old.uid !== undefined) kept.uid = old.uid
  if (old.creationTimestamp !== undefined) kept.creationTimestamp = old.creationTimestamp
  if (old.deletionTimestamp !== undefined) kept.deletionTimestamp = old.deletionTimestamp
  if (old.deletionGracePeriodSeconds !== undefined && kept.deletionGracePeriodSeconds === undefined) {
    kept.deletionGracePeriodSeconds = old.deletionGracePeriodSeconds
  }
  return kept
}

/** The metadata of an object whose deletion begins but is blocked. A repeated deletion changes nothing. */
export function metaForDeletion(meta: ObjectMeta, now: number, graceSeconds = 0): ObjectMeta {
  if (meta.deletionTimestamp !== undefined) return meta
  const generation = meta.generation ?? 0
  return {
    ...meta,
    ...(generation > 0 ? { generation: typeof generation === 'bigint' ? generation + 1n : generation + 1 } : {}),
    deletionTimestamp: timeAfter(now, graceSeconds),
    deletionGracePeriodSeconds: graceSeconds,
  }
}

/** The same for a kind that shows its deletion as a phase: no grace period, and no new generation. */
export const metaForTermination = (meta: ObjectMeta, now: number): ObjectMeta =>
  meta.deletionTimestamp === undefined ? { ...meta, deletionTimestamp: timeAfter(now, 0) } : meta

/** The metadata of an object that is being deleted, with a shorter grace period. */
export function metaForSoonerDeletion(meta: ObjectMeta, graceSeconds: number): ObjectMeta {
  const { deletionTimestamp = '', deletionGracePeriodSeconds: given = 0 } = meta
  const requested = millisOf(deletionTimestamp) - Number(given) * 1000
  return {
    ...meta,
    deletionTimestamp: timeAfter(requested, graceSeconds),
    deletionGracePeriodSeconds: graceSeconds,
  }
}

const timeAfter = (start: number, seconds: number): string => printTime(Math.min(start + seconds * 1000, LAST_TIME))

/** RFC 3339 has no later year. */
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59)

// ---- validation

export interface MetaRules {
  readonly namespaced: boolean
  readonly name: NameRule
  /** The rule for generateName, if it differs from the rule for names. */
  readonly generateName?: NameRule
}

/** The errors of metadata, after a name has been generated. */
export function checkObjectMeta(meta: ObjectMeta, rules: MetaRules, path = 'metadata'): FieldError[] {
  const { labels, annotations, ownerReferences, finalizers, managedFields } = meta
  const errors = [
    ...checkNames(meta, rules, path),
    ...checkNamespace(meta, rules, path),
    ...checkGeneration(meta, path),
  ]
  if (labels) errors.push(...checkLabels(labels, childPath(path, 'labels')))
  if (annotations) errors.push(...checkAnnotations(annotations, childPath(path, 'annotations')))
  if (ownerReferences) errors.push(...checkOwnerReferences(ownerReferences, childPath(path, 'ownerReferences')))
  if (finalizers) errors.push(...checkFinalizers(finalizers, childPath(path, 'finalizers')))
  if (managedFields) errors.push(...checkManagedFields(managedFields, childPath(path, 'managedFields')))
  return errors
}

/** The errors of a change of metadata. */
export function checkObjectMetaUpdate(meta: ObjectMeta, old: ObjectMeta, path = 'metadata'): FieldError[] {
  const errors: FieldError[] = []
  if (old.deletionTimestamp !== undefined)
    errors.push(...checkNoNewFinalizers(meta, old, childPath(path, 'finalizers')))
  if (!meta.resourceVersion) {
    errors.push(fieldInvalid(childPath(path, 'resourceVersion'), '', 'must be specified for an update'))
  }
  if ((meta.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(fieldInvalid(childPath(path, 'generation'), meta.generation ?? 0, 'must not be decremented'))
  }
  for (const field of ['name', 'namespace', 'uid'] as const) {
    if ((meta[field] ?? '') !== (old[field] ?? '')) errors.push(immutable(path, field, meta[field] ?? ''))
  }
  for (const field of ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    // oxlint-disable-next-line eqeqeq -- an int64 is a number or a bigint
    if ((meta[field] ?? null) != (old[field] ?? null)) errors.push(immutable(path, field, meta[field] ?? null))
  }
  const { labels, annotations, ownerReferences, managedFields } = meta
  if (labels) errors.push(...checkLabels(labels, childPath(path, 'labels')))
  if (annotations) errors.push(...checkAnnotations(annotations, childPath(path, 'annotations')))
  if (ownerReferences) errors.push(...checkOwnerReferences(ownerReferences, childPath(path, 'ownerReferences')))
  if (managedFields) errors.push(...checkManagedFields(managedFields, childPath(path, 'managedFields')))
  return errors
}

/** Warnings about added finalizers: names without a domain may collide. */
export function finalizerWarnings(meta: ObjectMeta, old?: ObjectMeta): string[] {
  if (!meta.finalizers?.length) return []
  const before = new Set(old?.finalizers)
  const added = [...new Set(meta.finalizers)].filter(name => !before.has(name)).toSorted(compareTexts)
  return added.flatMap(name => {
    const errors = checkQualifiedName(name)
    if (!name.includes('/') && !STANDARD_FINALIZERS.has(name)) {
      const form = name.includes('.') ? 'finalizer name including a path (/)' : 'finalizer name'
      errors.push(`prefer a domain-qualified ${form} to avoid accidental conflicts with other finalizer writers`)
    }
    return errors.map(error => `metadata.finalizers: ${quote(name)}: ${error}`)
  })
}

const STANDARD_FINALIZERS = new Set([ORPHAN_FINALIZER, FOREGROUND_FINALIZER, 'kubernetes'])

function checkNames(meta: ObjectMeta, rules: MetaRules, path: string): FieldError[] {
  const { name = '', generateName: base = '' } = meta
  const ruleForBase: NameRule = rules.generateName ?? (text => checkGenerateName(rules.name, text))
  const reasons = base === '' ? [] : ruleForBase(base)
  const errors = reasons.map(error => fieldInvalid(childPath(path, 'generateName'), base, error))
  const at = childPath(path, 'name')
  if (name === '') return [...errors, fieldRequired(at, 'name or generateName is required')]
  return [...errors, ...rules.name(name).map(error => fieldInvalid(at, name, error))]
}

function checkNamespace({ namespace = '' }: ObjectMeta, { namespaced }: MetaRules, path: string): FieldError[] {
  const at = childPath(path, 'namespace')
  if (!namespaced) return namespace === '' ? [] : [fieldForbidden(at, 'not allowed on this type')]
  if (namespace === '') return [fieldRequired(at)]
  return checkDnsLabel(namespace).map(error => fieldInvalid(at, namespace, error))
}

const checkGeneration = ({ generation = 0 }: ObjectMeta, path: string): FieldError[] =>
  generation < 0 ? [fieldInvalid(childPath(path, 'generation'), generation, 'must be greater than or equal to 0')] : []

export function checkAnnotations(annotations: Readonly<Record<string, string>>, path: string): FieldError[] {
  const errors = Object.keys(annotations).flatMap(key =>
    checkAnnotationKey(key).map(error => fieldInvalid(path, key, error)),
  )
  if (annotationsSize(annotations) > ANNOTATIONS_MAX) errors.push(fieldTooLong(path, ANNOTATIONS_MAX))
  return errors
}

/** Errors of owner references are reported for the list, without an index. */
export function checkOwnerReferences(references: readonly OwnerReference[], path: string): FieldError[] {
  const errors: FieldError[] = []
  let controller: string | undefined
  for (const reference of references) {
    const { apiVersion, kind, name, uid } = reference
    const owner = groupVersionKind(apiVersion, kind)
    if (owner.version === '') {
      errors.push(fieldInvalid(childPath(path, 'apiVersion'), apiVersion, 'version must not be empty'))
    }
    for (const [field, value] of Object.entries({ kind, name, uid })) {
      if (value === '') errors.push(fieldInvalid(childPath(path, field), value, 'must not be empty'))
    }
    // Events are too short-lived to own objects.
    if (apiVersion === 'v1' && kind === 'Event') {
      const why = `${printGroupVersionKind(owner)} is disallowed from being an owner`
      errors.push(fieldInvalid(path, asStruct(reference as unknown as Value), why))
    }
    if (reference.controller !== true) continue
    if (controller === undefined) controller = `${kind}/${name}`
    else {
      const why = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${kind}/${name}`
      errors.push(fieldInvalid(path, asStruct(references as unknown as Value), why))
    }
  }
  return errors
}

export function checkFinalizers(finalizers: readonly string[], path: string): FieldError[] {
  const errors = finalizers.flatMap(name => checkQualifiedName(name).map(error => fieldInvalid(path, name, error)))
  if (finalizers.includes(ORPHAN_FINALIZER) && finalizers.includes(FOREGROUND_FINALIZER)) {
    const why = `finalizer ${ORPHAN_FINALIZER} and ${FOREGROUND_FINALIZER} cannot be both set`
    errors.push(fieldInvalid(path, [...finalizers], why))
  }
  return errors
}

function checkNoNewFinalizers(meta: ObjectMeta, old: ObjectMeta, path: string): FieldError[] {
  const before = new Set(old.finalizers)
  const added = [...new Set(meta.finalizers)].filter(name => !before.has(name)).toSorted(compareTexts)
  if (added.length === 0) return []
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers ${printStrings(added)}`
  return [fieldForbidden(path, why)]
}

function checkManagedFields(entries: readonly ManagedFieldsEntry[], path: string): FieldError[] {
  const errors: FieldError[] = []
  for (const [i, { operation = '', fieldsType = '', manager = '', subresource = '' }] of entries.entries()) {
    const at = indexPath(path, i)
    if (operation !== 'Apply' && operation !== 'Update') {
      errors.push(fieldInvalid(childPath(at, 'operation'), operation, 'must be `Apply` or `Update`'))
    }
    if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
      errors.push(fieldInvalid(childPath(at, 'fieldsType'), fieldsType, 'must be `FieldsV1`'))
    }
    errors.push(...checkFieldManager(manager, childPath(at, 'manager')))
    if (Buffer.byteLength(subresource) > SUBRESOURCE_MAX) {
      errors.push(fieldTooLong(childPath(at, 'subresource'), SUBRESOURCE_MAX))
    }
  }
  return errors
}

/** The name of a field manager: printable, and not too long. */
export function checkFieldManager(manager: string, path: string): FieldError[] {
  if (manager.length <= FIELD_MANAGER_MAX && PLAIN_TEXT.test(manager)) return []
  const errors: FieldError[] = []
  if (Buffer.byteLength(manager) > FIELD_MANAGER_MAX) errors.push(fieldTooLong(path, FIELD_MANAGER_MAX))
  let position = 0
  for (const character of manager) {
    if (!isPrintable(character)) {
      const why = `invalid character ${printCodePoint(character)} (at position ${position})`
      errors.push(fieldInvalid(path, manager, why))
      // A name may be as long as the request; the message about it must be bounded.
      if (errors.length > FIELD_MANAGER_MAX) break
    }
    position += Buffer.byteLength(character)
  }
  return errors
}

const FIELD_MANAGER_MAX = 128
/** The usual names: printable ASCII. */
const PLAIN_TEXT = /^[ -~]*$/
const SUBRESOURCE_MAX = 256

const immutable = (path: string, field: string, value: Value): FieldError =>
  fieldInvalid(childPath(path, field), value, 'field is immutable')
