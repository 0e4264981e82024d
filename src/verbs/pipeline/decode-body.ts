// Decodes the body of a write, in one of four encodings, to an object of the kind that the request addresses.

import { cborTypeName, decodeCbor, decodeCborForType, diagnoseCbor, newCborMarks } from '../../codec/cbor.js'
import { CodecError } from '../../codec/codec-error.js'
import type { Decoded } from '../../codec/decoded.js'
import { decodeJson } from '../../codec/json.js'
import { decodeYaml } from '../../codec/yaml.js'
import type { VersionedKind } from '../../kinds/kind.js'
import { apiVersionOf } from '../../kinds/kind-names.js'
import { badRequest, cannotHandle, type StatusError, unsupportedMediaType } from '../../meta/errors/status.js'
import { groupVersionKind } from '../../meta/group-version.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { checkTypeMeta, strictText, typeMetaOf } from '../../meta/object/type-meta.js'
import { checkDecodedBody } from '../../meta/object/value-limit.js'
import type { FieldValidation } from '../../meta/options/write-options.js'
import { getOwn, isObject, type Value } from '../../meta/values/value.js'
import { BODY_TYPES, type Body, type BodySpec } from '../../request/body.js'
import type { Request } from '../../request/request.js'
import { cborMismatch } from '../../types/decode.js'
import { protobufOf } from '../../types/typed-body.js'

export const bodySpecOf = ({ kind, version }: VersionedKind): BodySpec => ({
  kind: kind.names.kind,
  version: version.name,
  apiVersion: apiVersionOf(kind, version.name),
  decode: version.strategy.decode,
  protobuf: protobufOf(version.type, apiVersionOf(kind, version.name), kind.names.kind),
  isUntyped: kind.traits.listItemsHaveTypeMeta,
})

/** Decodes an object. Fields that do not belong in it are warnings, an error or ignored, by the field validation. */
export function readObject(
  request: Pick<Request, 'warn'>,
  body: Body,
  form: BodySpec,
  validation: FieldValidation,
): ApiObject {
  const { value, duplicates, cbor } = decodeBody(body, form)
  const isYaml = body.mediaType === 'application/yaml'
  // YAML reports duplicate keys itself, before fields are checked.
  const { object, strict, refused } = form.decode(value, isYaml ? [] : duplicates, cbor)
  // kube-apiserver does not check CBOR of custom objects for unknown fields.
  const isBlind = form.isUntyped && body.mediaType === 'application/cbor'
  const errors = isYaml ? [...duplicates, ...strict] : isBlind ? [] : strict
  for (const text of validated(errors, validation, form, value, isYaml)) request.warn(text)
  if (refused) throw refused
  if (form.isUntyped && object.apiVersion !== form.apiVersion) {
    throw badRequest(
      `the API version in the data (${object.apiVersion}) does not match the expected API version (${form.apiVersion ?? ''})`,
    )
  }
  return object
}

/** The strict errors that become warnings; with `Strict` they are thrown, with `Ignore` there are none. */
function validated(
  strict: readonly string[],
  validation: FieldValidation,
  form: BodySpec,
  body: Value,
  isYaml: boolean,
): readonly string[] {
  if (strict.length === 0 || validation === 'Ignore') return []
  if (validation !== 'Strict') return strict
  const given = typeMetaOf(isObject(body) ? body : {})
  if (form.isUntyped && !given.apiVersion) throw badRequest(NO_API_VERSION)
  const version = groupVersionKind(given.apiVersion, given.kind).version || form.version
  const givenKind = given.kind || form.kind
  throw cannotHandle(givenKind, version, form.isUntyped ? givenKind : form.kind, strictText(strict, isYaml))
}

const NO_API_VERSION = "Object 'apiVersion' is missing in 'object has no apiVersion field'"

/** The body as a value that may be an object; anything else is refused. */
export function decodeBody(body: Body, form: BodySpec): Decoded {
  const { bytes, mediaType } = body
  const unrecognized = (why: string): StatusError =>
    badRequest(`the object provided is unrecognized (must be of type ${form.kind}): ${why} (${summary(bytes)})`)
  try {
    const decoded = decode(body, form)
    // An alias of YAML repeats what it names.
    checkDecodedBody(decoded.value, mediaType === 'application/yaml' ? Infinity : bytes.length)
    if (mediaType !== 'application/cbor') checkTypeMeta(decoded.value, unrecognized, mediaType === 'application/yaml')
    else if (form.isUntyped) checkTypeInCbor(decoded.value, bytes, form, unrecognized)
    else checkTypeOfCbor(decoded, bytes, unrecognized)
    if (form.isUntyped && !(isObject(decoded.value) && getOwn(decoded.value, 'kind'))) {
      throw unrecognized(`Object 'Kind' is missing in '${bytes.toString()}'`)
    }
    return decoded
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    const failsAtOnce = mediaType === 'application/cbor' && !isCborMap(bytes)
    if (error.kind === 'unacceptable' && !failsAtOnce && (IN_TWO_STEPS.has(mediaType) || form.isUntyped)) {
      throw cannotHandle(form.kind, form.version, form.kind, error.message)
    }
    throw unrecognized(`${UNREADABLE[mediaType] ?? ''}${error.message}`)
  }
}

