// What a failed call to etcd means to the caller: which StorageError it is, whether it may be tried again without
// harm, and whether another member may do better.
import { StorageError, type StorageErrorCode } from '../storage-error.js'
import { GrpcCode, GrpcError } from './grpc.js'

export interface Verdict {
  readonly error: StorageError
  /** Nothing was done, or doing it twice does no harm. */
  readonly again: boolean
  /** The fault lies with the member or the way to it. */
  readonly turn: boolean
}

export const COMPACTED = 'etcdserver: mvcc: required revision has been compacted'
export const FUTURE_REVISION = 'etcdserver: mvcc: required revision is a future revision'

/** Answers with which etcd says that it refused before it did anything: what was asked did not and will not happen. */
const NOT_DONE = new Set([
  'etcdserver: no leader',
  'etcdserver: not leader',
  'etcdserver: too many requests',
  'etcdserver: not capable',
  'etcdserver: unhealthy cluster',
  'etcdserver: rpc not supported for learner',
  'etcdserver: request ignored (cluster ID mismatch)',
  'raft proposal dropped',
  'raft: proposal dropped',
])

/** Answers that no repetition changes, by what they are to the caller. */
const REFUSALS = new Map<string, StorageErrorCode>([
  [COMPACTED, 'compacted'],
  [FUTURE_REVISION, 'future-revision'],
  ['etcdserver: mvcc: database space exceeded', 'no-space'],
  ['etcdserver: request is too large', 'value-too-large'],
  ['etcdserver: corrupt cluster', 'corrupt'],
])

const PERMANENT_CODES: ReadonlySet<number> = new Set([
  GrpcCode.invalidArgument,
  GrpcCode.permissionDenied,
  GrpcCode.unauthenticated,
  GrpcCode.unimplemented,
])

/** Judges what a call threw. Reads may always be tried again; a write only if it was surely not done. */
export function judge(thrown: unknown, isWrite: boolean): Verdict {
  if (thrown instanceof StorageError) return { error: thrown, again: false, turn: false }
  // An answer came and made no sense, so a write was probably done.
  if (!(thrown instanceof GrpcError))
    return { error: asStorageError('corrupt', thrown, isWrite), again: false, turn: true }

  if (thrown.progress === 'answered') {
    const refusal = REFUSALS.get(thrown.message) ?? refusalByCode(thrown)
    if (refusal) return { error: asStorageError(refusal, thrown, false), again: false, turn: false }
    if (NOT_DONE.has(thrown.message))
      return { error: asStorageError('unavailable', thrown, false), again: true, turn: true }
  }
  // All other answers come from the midst of work: "request timed out", "leader changed", "server stopped".
  const unsure = isWrite && thrown.progress !== 'unsent'
  return { error: asStorageError('unavailable', thrown, unsure), again: !unsure, turn: true }
}

function refusalByCode({ code, message }: GrpcError): StorageErrorCode | undefined {
  if (code === GrpcCode.resourceExhausted && message.includes('larger than max')) return 'value-too-large'
  if (code === GrpcCode.dataLoss) return 'corrupt'
  return PERMANENT_CODES.has(code) ? 'unavailable' : undefined
}

function asStorageError(code: StorageErrorCode, cause: unknown, unsure: boolean): StorageError {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (unsure) {
    const text = `etcd may or may not have done the write: ${message}`
    return new StorageError('outcome-unknown', text, undefined, cause)
  }
  return new StorageError(code, code === 'unavailable' ? `etcd cannot answer: ${message}` : message, undefined, cause)
}
