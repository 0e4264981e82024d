// Values in etcd as kube-apiserver has them there. Above this, every value is JSON in the form of stored-object.ts; below
// it, objects may also be protobuf or CBOR, and JSON as others write it. So this server can be started on the data of a
// cluster, and kube-apiserver on the data of this server.
import { decodeCbor, encodeCbor, SELF_DESCRIBED } from '../codec/cbor.js'
import { createInternedParts, decodeJson, type InternedParts } from '../codec/json.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { equalValues, isObject, type Value } from '../meta/values/value.js'
import type { Entry, Page, Store, StoreEvent, WriteResult } from '../storage/store.js'
import { decodeObject, encodeObject, isEnvelope, openEnvelope } from '../types/protobuf.js'
import type { Types } from '../types/type.js'
import { shapeTyped } from '../types/typed-body.js'
import { createRecentForms } from './recent-forms.js'
import { createStoredCodec, encodeStored, type StoredCodec } from './stored-object.js'
import { undecodable } from './unreadable.js'

export interface StoredEncoding {
  /** The types of the built-in kinds. Objects of other kinds have no protobuf. */
  readonly types: Types
  /** Whether built-in objects are written as protobuf; otherwise as JSON. */
  readonly protobuf: boolean
  /** Whether objects of other kinds are written as CBOR; otherwise as JSON. */
  readonly cbor: boolean
  /** Kinds whose objects have another form in etcd than in this server. */
  readonly storedForms?: readonly StoredForm[] | undefined
  /** Versions of built-in kinds that are read and never written, by version and kind. */
  readonly oldVersions?: OldVersions | undefined
  /** Fills in what is newer than a built-in object. May change its argument. */
  readonly complete?: ((object: ApiObject) => ApiObject) | undefined
  /** Where the field sets of objects are kept as text and value; own ones when absent. */
  readonly parts?: InternedParts | undefined
}

type OldVersions = ReadonlyMap<string, ReadonlyMap<string, OldVersion>>

interface OldVersion {
  /** The version that has the same fields. */
  readonly apiVersion: string
  readonly convert?: ((object: ApiObject) => ApiObject) | undefined
}

interface Encoding extends StoredEncoding {
  readonly parts: InternedParts
  readonly codec: StoredCodec
}

export interface StoredForm {
  readonly kind: string
  /** The version here, and the version in etcd. */
  readonly apiVersion: string
  readonly storedVersion: string
  toStored(object: ApiObject): ApiObject
  fromStored(object: ApiObject): ApiObject
}

export function createEncodedStore(store: Store, given: StoredEncoding): Store {
  const parts = given.parts ?? createInternedParts()
  const encoding: Encoding = { ...given, parts, codec: createStoredCodec(parts) }
  const read = createReader(encoding)
  const encode = createWriter(encoding)
  const recent = createRecentForms()
  const entryOf = (entry: Entry): Entry => {
    const value = recent.find(entry.key, entry.value) ?? read(entry.value)
    return value === entry.value ? entry : { ...entry, value }
  }
  /** The latest entry of a key: its event, and what is asked next, have the same value. */
  const latestOf = (entry: Entry): Entry => {
    const latest = entryOf(entry)
    if (latest !== entry) recent.add(entry.key, entry.value, latest.value)
    return latest
  }
  const write = (key: string, value: Uint8Array): Buffer => {
    const json = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    const encoded = encode(json)
    if (encoded !== json) recent.add(key, encoded, json)
    return encoded
  }
  const resultOf = (result: WriteResult): WriteResult =>
    result.done || !result.current ? result : { done: false, current: latestOf(result.current) }
  const eventOf = (event: StoreEvent): StoreEvent => {
    const { key, value: encoded } = event
    const previous = event.previous && entryOf(event.previous)
    const value = encoded && (recent.find(key, encoded) ?? read(encoded))
    if (encoded && value && value !== encoded) recent.add(key, encoded, value)
    return { ...event, value, previous }
  }
  return {
    ...store,
    async get(key, at) {
      const entry = await store.get(key, at)
      return entry && (at === undefined || at === 'latest' ? latestOf(entry) : entryOf(entry))
    },
    async range(prefix, options): Promise<Page> {
      const page = await store.range(prefix, options)
      return { ...page, entries: page.entries.map(entryOf) }
    },
    create: async (key, value, guard) => resultOf(await store.create(key, write(key, value), guard)),
    update: async (key, value, expected, guard) =>
      resultOf(await store.update(key, write(key, value), expected, guard)),
    delete: async (key, expected) => resultOf(await store.delete(key, expected)),
    ...(store.putWithTtl && {
      putWithTtl: (key: string, value: Uint8Array, seconds: number) =>
        store.putWithTtl!(key, write(key, value), seconds),
    }),
    watch: (target, after, sink) =>
      store.watch(target, after, {
        ...sink,
        event: event => sink.event(eventOf(event)),
        end: error => sink.end(error),
      }),
  }
}

// ---- reading

