// The strategy of one version of a custom kind: the rules for every custom object, and those of its schema.

import { encodeJson } from '../../codec/json.js'
import type { Strategy, SubresourceStrategy, UpgradedObject } from '../../kinds/kind.js'
import { type FieldError, fieldInvalid, printFieldError } from '../../meta/errors/field-errors.js'
import { badRequest, cannotHandle, internalError, type StatusError } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import { groupVersionKind } from '../../meta/group-version.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { checkDnsSubdomain } from '../../meta/object/names.js'
import {
  checkObjectMeta,
  checkObjectMetaUpdate,
  finalizerWarnings,
  metaOf,
  orderedMeta,
  withMeta,
} from '../../meta/object/object-meta.js'
import { checkTypeMeta } from '../../meta/object/type-meta.js'
import { equalValues, getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { type CompiledSchema, compileSchema } from '../../schema/compiled-schema.js'
import { decodeObjectMeta, decodeStoredObjectMeta } from '../../types/object-meta.js'
import type { ScaleSpec } from '../definition.js'
import { checkScaleSpec, checkScaleStatus } from './custom-scale.js'

/** One version of a custom kind. */
export interface CustomVersion {
  readonly apiVersion: string
  readonly version: string
  readonly kind: string
  readonly namespaced: boolean
  readonly schema: CompiledSchema
  /** Whether the version has a status subresource. */
  readonly hasStatus: boolean
  readonly scale: ScaleSpec | undefined
  /** All versions of the kind, by apiVersion. */
  readonly siblings: ReadonlyMap<string, CustomVersion>
}

export function customRules(form: CustomVersion): Strategy {
  return {
    decode: (body, duplicates, _, decodedMeta) => shape(form, body, duplicates, decodedMeta),
    applyDefaults(object) {
      if (isOfKind(form, object)) form.schema.default(object)
      return object
    },
    prepareForCreate(object) {
      if (form.hasStatus) delete object['status']
      return withGeneration(object, 1)
    },
    prepareForUpdate(object, old) {
      if (form.hasStatus) keepStatus(object, old)
      return counted(object, old)
    },
    validate(object) {
      const wrongType = checkType(form, object)
      // Nothing else is checked then but the rules.
      if (wrongType.length > 0) {
        return [...wrongType, ...form.schema.evaluateRules(object, undefined, wrongType).errors]
      }
      const meta = { namespaced: form.namespaced, name: checkDnsSubdomain }
      const errors = [
        ...checkObjectMeta(metaOf(object), meta),
        ...form.schema.validate(object),
        ...checkScale(form, object),
      ]
      return [...errors, ...form.schema.evaluateRules(object, undefined, errors).errors]
    },
    validateUpdate: (object, old, warnings) =>
      update(form, object, old, warnings, () => [
        ...form.schema.validateUpdate(object, old),
        ...checkScale(form, object),
      ]),
    blocksDeletion: object => Boolean(metaOf(object).finalizers?.length),
    isBlockedByFinalizersOnly: true,
    prepareForDelete: object => object,
    warnings: (object, old) => finalizerWarnings(metaOf(object), old && metaOf(old)),
  }
}

/** A write to the status changes nothing else of the object. */
export function customStatusRules(form: CustomVersion): SubresourceStrategy {
  return {
    prepareForUpdate(object, old) {
      const { status: _, metadata, ...rest } = old
      const status = getOwn(object, 'status')
      const { managedFields } = object.metadata
      const { managedFields: __, ...kept } = metadata
      return {
        ...rest,
        // The resourceVersion of the body has been compared with that of the old object before.
        metadata: { ...kept, ...(managedFields !== undefined && { managedFields }) },
        ...(status !== undefined && { status }),
      }
    },
    validateUpdate: (object, old, warnings) =>
      update(form, object, old, warnings, () => [
        ...form.schema.validateStatusUpdate(object, old),
        ...(form.scale ? checkScaleStatus(object, form.scale) : []),
      ]),
    resetFields: ['spec', 'metadata'],
  }
}

/**
 * An object from storage as the schema has it now, changed in place: new defaults are set, unknown fields are dropped,
 * and so are metadata that cannot be decoded.
 */
export const upgradeStored = (form: CustomVersion, object: ApiObject, isMetaDecoded?: boolean): UpgradedObject =>
  shapeStored(form, object, true, isMetaDecoded)

/** The same without defaults: an object that was converted to this version. */
export const pruneStored = (form: CustomVersion, object: ApiObject): ApiObject =>
  shapeStored(form, object, false).object

function shapeStored(form: CustomVersion, object: ApiObject, defaults: boolean, isMetaDecoded = false): UpgradedObject {
  const { error, changed } = form.schema.shape(object, { stored: true, defaults })
  if (error) throw internalError(printFieldError(error))
  const { metadata } = object
  if (isMetaDecoded && metadata.generation !== undefined) return { object, changed }
  const decoded = decodeStoredObjectMeta(metadata)
  if (!decoded.ok) throw internalError(decoded.error)
  const { value } = decoded.value
  object.metadata = value['generation'] === undefined ? { ...value, generation: 1 } : value
  return { object, changed: changed || !equalValues(metadata, object.metadata) }
}

function shape(
  form: CustomVersion,
  body: Value,
  duplicates: readonly string[],
  decodedMeta: ValueObject | undefined,
): ReturnType<Strategy['decode']> {
  const object = isObject(body) ? { ...body } : {}
  const { kind } = form
  // Bodies are checked when they are read; the result of a patch comes here as it is.
  checkTypeMeta(object, badRequest)
  const given = getOwn(object, 'kind') ?? ''
  if (typeof given !== 'string' || given === '') {
    throw badRequest(`Object 'Kind' is missing in '${encodeJson(object, { sortKeys: true })}'`)
  }
  const givenVersion = getOwn(object, 'apiVersion')
  // Faults inside name the type that the body has, whichever is wanted.
  const { version } = groupVersionKind(typeof givenVersion === 'string' ? givenVersion : '', given)
  const refused = (why: string): StatusError => cannotHandle(given, version, kind, why)
  if (givenVersion === null) throw refused('.apiVersion accessor error: <nil> is of the type <nil>, expected string')
  object['apiVersion'] ??= ''
  const unknown: string[] = []
  const givenMeta = getOwn(object, 'metadata') ?? null
  if (givenMeta !== decodedMeta) {
    const metadata = decodeObjectMeta(givenMeta)
    if (!metadata.ok) throw refused(metadata.error)
    object['metadata'] = metadata.value.value
    unknown.push(...metadata.value.unknown)
  }
  const schema = schemaFor(form, object)
  if (schema) {
    const shaped = schema.shape(object)
    if (shaped.error) throw refused(printFieldError(shaped.error))
    unknown.push(...shaped.unknown)
  }
  if (!givenVersion && isPatched(object)) {
    throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'")
  }
  const strict = [
    ...duplicates.map(path => `duplicate field ${quote(path)}`),
    ...unknown.map(path => `unknown field "${path}"`),
  ]
  return { object: object as ApiObject, strict }
}

/** Stored objects have a uid; new ones need not. */
const isPatched = (object: ValueObject): boolean =>
  isObject(object['metadata']) && typeof getOwn(object['metadata'], 'uid') === 'string'

/** An object of another kind is not defaulted by this schema; validation refuses it. */
const isOfKind = ({ apiVersion, kind }: CustomVersion, object: ValueObject): boolean =>
  getOwn(object, 'kind') === kind && getOwn(object, 'apiVersion') === apiVersion

/** The schema by which an object is pruned: that of its own apiVersion, or an empty one if there is no such version. */
function schemaFor(
  { apiVersion, kind, schema, siblings }: CustomVersion,
  object: ValueObject,
): CompiledSchema | undefined {
  const given = object['apiVersion']
  if (object['kind'] !== kind || typeof given !== 'string') return undefined
  if (given === apiVersion) return schema
  const group = apiVersion.slice(0, apiVersion.indexOf('/') + 1)
  return given.startsWith(group) ? (siblings.get(given)?.schema ?? NOTHING) : undefined
}

const NOTHING = compileSchema({ type: 'object' })

function checkType({ apiVersion, kind }: CustomVersion, object: ApiObject): FieldError[] {
  return [
    ...(object.kind === kind ? [] : [fieldInvalid('kind', object.kind, `must be ${kind}`)]),
    ...(object.apiVersion === apiVersion
      ? []
      : [fieldInvalid('apiVersion', object.apiVersion, `must be ${apiVersion}`)]),
  ]
}

function update(
  form: CustomVersion,
  object: ApiObject,
  old: ApiObject,
  warnings: string[],
  content: () => readonly FieldError[],
): readonly FieldError[] {
  const wrongType = checkType(form, object)
  const errors =
    wrongType.length > 0 ? wrongType : [...checkObjectMetaUpdate(metaOf(object), metaOf(old)), ...content()]
  const found = form.schema.evaluateRules(object, old, errors)
  warnings.push(...found.warnings)
  return [...errors, ...found.errors]
}

const checkScale = ({ scale }: CustomVersion, object: ApiObject): FieldError[] =>
  scale ? [...checkScaleSpec(object, scale), ...checkScaleStatus(object, scale)] : []

function keepStatus(object: ApiObject, old: ApiObject): void {
  const status = getOwn(old, 'status')
  if (status === undefined) delete object['status']
  else object['status'] = status
}

/** A change outside of metadata increments the generation. */
function counted(object: ApiObject, old: ApiObject): ApiObject {
  const generation = metaOf(old).generation ?? 1
  return withGeneration(object, equalContent(object, old) ? generation : next(generation))
}

/** Whether two objects are equal apart from their metadata. */
function equalContent(object: ApiObject, old: ApiObject): boolean {
  const names = Object.keys(object)
  if (names.length !== Object.keys(old).length) return false
  return names.every(name => name === 'metadata' || equalValues(object[name], getOwn(old, name)))
}

const next = (generation: number | bigint): number | bigint =>
  typeof generation === 'bigint' ? generation + 1n : generation + 1

function withGeneration(object: ApiObject, generation: number | bigint): ApiObject {
  if (metaOf(object).generation === generation) return object
  // The order of the members does not matter: the metadata of custom objects are sorted by name.
  return withMeta(object, Object.assign(orderedMeta(metaOf(object)), { generation })) as ApiObject
}
