// patch: a description of changes is carried out on the object that is there, again if that has changed meanwhile, and
// the result goes the way of every update.

import { CodecError } from '../../codec/codec-error.js'
import type { Decoded } from '../../codec/decoded.js'
import { decodeJson, encodeJson } from '../../codec/json.js'
import type { Strategy } from '../../kinds/kind.js'
import { resourceOf } from '../../kinds/kind-names.js'
import { fieldInvalid } from '../../meta/errors/field-errors.js'
import { hasReason, invalid, notFound, StatusError, unclassified } from '../../meta/errors/status.js'
import { compareTexts, printPlain } from '../../meta/go/go-text.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { FieldValidation, PatchOptions } from '../../meta/options/write-options.js'
import { getOwn, isObject, type Value } from '../../meta/values/value.js'
import { notJson, type PatchKind } from '../../patch/field-validation.js'
import { applyJsonPatch, parseJsonPatch } from '../../patch/json-patch.js'
import { applyMergePatch, parseMergePatch } from '../../patch/merge-patch.js'
import { PatchError } from '../../patch/patch-error.js'
import { applyStrategicMergePatch, parseStrategicMergePatch } from '../../patch/strategic-merge.js'
import type { ResourceRequest } from '../../request/request.js'
import type { Type } from '../../types/type.js'
import { type ApiContext } from '../api-context.js'
import { asAddressed } from '../pipeline/check-address.js'
import { strictText } from '../pipeline/decode-body.js'
import { DECODED } from '../pipeline/prepared.js'
import type { ObjectResult } from '../result.js'
import { replace } from './update.js'

export async function patchObject(
  context: ApiContext,
  request: ResourceRequest<PatchOptions>,
  kind: PatchKind,
  bytes: Buffer,
): Promise<ObjectResult> {
  const { target, options } = request
  let patch: Patch | undefined
  const answer = await replace(context, request, async old => {
    if (!old) throw notFound(resourceOf(target.kind), target.name)
    return asPatchStatus(async () => {
      patch ??= parsePatch(target.version.type, kind, bytes, options.fieldValidation)
      return { ...DECODED, object: patched(request, old, patch), isWhatClientSaw: false }
    })
  })
  if (!answer) throw unclassified('a patch came to nothing')
  return answer
}

export interface Patch {
  /** Faults of the patch itself that strict reading finds. */
  readonly strict: readonly string[]
  /** Whether it works on an object of a known type, so that the result need not say what it is. */
  readonly isTyped: boolean
  apply(object: ApiObject): Value
  /** What is told to be at fault when the result does not fit: the patch itself, where it has a type. */
  readonly shown?: () => string
}

export function parsePatch(type: Type, kind: PatchKind, bytes: Buffer, validation: FieldValidation): Patch {
  const { value, duplicates } = decodePatch(kind, bytes, validation)
  const fieldValidation = validation === '' ? 'Warn' : validation
  switch (kind) {
    case 'json': {
      const patch = parseJsonPatch(value, { text: bytes.toString('utf8'), fieldValidation })
      const repeated = duplicates.map(path => `json patch duplicate field ${JSON.stringify(path)}`)
      const strict = [...repeated, ...patch.strictErrors]
      return { strict, isTyped: false, apply: object => applyJsonPatch(object, patch) }
    }
    case 'merge': {
      const patch = parseMergePatch(value, fieldValidation)
      const strict = repeatedFields(duplicates)
      return { strict, isTyped: false, apply: object => applyMergePatch(object, patch) }
    }
    case 'strategic': {
      const patch = parseStrategicMergePatch(value)
      const strict = repeatedFields(duplicates)
      const apply = (object: ApiObject): Value => applyStrategicMergePatch(object, patch, type)
      return { strict, isTyped: true, apply, shown: () => printPlain(value) }
    }
  }
}

const repeatedFields = (paths: readonly string[]): string[] =>
  paths.map(path => `duplicate field ${JSON.stringify(path)}`)

function decodePatch(kind: PatchKind, bytes: Buffer, validation: FieldValidation): Decoded {
  try {
    return decodeJson(bytes)
  } catch (error) {
    if (error instanceof CodecError) throw notJson(kind, error.message, validation === '' ? 'Warn' : validation)
    throw error
  }
}

function patched(request: ResourceRequest<PatchOptions>, old: ApiObject, patch: Patch): ApiObject {
  const { target } = request
  const { strategy: rules, type } = target.version
  const shape = type.dialect === 'go' && !patch.isTyped ? published(rules.decode, old) : rules.decode
  return asAddressed(applyPatch(request, old, patch, shape), target)
}

/**
 * An object of a built-in kind that no longer says its version is read in the form in which the server itself has it.
 * There the fields that clients know have no names, so that nothing is left.
 */
const published =
  (shape: Strategy['decode'], { apiVersion, kind }: ApiObject): Strategy['decode'] =>
  (result, duplicates) => {
    if (!isObject(result) || getOwn(result, 'apiVersion')) return shape(result, duplicates)
    const fields = Object.keys(result).filter(name => name !== 'apiVersion' && name !== 'kind')
    const strict = fields.toSorted(compareTexts).map(name => `unknown field ${JSON.stringify(name)}`)
    return { object: { apiVersion, kind, metadata: {} }, strict }
  }

/** The object that a patch makes of another, read as what it is to be. */
export function applyPatch(
  request: ResourceRequest<PatchOptions>,
  old: ApiObject,
  patch: Patch,
  shape: Strategy['decode'],
): ApiObject {
  const { fieldValidation: validation } = request.options
  const result = patch.apply(old)
  const { object, strict } = shapeResult(shape, patch, result)
  const errors = [...patch.strict, ...strict]
  if (errors.length > 0 && validation === 'Strict') throw badResult(patch, result, strictText(errors, false))
  if (validation !== 'Ignore') for (const text of errors) request.warn(text)
  return object
}

/** What does not fit the kind is a fault of the patch, not of the request. */
function shapeResult(shape: Strategy['decode'], patch: Patch, result: Value): ReturnType<Strategy['decode']> {
  try {
    const decoded = shape(result, [])
    if (decoded.refused) throw decoded.refused
    return decoded
  } catch (error) {
    if (hasReason(error, 'BadRequest')) {
      throw badResult(patch, result, typeof error.cause === 'string' ? error.cause : error.message)
    }
    throw error
  }
}

const badResult = ({ shown }: Patch, result: Value, why: string): StatusError =>
  invalid({ group: '', kind: '' }, '', [fieldInvalid('patch', shown?.() ?? encodeJson(result), why)])

/** A patch that cannot be read or does not apply, as clients are told. */
export async function asPatchStatus<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    if (!(error instanceof PatchError)) throw error
    throw new StatusError({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: error.message,
      ...(error.reason && { reason: error.reason }),
      ...(error.code === 422 && { details: {} }),
      code: error.code,
    })
  }
}
