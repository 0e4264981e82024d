// Classifies a failed call to etcd: the StorageError for it, whether it may be retried, and whether to use another
// member.
import { StorageError, type StorageErrorCode } from '../../storage-error.js'
import { GrpcCode, GrpcError } from './grpc.js'

export interface CallFailure {
  readonly error: StorageError
  /** Nothing was done, or doing it twice is harmless. */
  readonly retryable: boolean
  /** The member or the connection to it failed. */
  readonly failOver: boolean
}

export const COMPACTED = 'etcdserver: mvcc: required revision has been compacted'
export const FUTURE_REVISION = 'etcdserver: mvcc: required revision is a future revision'

/** Errors with which etcd refuses before it does anything: the request was not and will not be carried out. */
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

/** Errors that a retry does not change, with their codes. */
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

/** Classifies the error of a call. Reads may always be retried; a write only if it was certainly not done. */
export function classifyFailure(thrown: unknown, isWrite: boolean): CallFailure {
  if (thrown instanceof StorageError) return { error: thrown, retryable: false, failOver: false }
  // A response arrived but cannot be decoded, so a write was probably done.
  if (!(thrown instanceof GrpcError))
    return { error: asStorageError('corrupt', thrown, isWrite), retryable: false, failOver: true }

  if (thrown.progress === 'answered') {
    const refusal = REFUSALS.get(thrown.message) ?? refusalByCode(thrown)
    if (refusal) return { error: asStorageError(refusal, thrown, false), retryable: false, failOver: false }
    if (NOT_DONE.has(thrown.message))
      return { error: asStorageError('unavailable', thrown, false), retryable: true, failOver: true }
  }
  // All other errors occur during processing: "request timed out", "leader changed", "server stopped".
  const unsure = isWrite && thrown.progress !== 'unsent'
  return { error: asStorageError('unavailable', thrown, unsure), retryable: !unsure, failOver: true }
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
