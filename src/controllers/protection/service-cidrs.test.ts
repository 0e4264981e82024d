import { afterEach, beforeEach, expect, test } from 'vitest'
import type { TimerClock } from '../../base/clock.js'
import type { Kind } from '../../kinds/kind.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt } from '../../meta/values/access.js'
import { createWorld, type World } from '../../verbs/api-world.suite.js'
import { serverObjects } from '../../verbs/system-writes.js'
import { type Controller, quietEnv } from '../common/controller.js'
import { startServiceCidrs } from './service-cidrs.js'

let world: World
let serviceCidrs: Kind
let addresses: Kind
let controller: Controller
/** Runs what a delay has put off. */
let pass: () => void

beforeEach(async () => {
  world = createWorld()
  serviceCidrs = world.registry.findKind('networking.k8s.io', 'ServiceCIDR')!
  addresses = world.registry.findKind('networking.k8s.io', 'IPAddress')!
  const delayed = new Set<() => void>()
  let ahead = 0
  pass = () => {
    ahead = 11_000
    for (const run of delayed) run()
  }
  const clock: TimerClock = {
    now: () => Date.now() + ahead,
    elapsed: () => performance.now() + ahead,
    after(_, run) {
      delayed.add(run)
      return () => void delayed.delete(run)
    },
  }
  controller = await startServiceCidrs(world.context, { serviceCidrs, addresses }, quietEnv(clock))
})
afterEach(async () => {
  controller.stop()
  await world.context.close()
})

const FINALIZER = 'networking.k8s.io/service-cidr-finalizer'
const stored = (name: string) => serverObjects(world.context).get(serviceCidrs, '', name)
const readyOf = async (name: string) => objectAt((await stored(name)) ?? {}, 'status')['conditions']

async function addRange(name: string, ...cidrs: string[]): Promise<void> {
  await world.create(serviceCidrs, '', name, {}, { spec: { cidrs } })
  await expect
    .poll(() => readyOf(name))
    .toMatchObject([{ type: 'Ready', status: 'True', reason: '', message: 'Kubernetes Service CIDR is ready' }])
}

const takeAddress = (name: string, managedBy = 'ipallocator.k8s.io') =>
  world.create(
    addresses,
    '',
    name,
    { labels: { 'ipaddress.kubernetes.io/managed-by': managedBy } },
    { spec: { parentRef: { resource: 'services', namespace: 'default', name: 's' } } },
  )

async function expectGone(name: string): Promise<void> {
  await expect
    .poll(async () => {
      pass()
      return stored(name)
    })
    .toBeUndefined()
}

test('a range is protected, and goes when it has been deleted for ten seconds', async () => {
  await addRange('a', '10.1.0.0/24')
  expect(metaOf((await stored('a'))!).finalizers).toEqual([FINALIZER])
  await takeAddress('10.1.0.9', 'somebody')
  await world.delete(serviceCidrs, '', 'a')
  await controller.idle()
  expect(await stored('a')).toBeDefined()
  await expectGone('a')
})

test('a range stays as long as a Service has an address of it', async () => {
  await addRange('a', '10.1.0.0/24')
  await takeAddress('10.1.0.9')
  await world.delete(serviceCidrs, '', 'a')
  await expect
    .poll(() => readyOf('a'))
    .toMatchObject([
      {
        type: 'Ready',
        status: 'False',
        reason: 'Terminating',
        message:
          'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
      },
    ])
  await world.delete(addresses, '', '10.1.0.9')
  await expectGone('a')
})

test('a range goes when another one contains its addresses', async () => {
  await addRange('a', '10.1.0.0/24')
  await takeAddress('10.1.0.9')
  await world.delete(serviceCidrs, '', 'a')
  await expect.poll(() => readyOf('a')).toMatchObject([{ status: 'False' }])
  await addRange('b', '10.1.0.0/16')
  await expectGone('a')
})
