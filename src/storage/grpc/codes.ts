// The codes of gRPC, by the names that gRPC for Go prints.
import { GrpcError } from '../etcd/client/grpc.js'

const NAMES: readonly string[] = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
]

const nameOf = (code: number): string => NAMES[code] ?? `Code(${code})`

/** The label of an error in metrics. It may be the cause of the error. */
export function grpcCodeOf(error: unknown): string {
  if (error === undefined) return 'OK'
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    if (each instanceof GrpcError) return nameOf(each.code)
  }
  return 'unknown-non-grpc'
}

/** The error of a failed call with the message that gRPC for Go prints. */
export function rpcError(error: unknown): unknown {
  if (!(error instanceof GrpcError)) return error
  const { code, message, progress } = error
  return new GrpcError(code, `rpc error: code = ${nameOf(code)} desc = ${message}`, progress, error)
}
