import { expect, test } from 'vitest'
import { futureRevision, StorageError } from '../storage/storage-error.js'
import { asStatus, statusOf } from './storage-status.js'

test('a read at a resourceVersion that the store has not reached is repeated until it has', async () => {
  let revision = 1
  const read = async (): Promise<number> => {
    if (revision < 3) throw futureRevision(3, revision++)
    return revision
  }
  expect(await asStatus(3n, read)).toBe(3)
})

test('a read without a resourceVersion is not repeated', async () => {
  const reads: number[] = []
  const read = async (): Promise<never> => {
    reads.push(1)
    throw futureRevision(3, 1)
  }
  await expect(asStatus(0, read)).rejects.toThrow('Too large resource version')
  expect(reads).toHaveLength(1)
})

test('a value that is too large for etcd is answered in its words, one that is too large here is a 413', () => {
  const fromEtcd = new StorageError('value-too-large', 'etcdserver: request is too large', undefined, new Error('grpc'))
  expect(statusOf(fromEtcd, 0).status).toMatchObject({ code: 500, message: 'etcdserver: request is too large' })
  expect(statusOf(new StorageError('value-too-large', 'over the limit'), 0).status.code).toBe(413)
})

test('a name that no key can have is refused as a bad request', () => {
  expect(statusOf(new StorageError('key-too-large', 'a key of 5015 bytes is over 1024'), 0).status).toMatchObject({
    code: 400,
    message: 'a key of 5015 bytes is over 1024',
  })
})
