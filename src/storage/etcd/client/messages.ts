// The part of etcd's v3 API that this store uses: messages, fields by number, and their encoding as gRPC frames.
// Fields that are not listed here are skipped when decoding.
import protobuf from 'protobufjs/light.js'
import { FRAME_HEADER_BYTES } from './frames.js'

export interface Header {
  /** Of 64 bits: rounded to a number, it still differs between clusters. */
  readonly clusterId: number
  readonly revision: number
  readonly raftTerm: number
}

export interface KeyValue {
  readonly key: Buffer
  readonly value: Buffer
  readonly createRevision: number
  readonly modRevision: number
  /** The number of writes to the key since it was created. */
  readonly version: number
}

export interface RangeRequest {
  readonly key: Buffer
  /** The key after the last one; without it, `key` alone is read. */
  readonly rangeEnd?: Buffer
  readonly limit?: number
  readonly revision?: number
  readonly serializable?: boolean
  readonly keysOnly?: boolean
  readonly countOnly?: boolean
}

export interface RangeResponse {
  readonly header: Header | null
  readonly kvs: readonly KeyValue[]
  /** The number of all keys in the range, regardless of the limit. */
  readonly count: number
}

export interface Compare {
  readonly key: Buffer
  readonly target: CompareTarget
  readonly version?: number
  readonly modRevision?: number
}

export const CompareTarget = { version: 0, modRevision: 2 } as const
export type CompareTarget = (typeof CompareTarget)[keyof typeof CompareTarget]

export interface RequestOp {
  readonly range?: RangeRequest
  readonly put?: { readonly key: Buffer; readonly value: Uint8Array }
  readonly deleteRange?: { readonly key: Buffer }
}

export interface TxnRequest {
  readonly compare: readonly Compare[]
  readonly success: readonly RequestOp[]
  readonly failure?: readonly RequestOp[]
}

export interface TxnResponse {
  readonly header: Header | null
  readonly succeeded: boolean
  readonly responses: readonly { readonly range: RangeResponse | null }[]
}

export interface CompactionRequest {
  readonly revision: number
}

export interface WatchRequest {
  readonly create?: {
    readonly key: Buffer
    readonly rangeEnd?: Buffer
    readonly startRevision: number
    readonly progressNotify: boolean
    readonly prevKv: boolean
    /** Allows etcd to split long responses into fragments. */
    readonly fragment: boolean
  }
  readonly progress?: Record<string, never>
}

export interface WatchEvent {
  readonly type: EventType
  readonly kv: KeyValue | null
  readonly prevKv: KeyValue | null
}

export const EventType = { put: 0, delete: 1 } as const
export type EventType = (typeof EventType)[keyof typeof EventType]

export interface WatchResponse {
  readonly header: Header | null
  /** The watch of this response; -1 in the answer to a progress request, which is about all watches of the stream. */
  readonly watchId: number
  readonly created: boolean
  readonly canceled: boolean
  readonly compactRevision: number
  readonly cancelReason: string
  /** The next response continues this one. */
  readonly fragment: boolean
  readonly events: readonly WatchEvent[]
}

export interface StatusResponse {
  /** The version of the answering member, such as `3.5.13`. */
  readonly version: string
  /** The size of the database file, in bytes. */
  readonly dbSize: number
}

/** A method of etcd's API: its path and the encoding of its messages. */
export interface Method<Request, Response> {
  readonly path: string
  /** The request as a gRPC frame: five bytes of header, then the message. */
  encode(request: Request): Buffer
  decode(message: Buffer): Response
}

const root = protobuf.Root.fromJSON({
  nested: {
    Header: message({ clusterId: ['int64', 1], revision: ['int64', 3], raftTerm: ['int64', 4] }),
    KeyValue: message({
      key: ['bytes', 1],
      createRevision: ['int64', 2],
      modRevision: ['int64', 3],
      version: ['int64', 4],
      value: ['bytes', 5],
    }),
    RangeRequest: message({
      key: ['bytes', 1],
      rangeEnd: ['bytes', 2],
      limit: ['int64', 3],
      revision: ['int64', 4],
      serializable: ['bool', 7],
      keysOnly: ['bool', 8],
      countOnly: ['bool', 9],
    }),
    RangeResponse: message({ header: ['Header', 1], kvs: ['KeyValue', 2, 'repeated'], count: ['int64', 4] }),
    PutRequest: message({ key: ['bytes', 1], value: ['bytes', 2] }),
    DeleteRangeRequest: message({ key: ['bytes', 1] }),
    Compare: message({ target: ['int32', 2], key: ['bytes', 3], version: ['int64', 4], modRevision: ['int64', 6] }),
    RequestOp: message({ range: ['RangeRequest', 1], put: ['PutRequest', 2], deleteRange: ['DeleteRangeRequest', 3] }),
    TxnRequest: message({
      compare: ['Compare', 1, 'repeated'],
      success: ['RequestOp', 2, 'repeated'],
      failure: ['RequestOp', 3, 'repeated'],
    }),
    ResponseOp: message({ range: ['RangeResponse', 1] }),
    TxnResponse: message({ header: ['Header', 1], succeeded: ['bool', 2], responses: ['ResponseOp', 3, 'repeated'] }),
    CompactionRequest: message({ revision: ['int64', 1] }),
    CompactionResponse: message({ header: ['Header', 1] }),
    WatchCreateRequest: message({
      key: ['bytes', 1],
      rangeEnd: ['bytes', 2],
      startRevision: ['int64', 3],
      progressNotify: ['bool', 4],
      prevKv: ['bool', 6],
      fragment: ['bool', 8],
    }),
    Empty: message({}),
    WatchRequest: message({ create: ['WatchCreateRequest', 1], progress: ['Empty', 3] }),
    WatchEvent: message({ type: ['int32', 1], kv: ['KeyValue', 2], prevKv: ['KeyValue', 3] }),
    WatchResponse: message({
      header: ['Header', 1],
      watchId: ['int64', 2],
      created: ['bool', 3],
      canceled: ['bool', 4],
      compactRevision: ['int64', 5],
      cancelReason: ['string', 6],
      fragment: ['bool', 7],
      events: ['WatchEvent', 11, 'repeated'],
    }),
    StatusResponse: message({ version: ['string', 2], dbSize: ['int64', 3] }),
  },
})
setDefaults()

