// patch: a JSON patch, merge patch or strategic merge patch is applied to the stored object, and the result is an update.
// If the object has changed meanwhile, the patch is applied again.

import type { Awaitable } from '../../base/awaitable.js'
import { inTurns, startTurns } from '../../base/turns.js'
import { CodecError } from '../../codec/codec-error.js'
import type { Decoded } from '../../codec/decoded.js'
import { decodeJson, encodeJson } from '../../codec/json.js'
import type { Strategy } from '../../kinds/kind.js'
import { resourceOf } from '../../kinds/kind-names.js'
import { fieldInvalid } from '../../meta/errors/field-errors.js'
import { badRequest, hasReason, invalid, notFound, StatusError, unclassified } from '../../meta/errors/status.js'
import { compareTexts, printPlain, quote } from '../../meta/go/go-text.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { checkTypeMeta, strictText, typeMetaOf } from '../../meta/object/type-meta.js'
import { checkDecodedBody, checkValueCount, countValues, MAX_VALUES } from '../../meta/object/value-limit.js'
import type { FieldValidation, PatchOptions } from '../../meta/options/write-options.js'
import { copyValue, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { notJson, type PatchKind } from '../../patch/field-validation.js'
import { applyJsonPatchInSteps, jsonPatchInItsOrder, parseJsonPatch } from '../../patch/json-patch.js'
import { applyMergePatch, mergePatchInItsOrder, parseMergePatch } from '../../patch/merge-patch.js'
import { PatchError } from '../../patch/patch-error.js'
import { applyOwnPatch, parseStrategicMergePatch } from '../../patch/strategic-merge.js'
import type { ResourceRequest } from '../../request/request.js'
import { decodeTyped, restoreTyped, TypedDecodeError } from '../../types/decode.js'
import type { Type, Types } from '../../types/type.js'
import { groupOf, schemeOf } from '../../types/typed-body.js'
import { type ApiContext } from '../api-context.js'
import { checkAddress } from '../pipeline/check-address.js'
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
      return { object: await patched(request, old, patch), isWhatClientSaw: false, ...DECODED }
    })
  })
  if (!answer) throw unclassified('a patch came to nothing')
  return answer
}

export interface Patch {
  /** Strict decoding errors of the patch itself. */
  readonly strict: readonly string[]
  /** The patch is applied to an object of a Go type, so that the result need not have apiVersion and kind. */
  readonly isTyped: boolean
  apply(object: ApiObject): Awaitable<Value>
  /** The same with its members in the order of kube-apiserver, if that shows in errors. */
  readonly applyInItsOrder?: (object: ApiObject) => Value
  /** The result as its Go type; throws a TypedDecodeError if it is not of the type. */
  readonly restore?: (result: Value) => ValueObject
  /** The value in the error if the result cannot be decoded: the patch itself if it is typed, else the result. */
  readonly shown?: () => string
}

export function parsePatch(type: Type, kind: PatchKind, bytes: Buffer, validation: FieldValidation): Patch {
  const { value, duplicates } = decodePatch(kind, bytes, validation)
  const fieldValidation = validation === '' ? 'Warn' : validation
  switch (kind) {
    case 'json': {
      const patch = parseJsonPatch(value, { text: bytes.toString('utf8'), fieldValidation, duplicates })
      return {
        strict: patch.strictErrors,
        isTyped: false,
        apply: object => inTurns(applyJsonPatchInSteps(object, patch, 'metadata')),
        applyInItsOrder: object => jsonPatchInItsOrder(inOrderOf(type, object), patch),
      }
    }
    case 'merge': {
      const patch = parseMergePatch(value, fieldValidation)
      const strict = repeatedFields(duplicates)
      return {
        strict,
        isTyped: false,
        // The result is pruned in place, and the patch may be applied again.
        apply: object => applyMergePatch(object, copyValue(patch), 'metadata'),
        applyInItsOrder: object => mergePatchInItsOrder(inOrderOf(type, object), copyValue(patch)),
      }
    }
    case 'strategic': {
      const patch = parseStrategicMergePatch(value)
      const strict = repeatedFields(duplicates)
      let left: Value = patch
      const apply = (object: ApiObject): Value => {
        const own = copyValue(patch)
        left = own
        return applyOwnPatch(object, own, type, 'metadata')
      }
      const restore = (result: Value): ValueObject => restoreTyped(type, result) as ValueObject
      return { strict, isTyped: true, apply, restore, shown: () => printPlain(left) }
    }
  }
}

const repeatedFields = (paths: readonly string[]): string[] => paths.map(path => `duplicate field ${quote(path)}`)

function decodePatch(kind: PatchKind, bytes: Buffer, validation: FieldValidation): Decoded {
  try {
    const decoded = decodeJson(bytes)
    checkDecodedBody(decoded.value, bytes.length)
    return decoded
  } catch (error) {
    if (error instanceof CodecError) throw notJson(kind, error.message, validation === '' ? 'Warn' : validation)
    throw error
  }
}

async function patched(request: ResourceRequest<PatchOptions>, old: ApiObject, patch: Patch): Promise<ApiObject> {
  const { target } = request
  const { strategy: rules, type } = target.version
  const shape = type.dialect === 'go' ? decodePatched(patch, rules.decode, old, type.types) : rules.decode
  return checkAddress(await applyPatch(request, old, patch, shape), target)
}

/** How the result of a patch is decoded if its type is a built-in one: `shape`, with what is special to patches. */
export const decodePatched = (
  { isTyped }: Patch,
  shape: Strategy['decode'],
  old: ApiObject,
  types: Types,
): Strategy['decode'] => (isTyped ? shape : published(shape, old, types))

