// The part of etcd's v3 API that this store uses: messages, fields by number, and their encoding as gRPC frames.
// Fields that are not listed here are skipped when decoding.
import { message, messageTypes } from './message-types.js'

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
  readonly put?: { readonly key: Buffer; readonly value: Uint8Array; readonly lease?: number }
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

export interface LeaseGrantRequest {
  /** Chosen by the client: the numbers of etcd have 64 bits. */
  readonly id: number
  /** In seconds. */
  readonly ttl: number
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

const method = messageTypes({
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
  PutRequest: message({ key: ['bytes', 1], value: ['bytes', 2], lease: ['int64', 3] }),
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
  LeaseGrantRequest: message({ ttl: ['int64', 1], id: ['int64', 2] }),
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
})

export const RANGE = method<RangeRequest, RangeResponse>('etcdserverpb.KV/Range', 'RangeRequest', 'RangeResponse')
export const TXN = method<TxnRequest, TxnResponse>('etcdserverpb.KV/Txn', 'TxnRequest', 'TxnResponse')
export const LEASE_GRANT = method<LeaseGrantRequest, object>(
  'etcdserverpb.Lease/LeaseGrant',
  'LeaseGrantRequest',
  'Empty',
)
export const COMPACT = method<CompactionRequest, object>(
  'etcdserverpb.KV/Compact',
  'CompactionRequest',
  'CompactionResponse',
)
export const WATCH = method<WatchRequest, WatchResponse>('etcdserverpb.Watch/Watch', 'WatchRequest', 'WatchResponse')
export const STATUS = method<object, StatusResponse>('etcdserverpb.Maintenance/Status', 'Empty', 'StatusResponse')
