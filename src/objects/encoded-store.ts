// Values in etcd as kube-apiserver has them there. Above this, every value is JSON in the form of stored-object.ts; below
// it, objects may also be protobuf or CBOR, and JSON as others write it. So this server can be started on the data of a
// cluster, and kube-apiserver on the data of this server.
import { decodeCbor, encodeCbor, SELF_DESCRIBED } from '../codec/cbor.js'
import { decodeJson } from '../codec/json.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { equalValues, isObject, type Value } from '../meta/values/value.js'
import type { Entry, Page, Store, StoreEvent, WriteResult } from '../storage/store.js'
import { decodeObject, encodeObject, isEnvelope, openEnvelope } from '../types/protobuf.js'
import type { Types } from '../types/type.js'
import { shapeTyped } from '../types/typed-body.js'
import { encodeStored } from './stored-object.js'

export interface StoredEncoding {
  /** The types of the built-in kinds. Objects of other kinds have no protobuf. */
  readonly types: Types
  /** Whether built-in objects are written as protobuf; otherwise as JSON. */
  readonly protobuf: boolean
  /** Whether objects of other kinds are written as CBOR; otherwise as JSON. */
  readonly cbor: boolean
  /** Kinds whose objects have another form in etcd than in this server. */
  readonly storedForms?: readonly StoredForm[] | undefined
}

export interface StoredForm {
  readonly kind: string
  /** The version here, and the version in etcd. */
  readonly apiVersion: string
  readonly storedVersion: string
  toStored(object: ApiObject): ApiObject
  fromStored(object: ApiObject): ApiObject
}

export function createEncodedStore(store: Store, encoding: StoredEncoding): Store {
  const read = createReader(encoding)
  const write = createWriter(encoding)
  const entryOf = (entry: Entry): Entry => {
    const value = read(entry.value)
    return value === entry.value ? entry : { ...entry, value }
  }
  const resultOf = (result: WriteResult): WriteResult =>
    result.done || !result.current ? result : { done: false, current: entryOf(result.current) }
  const eventOf = (event: StoreEvent): StoreEvent => ({
    ...event,
    value: event.value && read(event.value),
    previous: event.previous && entryOf(event.previous),
  })
  return {
    ...store,
    async get(key, at) {
      const entry = await store.get(key, at)
      return entry && entryOf(entry)
    },
    async range(prefix, options): Promise<Page> {
      const page = await store.range(prefix, options)
      return { ...page, entries: page.entries.map(entryOf) }
    },
    create: async (key, value, guard) => resultOf(await store.create(key, write(value), guard)),
    update: async (key, value, expected, guard) => resultOf(await store.update(key, write(value), expected, guard)),
    delete: async (key, expected) => resultOf(await store.delete(key, expected)),
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
const HEAD = /^\{"apiVersion":"[^"\\]+","kind":"[^"\\]+","metadata":\{/
const HEAD_LENGTH = 512

function createReader({ types, storedForms = [] }: StoredEncoding): (value: Buffer) => Buffer {
  return value => {
    try {
      if (isEnvelope(value)) return fromProtobuf(types, value)
      if (value.subarray(0, SELF_DESCRIBED.length).equals(SELF_DESCRIBED)) return stored(types, decodeCbor(value).value)
      return fromJson(types, storedForms, value)
    } catch {
      // Encrypted or damaged: a request that needs the object gets the error of its bytes.
      return value
    }
  }
}

const fromProtobuf = (types: Types, value: Buffer): Buffer => encodeStored(openObject(types, value))

/** The object in an envelope. Protobuf has empty values that JSON leaves out. */
function openObject(types: Types, value: Uint8Array): ApiObject {
  const envelope = openEnvelope(value)
  return shapeTyped(types, envelope.apiVersion, envelope.kind, decodeObject(types, envelope), []).object
}

function fromJson(types: Types, forms: readonly StoredForm[], value: Buffer): Buffer {
  // kube-apiserver ends JSON with a newline, which would split the line of a watch event.
  const text = value.at(-1) === NEWLINE ? value.subarray(0, -1) : value
  if (text[0] !== BRACE) return text
  const head = text.toString('latin1', 0, HEAD_LENGTH)
  const form = forms.find(({ storedVersion }) => head.includes(`"apiVersion":"${storedVersion}"`))
  if (!form && HEAD.test(head)) return text
  const object = decodeJson(text, { floatMinusZero: true }).value
  return stored(types, form && isObject(object) ? form.fromStored(object as ApiObject) : object)
}

/** The members of custom objects are sorted by name, as kube-apiserver shows them. */
function stored(types: Types, value: Value): Buffer {
  if (!isObject(value) || !isObject(value['metadata'])) throw new Error('no object')
  const object = value as ApiObject
  return encodeStored(object, types.ofKind(object.apiVersion, object.kind) === undefined)
}

// ---- writing

function createWriter({ types, protobuf, cbor, storedForms = [] }: StoredEncoding): (value: Uint8Array) => Uint8Array {
  return value => {
    // What is not an object, such as a key of the server, is stored as it is.
    if (value[0] !== BRACE) return value
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    const { value: object } = decodeJson(bytes, { floatMinusZero: true })
    if (!isObject(object) || !isObject(object['metadata'])) return value
    const { apiVersion, kind } = object as ApiObject
    const form = storedForms.find(each => each.apiVersion === apiVersion && each.kind === kind)
    if (form) return encodeStored(form.toStored(object as ApiObject))
    const type = types.ofKind(apiVersion, kind)
    if (!type) return cbor ? encodeCbor(object) : value
    return (protobuf && !isAlwaysJson(object as ApiObject) && exactProtobuf(types, object as ApiObject)) || value
  }
}

/** kube-apiserver stores definitions and APIServices as JSON. */
const isAlwaysJson = ({ apiVersion }: ApiObject): boolean =>
  apiVersion.startsWith('apiextensions.k8s.io/') || apiVersion.startsWith('apiregistration.k8s.io/')

/** Undefined if the object would be read back as another one. */
function exactProtobuf(types: Types, object: ApiObject): Buffer | undefined {
  const bytes = encodeObject(types, object)
  return bytes && equalValues(openObject(types, bytes), object) ? bytes : undefined
}