export const RANGE = method<RangeRequest, RangeResponse>('etcdserverpb.KV/Range', 'RangeRequest', 'RangeResponse')
export const TXN = method<TxnRequest, TxnResponse>('etcdserverpb.KV/Txn', 'TxnRequest', 'TxnResponse')
export const COMPACT = method<CompactionRequest, object>(
  'etcdserverpb.KV/Compact',
  'CompactionRequest',
  'CompactionResponse',
)
export const WATCH = method<WatchRequest, WatchResponse>('etcdserverpb.Watch/Watch', 'WatchRequest', 'WatchResponse')
export const STATUS = method<object, StatusResponse>('etcdserverpb.Maintenance/Status', 'Empty', 'StatusResponse')

type FieldSpec = [type: string, id: number, rule?: 'repeated']

function message(fields: Record<string, FieldSpec>): protobuf.IType {
  const entries = Object.entries(fields).map(([name, [type, id, rule]]) => [name, { type, id, ...(rule && { rule }) }])
  return { fields: Object.fromEntries(entries) as Record<string, protobuf.IField> }
}

/** Fields that are absent decode as zero: 64-bit ones as the number 0, bytes as an empty Buffer. */
function setDefaults(): void {
  const empty = Buffer.alloc(0)
  for (const type of root.nestedArray) {
    if (!(type instanceof protobuf.Type)) continue
    const prototype = type.ctor.prototype as Record<string, unknown>
    for (const field of type.fieldsArray) {
      field.resolve()
      if (field.repeated) continue
      if (field.type === 'int64') prototype[field.name] = 0
      else if (field.type === 'bytes') prototype[field.name] = empty
    }
  }
}

/** Requests are written here before they are copied to a buffer of their exact size. */
let scratch = new protobuf.BufferWriter()
const MAX_SCRATCH_BYTES = 64 * 1024

function method<Request, Response>(path: string, request: string, response: string): Method<Request, Response> {
  const requestType = root.lookupType(request)
  const responseType = root.lookupType(response)
  return {
    path: `/${path}`,
    encode(value) {
      scratch.pos = 0
      if (scratch.states) scratch.states.length = 0
      // Five bytes for the frame header first, so that the message need not be copied to prepend one.
      requestType.encode(value as Record<string, unknown>, scratch.uint32(0).fixed32(0))
      const frame = scratch.finish() as Buffer
      frame.writeUInt32BE(frame.length - FRAME_HEADER_BYTES, 1)
      if (scratch.buf.length > MAX_SCRATCH_BYTES) scratch = new protobuf.BufferWriter()
      return frame
    },
    decode: bytes => responseType.decode(new NumberReader(bytes) as unknown as protobuf.Reader) as unknown as Response,
  }
}

/** Decodes int64 as numbers. By default protobufjs creates Long objects; changing that would affect the process. */
class NumberReader extends protobuf.BufferReader {
  // @ts-expect-error: declared to return a Long
  override int64(): number {
    let low = 0
    let byte: number
    // Numbers below 2^28 end within four bytes.
    for (let shift = 0; shift < 28; shift += 7) {
      byte = this.#next()
      low |= (byte & 127) << shift
      if (byte < 128) return low
    }
    let value = low
    let factor = 2 ** 28
    for (let i = 4; i < 9; i++) {
      byte = this.#next()
      value += (byte & 127) * factor
      if (byte < 128) return value
      factor *= 128
    }
    // Ten bytes: an id of a cluster from 2^63 on, or a negative number, of which etcd sends only -1.
    this.#next()
    return value === 2 ** 63 ? -1 : value
  }

  #next(): number {
    if (this.pos >= this.len) throw new RangeError('a number is cut off')
    return this.buf[this.pos++]!
  }
}