const NEWLINE = 0x0a
const BRACE = 0x7b
/** How the JSON of this server begins, and usually that of others. */
const HEAD = /^\{"apiVersion":"([^"\\]+)","kind":"([^"\\]+)","metadata":\{/
const HEAD_LENGTH = 512
const headOf = (json: Buffer): string => json.toString('latin1', 0, HEAD_LENGTH)

function createReader(encoding: Encoding): (value: Buffer) => Buffer {
  const { types, codec, complete = (object: ApiObject) => object } = encoding
  return value => {
    try {
      if (isEnvelope(value)) return codec.encode(complete(openObject(encoding, value)))
      if (value.subarray(0, SELF_DESCRIBED.length).equals(SELF_DESCRIBED)) return stored(types, decodeCbor(value).value)
      return fromJson(encoding, value)
    } catch (error) {
      // A request that needs the object gets the error. That of damaged JSON is found again when it is parsed.
      return value[0] === BRACE ? value : undecodable(error as Error)
    }
  }
}

/** The object in an envelope. Protobuf has empty values that JSON leaves out. */
function openObject({ types, parts, oldVersions }: Encoding, value: Uint8Array): ApiObject {
  const envelope = openEnvelope(value)
  const { kind } = envelope
  const old = oldVersions?.get(envelope.apiVersion)?.get(kind)
  const apiVersion = old?.apiVersion ?? envelope.apiVersion
  const { object } = shapeTyped(
    types,
    apiVersion,
    kind,
    decodeObject(types, { ...envelope, apiVersion }, undefined, parts),
    [],
  )
  return old?.convert ? old.convert(object) : object
}

function withCurrentVersion(object: ApiObject, oldVersions: OldVersions | undefined): ApiObject {
  const old = oldVersions?.get(object.apiVersion)?.get(object.kind)
  if (!old) return object
  const current = { ...object, apiVersion: old.apiVersion }
  return old.convert ? old.convert(current) : current
}

function fromJson(encoding: StoredEncoding, value: Buffer): Buffer {
  const { types, storedForms = [], oldVersions, complete } = encoding
  // kube-apiserver ends JSON with a newline, which would split the line of a watch event.
  const text = value.at(-1) === NEWLINE ? value.subarray(0, -1) : value
  if (text[0] !== BRACE) return text
  const head = headOf(text)
  const form = storedForms.find(({ storedVersion }) => head.includes(`"apiVersion":"${storedVersion}"`))
  const [, apiVersion = '', kind = ''] = HEAD.exec(head) ?? []
  if (!form && apiVersion !== '' && !oldVersions?.get(apiVersion)?.has(kind)) return text
  const object = decodeJson(text, { floatMinusZero: true }).value
  if (!isObject(object)) return stored(types, object)
  if (form) return stored(types, form.fromStored(object as ApiObject))
  const current = withCurrentVersion(object as ApiObject, oldVersions)
  return stored(types, complete && isObject(current.metadata) ? complete(current) : current)
}

/** The members of custom objects are sorted by name, as kube-apiserver shows them. */
function stored(types: Types, value: Value): Buffer {
  if (!isObject(value) || !isObject(value['metadata'])) throw new Error('no object')
  const object = value as ApiObject
  return encodeStored(object, types.ofKind(object.apiVersion, object.kind) === undefined)
}

// ---- writing

function createWriter(encoding: Encoding): (json: Buffer) => Buffer {
  const { types, protobuf, cbor, codec, storedForms = [] } = encoding
  const formOf = (apiVersion: string, kind: string): StoredForm | undefined =>
    storedForms.find(each => each.apiVersion === apiVersion && each.kind === kind)
  const staysJson = (apiVersion: string, kind: string): boolean =>
    !formOf(apiVersion, kind) && (types.ofKind(apiVersion, kind) ? !protobuf || isAlwaysJson(apiVersion) : !cbor)
  return json => {
    // What is not an object, such as a key of the server, is stored as it is.
    if (json[0] !== BRACE) return json
    const head = HEAD.exec(headOf(json))
    if (head && staysJson(head[1]!, head[2]!)) return json
    const value = codec.parse(json)
    if (!isObject(value) || !isObject(value['metadata'])) return json
    const object = value as ApiObject
    const { apiVersion, kind } = object
    const form = formOf(apiVersion, kind)
    if (form) return encodeStored(form.toStored(object))
    if (staysJson(apiVersion, kind)) return json
    return types.ofKind(apiVersion, kind) ? (exactProtobuf(encoding, object) ?? json) : encodeCbor(object)
  }
}

/** kube-apiserver stores definitions and APIServices as JSON. */
const isAlwaysJson = (apiVersion: string): boolean =>
  apiVersion.startsWith('apiextensions.k8s.io/') || apiVersion.startsWith('apiregistration.k8s.io/')

/** Undefined if the object would be read back as another one. */
function exactProtobuf(encoding: Encoding, object: ApiObject): Buffer | undefined {
  const { types, parts, complete } = encoding
  const bytes = encodeObject(types, object, parts)
  if (!bytes || equalValues(openObject(encoding, bytes), object)) return bytes
  // Protobuf has no apiVersion and kind of objects within, such as the claims of a StatefulSet.
  return complete && equalValues(complete(openObject(encoding, bytes)), object) ? bytes : undefined
}
