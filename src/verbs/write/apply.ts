// apply: the fields of the configuration are merged into the stored object, or create it. Fields that the manager owned
// and no longer applies are removed; fields of other managers are conflicts unless `force` is set.

import { applyConfiguration, NotOfType } from '../../apply/field-manager.js'
import { cborTypeName, decodeCbor } from '../../codec/cbor.js'
import { CodecError } from '../../codec/codec-error.js'
import { decodeYaml } from '../../codec/yaml.js'
import { resourceOf } from '../../kinds/kind-names.js'
import { badRequest, conflict, notFound, StatusError } from '../../meta/errors/status.js'
import { jsonTypeOf } from '../../meta/go/go-text.js'
import { groupVersionKind, printGroupVersionKind } from '../../meta/group-version.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { checkValueCount } from '../../meta/object/value-limit.js'
import type { PatchOptions } from '../../meta/options/write-options.js'
import { isObject } from '../../meta/values/value.js'
import { type Body } from '../../request/body.js'
import type { ResourceRequest } from '../../request/request.js'
import { type Target } from '../../request/target.js'
import { restoreTyped, TypedDecodeError } from '../../types/decode.js'
import { decodeObjectMeta } from '../../types/object-meta.js'
import { type ApiContext } from '../api-context.js'
import { checkAddress } from '../pipeline/check-address.js'
import { fieldManagerOf } from '../pipeline/field-tracking.js'
import { APPLIED } from '../pipeline/prepared.js'
import type { ObjectResult } from '../result.js'
import { createFrom, NameTaken } from './create.js'
import { replace, withoutVersion } from './update.js'

export async function applyObject(
  context: ApiContext,
  request: ResourceRequest<PatchOptions>,
  body: Body,
): Promise<ObjectResult> {
  const { target, options } = request
  const read = configurationReader(request, body)
  const type = context.managedTypes.typeOf(target)
  const manager = fieldManagerOf(request)

  async function merged(live: ApiObject | undefined): Promise<ApiObject> {
    const { force } = options
    const configuration = read()
    const { object } = await applyConfiguration(type, live, configuration.object, {
      manager,
      force,
      now: context.now(),
      decodeMerged: result => decodeApplied(target, result, context.now()),
    })
    configuration.checkDuplicates()
    return checkAddress(live ? object : asNewObject(target, object), target)
  }

  async function created(): Promise<ObjectResult> {
    const object = await merged(undefined)
    const made = await createFrom(context, request, object, APPLIED)
    return { type: 'object', status: 201, versioned: target, object: made }
  }

  for (let attempt = 1; ; attempt++) {
    const mark = request.warnings.mark()
    const updated = await replace(context, request, async old => {
      if (!old && mayCreate(target)) return undefined
      if (!old) throw notFound(resourceOf(target.kind), target.name)
      return { object: await merged(old), isWhatClientSaw: false, ...APPLIED }
    })
    if (updated) return updated
    try {
      return await created()
    } catch (error) {
      // Another request has created the object meanwhile; now it is changed.
      if (!(error instanceof NameTaken) || attempt === ATTEMPTS) throw error
      request.warnings.reset(mark)
    }
  }
}

/** An apply to a subresource does not create the object, apart from the status of a few kinds. */
function mayCreate({ kind: { traits }, subresource }: Target): boolean {
  if (subresource === '') return true
  return subresource === 'status' && (traits.allowCreateOnUpdate || traits.appliedStatusCreates === true)
}

/** How often the object may be created and deleted by others while a configuration is applied to it. */
const ATTEMPTS = 10

/** The resourceVersion of the configuration is ignored for a new object; a uid means an object that no longer exists. */
function asNewObject({ kind, name }: Target, object: ApiObject): ApiObject {
  const { uid = '' } = metaOf(object)
  if (uid === '') return withoutVersion(object)
  const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
  throw conflict(resourceOf(kind), name, why)
}

/** The merged object, decoded and defaulted. Of custom objects only the metadata is decoded. */
function decodeApplied({ version }: Target, object: ApiObject, now: number): ApiObject {
  checkValueCount(object)
  if (version.type.dialect === 'structural') {
    const metadata = decodeObjectMeta(object.metadata)
    if (!metadata.ok) throw new NotOfType(metadata.error)
    return version.strategy.applyDefaults({ ...object, metadata: metadata.value.value })
  }
  try {
    const decoded = version.strategy.decode(restoreTyped(version.type, object), [])
    if (decoded.refused) throw decoded.refused
    return version.strategy.applyDefaults(decoded.object, false, now)
  } catch (error) {
    if (!(error instanceof StatusError || error instanceof TypedDecodeError)) throw error
    const why = typeof error.cause === 'string' ? error.cause : error.message
    const type = printGroupVersionKind(groupVersionKind(object.apiVersion, object.kind))
    throw new NotOfType(`unable to convert unstructured object to ${type}: ${why}`)
  }
}

interface Configuration {
  readonly object: ApiObject
  /** Reports keys that it has twice. kube-apiserver looks for them once the configuration has been applied. */
  checkDuplicates(): void
}

/** Decodes the configuration when it is first needed: a missing object is reported before errors of the body. */
export function configurationReader(request: ResourceRequest<PatchOptions>, body: Body): () => Configuration {
  let configuration: Configuration | undefined
  return () => (configuration ??= decodeConfiguration(request, body))
}

function decodeConfiguration(request: ResourceRequest<PatchOptions>, { bytes, mediaType }: Body): Configuration {
  const isCbor = mediaType.endsWith('cbor')
  try {
    const { value, duplicates } = isCbor ? decodeCbor(bytes) : decodeYaml(bytes)
    checkValueCount(value)
    if (value !== null && !isObject(value)) {
      const target = 'into Go value of type map[string]interface {}'
      const why = isCbor
        ? `cbor: cannot unmarshal ${cborTypeName(bytes)} ${target}`
        : `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonTypeOf(value)} ${target}`
      throw badRequest(`error decoding YAML: ${why}`)
    }
    const object = (value ?? {}) as ApiObject
    return { object, checkDuplicates: () => reportDuplicates(request, duplicates) }
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    // kube-apiserver speaks of YAML whichever the encoding is, and of its conversion only if it is YAML.
    throw badRequest(`error decoding YAML: ${isCbor ? '' : 'error converting YAML to JSON: '}${error.message}`)
  }
}

function reportDuplicates(request: ResourceRequest<PatchOptions>, duplicates: readonly string[]): void {
  const { fieldValidation } = request.options
  if (duplicates.length === 0 || fieldValidation === 'Ignore') return
  if (fieldValidation === 'Strict') {
    const errors = duplicates.map(text => `  ${text}`).join('\n')
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n${errors}`)
  }
  for (const text of duplicates) request.warn(text)
}
