import { describe, expect, test } from 'vitest'
import { classifyFailure } from './etcd-errors.js'
import { type CallProgress, GrpcCode, GrpcError } from './grpc.js'

const classified = (code: number, message: string, progress: CallProgress, isWrite: boolean) => {
  const { error, retryable } = classifyFailure(new GrpcError(code, message, progress), isWrite)
  return [error.code, retryable] as const
}

describe('a failed write', () => {
  test.each<[message: string, code: number, progress: CallProgress, expected: string, again: boolean]>([
    ['the call was not taken', GrpcCode.unavailable, 'unsent', 'unavailable', true],
    ['no answer came in time', GrpcCode.deadlineExceeded, 'unsent', 'unavailable', true],
    ['no answer came in time', GrpcCode.deadlineExceeded, 'lost', 'outcome-unknown', false],
    ['the connection broke', GrpcCode.unavailable, 'lost', 'outcome-unknown', false],
    ['etcdserver: no leader', GrpcCode.unavailable, 'answered', 'unavailable', true],
    ['etcdserver: too many requests', GrpcCode.resourceExhausted, 'answered', 'unavailable', true],
    ['etcdserver: rpc not supported for learner', GrpcCode.unavailable, 'answered', 'unavailable', true],
    ['etcdserver: request timed out', GrpcCode.unavailable, 'answered', 'outcome-unknown', false],
    [
      'etcdserver: request timed out, possibly due to connection lost',
      GrpcCode.unavailable,
      'answered',
      'outcome-unknown',
      false,
    ],
    ['etcdserver: leader changed', GrpcCode.unavailable, 'answered', 'outcome-unknown', false],
    ['etcdserver: server stopped', GrpcCode.unavailable, 'answered', 'outcome-unknown', false],
    ['something new', GrpcCode.unknown, 'answered', 'outcome-unknown', false],
    ['something new', GrpcCode.internal, 'answered', 'outcome-unknown', false],
    ['etcdserver: mvcc: database space exceeded', GrpcCode.resourceExhausted, 'answered', 'no-space', false],
    ['etcdserver: request is too large', GrpcCode.invalidArgument, 'answered', 'value-too-large', false],
    [
      'grpc: received message larger than max (9 vs. 8)',
      GrpcCode.resourceExhausted,
      'answered',
      'value-too-large',
      false,
    ],
    ['etcdserver: corrupt cluster', GrpcCode.dataLoss, 'answered', 'corrupt', false],
    ['etcdserver: permission denied', GrpcCode.permissionDenied, 'answered', 'unavailable', false],
    ['etcdserver: invalid auth token', GrpcCode.unauthenticated, 'answered', 'unavailable', false],
  ])('%s (%i, %s) is %s', (message, code, progress, expected, retryable) => {
    expect(classified(code, message, progress, true)).toEqual([expected, retryable])
  })

  test('with an undecodable response may have been done', () => {
    const { error, retryable } = classifyFailure(new RangeError('index out of range'), true)
    expect([error.code, retryable]).toEqual(['outcome-unknown', false])
  })
})

describe('a failed read', () => {
  test.each<[message: string, code: number, progress: CallProgress, expected: string, again: boolean]>([
    ['the connection broke', GrpcCode.unavailable, 'lost', 'unavailable', true],
    ['no answer came in time', GrpcCode.deadlineExceeded, 'lost', 'unavailable', true],
    ['etcdserver: leader changed', GrpcCode.unavailable, 'answered', 'unavailable', true],
    ['etcdserver: request timed out', GrpcCode.unavailable, 'answered', 'unavailable', true],
    ['etcdserver: mvcc: required revision has been compacted', GrpcCode.outOfRange, 'answered', 'compacted', false],
    [
      'etcdserver: mvcc: required revision is a future revision',
      GrpcCode.outOfRange,
      'answered',
      'future-revision',
      false,
    ],
    ['etcdserver: permission denied', GrpcCode.permissionDenied, 'answered', 'unavailable', false],
  ])('%s (%i, %s) is %s', (message, code, progress, expected, retryable) => {
    expect(classified(code, message, progress, false)).toEqual([expected, retryable])
  })

  test('with an undecodable response is reported as corrupt', () => {
    const { error, retryable } = classifyFailure(new RangeError('index out of range'), false)
    expect([error.code, retryable]).toEqual(['corrupt', false])
  })
})