/**
 * If a patch removes the apiVersion of a built-in object, kube-apiserver decodes the result as its internal type. The
 * fields of that type have no JSON names: `spec` is unknown, `Spec` is not.
 */
const published =
  (shape: Strategy['decode'], { apiVersion, kind }: ApiObject, types: Types): Strategy['decode'] =>
  (result, duplicates) => {
    checkTypeMeta(result, badRequest)
    const given = isObject(result) ? typeMetaOf(result) : undefined
    if (!isObject(result) || given?.apiVersion) return shape(result, duplicates)
    if (given?.kind && types.ofKind(apiVersion, given.kind) === undefined) {
      const version = `the internal version of group ${quote(groupOf(apiVersion))}`
      throw badRequest(
        `no kind ${quote(given.kind)} is registered for ${version} in scheme ${quote(schemeOf(apiVersion))}`,
      )
    }
    const known = new Set(['apiVersion', 'kind'])
    for (const name of types.ofKind(apiVersion, kind)?.fields.keys() ?? []) known.add(capitalized(name))
    const fields = Object.keys(result).filter(name => !known.has(name))
    const strict = fields.toSorted(compareTexts).map(name => `unknown field ${quote(name)}`)
    return { object: { apiVersion, kind, metadata: {} }, strict }
  }

const capitalized = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`

/** The patched object, decoded. */
export async function applyPatch(
  request: ResourceRequest<PatchOptions>,
  old: ApiObject,
  patch: Patch,
  shape: Strategy['decode'],
): Promise<ApiObject> {
  const { applyInItsOrder } = patch
  const turns = startTurns()
  const applied = patch.apply(old)
  const result = applied instanceof Promise ? await applied : applied
  if (turns.isDue()) await turns.give()
  checkPatchedCount(result, old)
  try {
    const restored = restoredOf(patch, result, old)
    if (turns.isDue()) await turns.give()
    return decodeChecked(request, old, patch, result, restored, shape)
  } catch (error) {
    // Which mistake is the first, and how the message quotes the object, depends on the order of members.
    if (!applyInItsOrder || !hasReason(error, 'Invalid')) throw error
    if (turns.isDue()) await turns.give()
    const inItsOrder = applyInItsOrder(old)
    return decodeChecked(request, old, patch, inItsOrder, inItsOrder, shape)
  }
}

function decodeChecked(
  request: ResourceRequest<PatchOptions>,
  old: ApiObject,
  patch: Patch,
  result: Value,
  restored: Value,
  shape: Strategy['decode'],
): ApiObject {
  const { fieldValidation: validation } = request.options
  const { object, strict } = decodeResult(shape, patch, result, restored, old)
  // The converter of unstructured objects reports unknown fields by their names, not in the order of the document.
  const errors = [...patch.strict, ...(patch.restore ? strict.toSorted(compareTexts) : strict)]
  if (errors.length > 0 && validation === 'Strict') {
    // Unknown fields are no longer in the decoded result.
    const whole = strict.length > 0 ? patch.applyInItsOrder?.(old) : undefined
    throw badResult(patch, whole ?? result, strictText(errors, false))
  }
  if (validation !== 'Ignore') for (const text of errors) request.warn(text)
  return object
}

/** The managed fields of the old object are not counted. There are as many as it has fields. */
function checkPatchedCount(result: Value, { metadata: { managedFields = null } }: ApiObject): void {
  if (countValues(result, MAX_VALUES) > MAX_VALUES) checkValueCount(result, MAX_VALUES + countValues(managedFields))
}

/** What is restored is of the type of the old object, whatever apiVersion and kind it names. */
function restoredOf(patch: Patch, result: Value, { apiVersion, kind }: ApiObject): Value {
  if (!patch.restore) return result
  try {
    return ofType(patch.restore(result), apiVersion, kind)
  } catch (error) {
    throw error instanceof TypedDecodeError ? badResult(patch, result, error.message) : error
  }
}

/** A result that cannot be decoded is an error of the field `patch`. */
function decodeResult(
  shape: Strategy['decode'],
  patch: Patch,
  result: Value,
  restored: Value,
  { metadata }: ApiObject,
): ReturnType<Strategy['decode']> {
  try {
    const decoded = shape(restored, [], undefined, metadata)
    if (decoded.refused) throw decoded.refused
    return decoded
  } catch (error) {
    if (error instanceof TypedDecodeError) throw badResult(patch, result, error.message)
    if (hasReason(error, 'BadRequest')) {
      throw badResult(patch, result, typeof error.cause === 'string' ? error.cause : error.message)
    }
    throw error
  }
}

/** They come last, so that they count, and not such members as `KIND`. */
function ofType(restored: ValueObject, apiVersion: string, kind: string): ValueObject {
  const { apiVersion: _, kind: __, ...object } = restored
  return { ...object, apiVersion, kind }
}

const badResult = ({ shown }: Patch, result: Value, why: string): StatusError =>
  invalid({ group: '', kind: '' }, '', [fieldInvalid('patch', shown?.() ?? encodeJson(result), why)])

/** As Go prints it: custom objects are maps there, sorted by name, and built-in ones are in the order of their struct. */
const inOrderOf = (type: Type, object: ApiObject): Value =>
  type.dialect === 'go'
    ? decodeTyped(type, object).value
    : decodeJson(Buffer.from(encodeJson(object, { sortKeys: true }))).value

/** Errors of the patch as a Status. */
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