/** Whether the item is a map; it may begin with the tag that says that it is CBOR. */
const isCborMap = (bytes: Buffer): boolean => (bytes[bytes.indexOf('d9d9f7', 0, 'hex') === 0 ? 3 : 0] ?? 0) >> 5 === 5

/** Encodings whose type is decoded first, and the rest when that is known. */
const IN_TWO_STEPS: ReadonlySet<string> = new Set(['application/cbor', 'application/vnd.kubernetes.protobuf'])

const NO_TYPE_IN_JSON = "couldn't get version/kind; json parse error: "
const UNREADABLE: Readonly<Record<string, string>> = {
  '': NO_TYPE_IN_JSON,
  'application/json': NO_TYPE_IN_JSON,
  'application/cbor': 'unable to determine group/version/kind: ',
}

function decode({ bytes, mediaType, accepted = BODY_TYPES }: Body, { protobuf, isUntyped }: BodySpec): Decoded {
  switch (mediaType) {
    case '':
    case 'application/json':
      return decodeJson(bytes)
    case 'application/yaml':
      return decodeYaml(bytes)
    case 'application/cbor':
      return isUntyped ? decodeCbor(bytes) : decodeCborForType(bytes)
    case 'application/vnd.kubernetes.protobuf':
      if (protobuf) return { value: protobuf.decode(bytes), duplicates: [] }
      throw unsupportedMediaType(accepted.filter(type => type !== mediaType))
    default:
      throw unsupportedMediaType(accepted)
  }
}

/** What `checkTypeMeta` does, for CBOR and with the messages of its decoder. */
function checkTypeOfCbor({ value, cbor }: Decoded, bytes: Buffer, unrecognized: (why: string) => StatusError): void {
  if (value === null) return
  const source = { root: value, marks: cbor ?? newCborMarks(), goType: 'v1.TypeMeta' }
  const refuse = (error: string): StatusError => unrecognized(`${UNREADABLE['application/cbor']}${error}`)
  if (!isObject(value)) return refuseNoStruct(value, bytes, unrecognized)
  for (const member of ['apiVersion', 'kind']) {
    const given = getOwn(value, member) ?? ''
    if (typeof given !== 'string') throw refuse(cborMismatch(source, [member], given, 'string'))
  }
}

function refuseNoStruct(value: Value, bytes: Buffer, unrecognized: (why: string) => StatusError): never {
  const source = { root: value, marks: newCborMarks(), goType: 'v1.TypeMeta' }
  const error = cborMismatch(source, [], value, source.goType, 'struct', cborTypeName(bytes))
  throw unrecognized(`${UNREADABLE['application/cbor']}${error}`)
}

/** The same for CBOR of custom objects, whose messages show the body in diagnostic notation. */
function checkTypeInCbor(
  value: Value,
  bytes: Buffer,
  { kind }: BodySpec,
  unrecognized: (why: string) => StatusError,
): void {
  const given = isObject(value) ? value : {}
  if (value !== null && !isObject(value)) refuseNoStruct(value, bytes, unrecognized)
  const missing = (what: string): string => `Object '${what}' is missing in '${diagnoseCbor(bytes)}'`
  const givenKind = getOwn(given, 'kind')
  if (typeof givenKind !== 'string' || givenKind === '') throw unrecognized(missing('Kind'))
  const givenVersion = getOwn(given, 'apiVersion')
  if (typeof givenVersion !== 'string' || givenVersion === '') {
    throw cannotHandle(givenKind, '', kind, missing('apiVersion'))
  }
}

const SUMMARY_BYTES = 30

/** The beginning of a body that cannot be decoded: as text if it looks like JSON, else in hexadecimal. */
function summary(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>'
  const begin = bytes.subarray(0, SUMMARY_BYTES).toString(bytes[0] === 0x7b ? 'utf8' : 'hex')
  return bytes.length > SUMMARY_BYTES ? `${begin} ...` : begin
}
