// A value as the body of a request, in each of the encodings of the API.
import { encodeCbor } from '../../src/codec/cbor.js'
import { encodeJson } from '../../src/codec/json.js'
import { encodeYaml } from '../../src/codec/yaml.js'
import type { ApiObject } from '../../src/meta/object/api-object.js'
import { isObject, type Value } from '../../src/meta/values/value.js'
import { builtinTypes } from '../../src/types/type-table.js'
import { protobufCodec } from '../../src/types/typed-body.js'

export const ENCODINGS = ['json', 'yaml', 'cbor', 'protobuf'] as const
export type Encoding = (typeof ENCODINGS)[number]

export const MEDIA_TYPE_OF: Readonly<Record<Encoding, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  cbor: 'application/cbor',
  protobuf: 'application/vnd.kubernetes.protobuf',
}

/** What an encoding cannot express is sent as JSON, under the name of the encoding. */
export function encodeBody(value: Value, encoding: Encoding): Buffer {
  try {
    if (encoding === 'yaml') return Buffer.from(encodeYaml(value))
    if (encoding === 'cbor') return encodeCbor(value)
    if (encoding === 'protobuf' && isObject(value))
      return encodeProtobuf(value as ApiObject) ?? encodeBody(value, 'json')
  } catch {
    // Values of wrong types have no encoding in CBOR and protobuf.
  }
  // The value may be nested too deeply for `JSON.stringify`.
  return Buffer.from(encodeJson(value))
}

/** Undefined for kinds that have no such encoding. */
const encodeProtobuf = (object: ApiObject): Buffer | undefined =>
  protobufCodec(builtinTypes(), object.apiVersion, object.kind).encode(object)
