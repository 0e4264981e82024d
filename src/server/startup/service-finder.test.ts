import { describe, expect, it } from 'vitest'
import { builtinKinds } from '../../builtin/builtin-kinds.js'
import { createRegistry } from '../../kinds/registry.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { createLister } from '../../objects/lister.js'
import { createMemoryStore } from '../../storage/memory/memory-store.js'
import { builtinTypes } from '../../types/type-table.js'
import { createApiContext } from '../../verbs/api-context.js'
import { serviceFinder } from './service-finder.js'

async function finderWith(...objects: object[]) {
  const registry = createRegistry()
  for (const kind of builtinKinds(builtinTypes())) registry.put(kind)
  const context = createApiContext({ store: createMemoryStore() })
  for (const each of objects) {
    const object = each as ApiObject
    const group = object.apiVersion.includes('/') ? object.apiVersion.split('/')[0]! : ''
    await context.objectStore(registry.findKind(group, object.kind)!).create(object)
  }
  return serviceFinder(createLister(registry, context))
}

const service = (spec: object) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'converter', namespace: 'ns' },
  spec,
})
const slice = (name: string, labels: object, content: object) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name, namespace: 'ns', labels },
  ...content,
})
const OF_CONVERTER = { 'kubernetes.io/service-name': 'converter' }
const PORTS = { ports: [{ name: 'https', port: 443 }] }
const WANTED = { namespace: 'ns', name: 'converter', port: 443 }

describe('a service is found', () => {
  it('at an endpoint of its slices that is ready, at the port of that name', async () => {
    const find = await finderWith(
      service(PORTS),
      slice('one', OF_CONVERTER, {
        ports: [
          { name: 'metrics', port: 1 },
          { name: 'https', port: 9443 },
        ],
        endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: false } }, { addresses: ['10.1.0.2'] }],
      }),
      slice(
        'other',
        { 'kubernetes.io/service-name': 'other' },
        {
          ports: [{ name: 'https', port: 1 }],
          endpoints: [{ addresses: ['10.1.0.3'] }],
        },
      ),
    )
    expect(await find(WANTED)).toEqual({ host: '10.1.0.2', port: 9443 })
  })

  it('at an address of its Endpoints', async () => {
    const endpoints = {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'converter', namespace: 'ns' },
      subsets: [{ addresses: [{ ip: '10.1.0.1' }], notReadyAddresses: [{ ip: '10.1.0.2' }], ports: [{ port: 9443 }] }],
    }
    const find = await finderWith(service({ ports: [{ port: 443 }] }), endpoints)
    expect(await find(WANTED)).toEqual({ host: '10.1.0.1', port: 9443 })
  })

  it('by its external name, if it has the type ExternalName', async () => {
    const find = await finderWith(service({ ...PORTS, type: 'ExternalName', externalName: 'example.com' }))
    expect(await find(WANTED)).toEqual({ host: 'example.com', port: 443 })
  })
})

describe('a service is not found', () => {
  it.each([
    ['service "converter" not found', []],
    ['no service port 443 found for service "converter"', [service({ ports: [{ port: 80 }] })]],
    ['no endpoints available for service "converter"', [service(PORTS)]],
  ])('%s', async (message, objects) => {
    const find = await finderWith(...objects)
    await expect(find(WANTED)).rejects.toThrow(message)
  })
})
