// apply: the fields that a client means to own are merged into the object that is there, or make a new one. What it
// owned and no longer names goes, and what others own is not taken from them unless by force.
import { applyConfiguration, managerName, NotOfType } from '../apply/field-manager.js'
import { decodeCbor } from '../codec/cbor-decode.js'
import { CodecError } from '../codec/codec-error.js'
import { decodeYaml } from '../codec/yaml-decode.js'
import { setMeta } from '../kinds/api-object.js'
import type { ApiObject } from '../kinds/kind.js'
import { jsonTypeOf } from '../meta/go-struct.js'
import { metaOf, nameMismatch, placeInNamespace } from '../meta/object-meta.js'
import { badRequest, StatusError } from '../meta/status.js'
import { isObject } from '../meta/value.js'
import type { FieldValidation, PatchOptions } from '../meta/write-options.js'
import type { ObjectAnswer } from './answer.js'
import type { Body } from './body.js'
import { createFrom } from './create.js'
import { ownershipOf } from './field-ownership.js'
import type { Caller, ResourceContext, Target } from './resource-context.js'
import { showValue } from './shown.js'
import { replace } from './update.js'

export async function applyObject(
  context: ResourceContext,
  target: Target,
  options: PatchOptions,
  body: Body,
  caller: Caller,
): Promise<ObjectAnswer> {
  const { object: configuration, warnings: told } = decodeConfiguration(body, options.fieldValidation)
  const type = ownershipOf(target)
  const manager = managerName(options.fieldManager, caller.userAgent)

  async function merged(live: ApiObject | undefined): Promise<ApiObject> {
    const { force } = options
    const settle = async (object: ApiObject) => settled(target, object)
    const { object } = await applyConfiguration(type, live, configuration, {
      manager,
      force,
      now: context.now(),
      settle,
    })
    const mismatch = nameMismatch(metaOf(object), target.name)
    if (mismatch) throw mismatch
    return setMeta(object, placeInNamespace(metaOf(object), target.namespace))
  }

  const answer = await replace(context, target, options, caller, async old => {
    if (!old && target.subresource === '') return undefined
    return { object: await merged(old), warnings: told, isWhatClientSaw: false, isTracked: true }
  })
  if (answer) return answer
  const warnings = [...told]
  const created = await createFrom(context, target, await merged(undefined), options, caller, warnings, true)
  return { type: 'object', status: 201, warnings, served: target, object: showValue(created) }
}

/** What the merged object becomes when it is read as one of its kind; the kinds that users define take it as it is. */
function settled({ version }: Target, object: ApiObject): ApiObject {
  if (version.openapi) return version.rules.default(object)
  try {
    return version.rules.default(version.rules.shape(object, []).object)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    throw new NotOfType(typeof error.cause === 'string' ? error.cause : error.message)
  }
}

interface Configuration {
  readonly object: ApiObject
  readonly warnings: readonly string[]
}

function decodeConfiguration({ bytes, mediaType }: Body, validation: FieldValidation): Configuration {
  try {
    const { value, duplicates } = mediaType.endsWith('cbor') ? decodeCbor(bytes) : decodeYaml(bytes)
    if (value !== null && !isObject(value)) {
      const why = `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type map[string]interface {}`
      throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${why}`)
    }
    if (duplicates.length > 0 && validation === 'Strict') {
      const faults = duplicates.map(text => `  ${text}`).join('\n')
      throw badRequest(`error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n${faults}`)
    }
    const object = (value ?? {}) as ApiObject
    return { object, warnings: validation === 'Ignore' ? [] : duplicates }
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`)
  }
}
