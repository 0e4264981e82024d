import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Kind } from '../../kinds/kind.js'
import { metaOf } from '../../meta/object/object-meta.js'
import type { ValueObject } from '../../meta/values/value.js'
import { decodeStored } from '../../objects/stored-object.js'
import { createWorld, type World } from '../../verbs/api-world.suite.js'
import { type Controller, quietEnv } from '../common/controller.js'
import { startEndpointSliceMirroring } from './mirroring.js'

let world: World
let endpoints: Kind
let services: Kind
let endpointSlices: Kind
let controller: Controller

beforeEach(async () => {
  world = createWorld()
  endpoints = world.registry.findKind('', 'Endpoints')!
  services = world.registry.findKind('', 'Service')!
  endpointSlices = world.registry.findKind('discovery.k8s.io', 'EndpointSlice')!
  await world.createNamespace('n')
  controller = await startEndpointSliceMirroring(world.context, { endpoints, services, endpointSlices }, quietEnv())
})
afterEach(async () => {
  controller.stop()
  await world.context.close()
})

const createService = (spec: ValueObject = {}) =>
  world.create(services, 'n', 's', {}, { spec: { ports: [{ port: 80 }], clusterIP: 'None', ...spec } })
const subset = (...ips: string[]): ValueObject => ({
  addresses: ips.map(ip => ({ ip })),
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
})
const slices = async () => {
  const { entries } = await world.context.objectStore(endpointSlices).cache.range(endpointSlices.keyPrefix)
  return entries.map(decodeStored)
}
const addresses = async () =>
  (await slices()).map(slice => (slice['endpoints'] as ValueObject[]).flatMap(each => each['addresses'] as string[]))

test('Endpoints of a service without a selector are mirrored, a slice for each address family', async () => {
  await createService()
  const made = await world.create(
    endpoints,
    'n',
    's',
    { labels: { a: 'b' } },
    { subsets: [subset('10.1.1.1', 'fd00::1')] },
  )
  await expect.poll(addresses).toHaveLength(2)
  const v4 = (await slices()).find(each => each['addressType'] === 'IPv4')!
  expect(v4).toMatchObject({
    endpoints: [{ addresses: ['10.1.1.1'], conditions: { ready: true } }],
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  })
  expect(metaOf(v4)).toMatchObject({
    generateName: 's-',
    labels: {
      a: 'b',
      'kubernetes.io/service-name': 's',
      'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
    },
    ownerReferences: [{ kind: 'Endpoints', name: 's', uid: metaOf(made).uid, controller: true }],
  })
})

test('a slice follows its Endpoints, and goes with them', async () => {
  await createService()
  await world.create(endpoints, 'n', 's', {}, { subsets: [subset('10.1.1.1')] })
  await expect.poll(addresses).toEqual([['10.1.1.1']])
  const [first] = await slices()
  await world.delete(endpoints, 'n', 's')
  await expect.poll(addresses).toEqual([])
  await world.create(endpoints, 'n', 's', {}, { subsets: [subset('10.1.1.2'), subset('10.1.1.3')] })
  await expect.poll(addresses).toEqual([['10.1.1.2', '10.1.1.3']])
  expect(metaOf((await slices())[0]!).uid).not.toBe(metaOf(first!).uid)
})

test.each<[string, ValueObject, ValueObject]>([
  ['with a selector', { selector: { a: 'b' } }, {}],
  ['whose Endpoints say so', {}, { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } }],
])('Endpoints of a service %s are not mirrored', async (_, spec, metadata) => {
  await createService(spec)
  await world.create(endpoints, 'n', 's', metadata, { subsets: [subset('10.1.1.1')] })
  await controller.idle()
  expect(await slices()).toEqual([])
})
