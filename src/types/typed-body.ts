// Bodies as objects of the built-in types, and their protobuf encoding.
import type { CborMarks } from '../codec/cbor.js'
import { CodecError, type CodecErrorKind } from '../codec/codec-error.js'
import { badRequest, cannotHandle } from '../meta/errors/status.js'
import { quote } from '../meta/go/go-text.js'
import { normalApiVersion } from '../meta/group-version.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { withHead } from '../meta/object/object-meta.js'
import { typeMetaOf } from '../meta/object/type-meta.js'
import { getOwn, isObject, type Value, type ValueObject } from '../meta/values/value.js'
import { decodeTyped, TypedDecodeError } from './go/decode.js'
import { decodeObject, encodeObject, openEnvelope } from './protobuf/envelope.js'
import { ProtobufError } from './protobuf/message.js'
import { haveOneType, registeredKind } from './registered-kinds.js'
import type { Type, Types } from './type.js'

/** The body as an object of the kind. It may omit apiVersion and kind; if it has them, they must match. */
export function shapeTyped(
  types: Types,
  apiVersion: string,
  kind: string,
  body: Value,
  duplicates: readonly string[],
  cbor?: CborMarks,
) {
  const given = isObject(body) ? body : {}
  const written = typeMetaOf(given)
  const givenVersion = normalApiVersion(written.apiVersion) || apiVersion
  const givenKind = written.kind || kind
  const registered = registeredKind(types, givenVersion, givenKind)
  if (registered === undefined) {
    const why = `no kind ${quote(givenKind)} is registered for version ${quote(givenVersion)} in scheme ${quote(schemeOf(apiVersion))}`
    throw cannotHandle(givenKind, versionOf(givenVersion), kind, why)
  }
  const isOther = givenKind !== kind || !haveOneType(givenVersion, apiVersion, kind)
  // The body is decoded as what it says it is, before it is converted.
  const type = registered.type ?? (isOther ? undefined : types.ofKind(apiVersion, kind))
  const decoded = type && decodeAs(type, givenKind, versionOf(givenVersion), kind, body, duplicates, cbor)
  if (isOther || decoded === undefined) {
    const why = `converting (${registered.version}.${givenKind}) to (${packageOf(apiVersion)}.${kind}): unknown conversion`
    throw cannotHandle(givenKind, versionOf(givenVersion), kind, why)
  }
  const { value, strict } = decoded
  const object = named(value, apiVersion, kind)
  // Empty lists count as absent, except this one: like one empty entry, it removes all managers.
  if (isEmptyList(given['metadata'], 'managedFields')) object.metadata['managedFields'] = [{}]
  if (givenVersion === apiVersion) return { object, strict }
  const why = `the API version in the data (${givenVersion}) does not match the expected API version (${apiVersion})`
  return { object, strict, refused: badRequest(why) }
}

function decodeAs(
  type: Type,
  givenKind: string,
  version: string,
  kind: string,
  body: Value,
  duplicates: readonly string[],
  cbor: CborMarks | undefined,
): ReturnType<typeof decodeTyped> {
  try {
    return decodeTyped(type, body, { duplicates, cbor })
  } catch (error) {
    if (error instanceof TypedDecodeError) throw cannotHandle(givenKind, version, kind, error.message)
    throw error
  }
}

/** The file of kube-apiserver that declares the scheme of a group. */
export const schemeOf = (apiVersion: string): string =>
  groupOf(apiVersion) === 'apiregistration.k8s.io'
    ? 'pkg/apiserver/scheme/scheme.go:28'
    : 'pkg/api/legacyscheme/scheme.go:30'

const isEmptyList = (object: Value | undefined, name: string): boolean => {
  const list = isObject(object) ? getOwn(object, name) : undefined
  return Array.isArray(list) && list.length === 0
}

/** The package of a group's internal types in Go. */
const packageOf = (apiVersion: string): string => groupOf(apiVersion).split('.')[0] || 'core'

/** The object with the right apiVersion and kind, which come first. */
export function named(object: ValueObject, apiVersion: string, kind: string): ApiObject {
  const metadata = object['metadata']
  return withHead(object, apiVersion, kind, isObject(metadata) ? metadata : {}) as ApiObject
}

/** The protobuf encoding of the objects of a kind. */
export interface ProtobufCodec {
  decode(bytes: Uint8Array): Value
  encode(object: ApiObject): Buffer
}

/** Of the objects of a kind; only types of Go have a protobuf encoding. */
export const protobufOf = ({ dialect, types }: Type, apiVersion: string, kind: string): ProtobufCodec | undefined =>
  dialect === 'go' ? protobufCodec(types, apiVersion, kind) : undefined

/** The versions in `sameFields` are decoded as this one. */
export const protobufCodec = (
  types: Types,
  apiVersion: string,
  kind: string,
  sameFields: readonly string[] = [],
): ProtobufCodec => ({
  decode: bytes => decodeProtobuf(types, bytes, { apiVersion, kind }, sameFields),
  encode: object => encodeObject(types, object)!,
})

/** The envelope names the kind of the message. Errors of the two differ in their kind. */
function decodeProtobuf(
  types: Types,
  bytes: Uint8Array,
  expected: { apiVersion: string; kind: string },
  sameFields: readonly string[],
): Value {
  const envelope = asCodecError('malformed', () => openEnvelope(bytes))
  const isOlder = envelope.kind === expected.kind && sameFields.includes(envelope.apiVersion)
  const read = isOlder ? { ...envelope, apiVersion: expected.apiVersion } : envelope
  return asCodecError('unacceptable', () => decodeObject(types, read, expected))
}

function asCodecError<T>(kind: CodecErrorKind, action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw error instanceof ProtobufError ? new CodecError(kind, error.message) : error
  }
}

export const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? apiVersion.split('/')[0]! : '')
export const versionOf = (apiVersion: string): string => apiVersion.slice(apiVersion.indexOf('/') + 1)
