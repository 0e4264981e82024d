import { afterEach, expect, test, vi } from 'vitest'
import { SYSTEM_CLOCK } from '../../base/clock.js'
import { objectAt } from '../../meta/values/access.js'
import { createWorld } from '../../verbs/api-world.suite.js'
import { quietEnv } from '../common/controller.js'
import { identityOf, startIdentityLease, startIdentityLeaseCollector } from './identity-lease.js'

afterEach(() => vi.useRealTimers())

async function world() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: Date.parse('2026-01-01T00:00:00Z') })
  const made = createWorld()
  await made.createNamespace('kube-system')
  return { ...made, leases: made.registry.findKind('coordination.k8s.io', 'Lease')! }
}

test('the name of a Lease is that which kube-apiserver gives to a host', () => {
  expect(identityOf('vm')).toBe('apiserver-wlv32tlttr4jl3gtroqexyxapa')
})

test('a server renews its Lease, and creates it again when it was deleted', async () => {
  const { context, leases, find } = await world()
  const controller = startIdentityLease(context, leases, 'vm', quietEnv({ ...SYSTEM_CLOCK, now: () => Date.now() }))
  const read = async () => {
    await controller.idle()
    return find(leases, 'kube-system', identityOf('vm'))
  }
  const first = (await read())!
  expect(first.metadata['labels']).toEqual({
    'apiserver.kubernetes.io/identity': 'kube-apiserver',
    'kubernetes.io/hostname': 'vm',
  })
  expect(first['spec']).toMatchObject({ leaseDurationSeconds: 3600, renewTime: '2026-01-01T00:00:00.000000Z' })
  await vi.advanceTimersByTimeAsync(10_000)
  const second = (await read())!
  expect(objectAt(second, 'spec')['renewTime']).toBe('2026-01-01T00:00:10.000000Z')
  expect(objectAt(second, 'spec')['holderIdentity']).toBe(objectAt(first, 'spec')['holderIdentity'])
  controller.stop()
})

test('only Leases of servers that have expired are deleted', async () => {
  const { context, leases, find, create } = await world()
  const labels = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' }
  const spec = (renewTime: string) => ({ spec: { holderIdentity: 'h', leaseDurationSeconds: 3600, renewTime } })
  const [old, young] = ['2025-12-31T22:00:00.000000Z', '2025-12-31T23:30:00.000000Z']
  await create(leases, 'kube-system', 'gone', { labels }, spec(old))
  await create(leases, 'kube-system', 'alive', { labels }, spec(young))
  await create(leases, 'kube-system', 'other', {}, spec(old))
  const controller = startIdentityLeaseCollector(context, leases, quietEnv({ ...SYSTEM_CLOCK, now: () => Date.now() }))
  await controller.idle()
  const names = ['gone', 'alive', 'other']
  const found = await Promise.all(names.map(name => find(leases, 'kube-system', name)))
  expect(found.map(lease => lease !== undefined)).toEqual([false, true, true])
  controller.stop()
})
