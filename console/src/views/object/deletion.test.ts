import { expect, test } from 'vitest'
import { whyDeletionWaits } from './deletion.js'

const NOW = Date.parse('2026-01-01T00:00:10Z')
const deletionTimestamp = '2026-01-01T00:00:30Z'

test('each finalizer is a reason', () => {
  const metadata = { name: 'a', deletionTimestamp, finalizers: ['example.com/cleanup', 'foregroundDeletion'] }
  expect(whyDeletionWaits({ metadata }, NOW)).toEqual([
    expect.stringContaining('example.com/cleanup'),
    expect.stringContaining('owns'),
  ])
})

test('a namespace says what remains', () => {
  const object = {
    kind: 'Namespace',
    metadata: { name: 'a', deletionTimestamp },
    spec: { finalizers: ['kubernetes'] },
    status: { conditions: [{ type: 'NamespaceContentRemaining', status: 'True', message: 'widgets has 3 instances' }] },
  }
  expect(whyDeletionWaits(object, NOW)).toEqual(['widgets has 3 instances'])
})

test('a grace period has seconds left', () => {
  const metadata = { name: 'a', deletionTimestamp, deletionGracePeriodSeconds: 30 }
  expect(whyDeletionWaits({ metadata }, NOW)).toEqual(['It has 20 s left of its grace period of 30 s.'])
})
