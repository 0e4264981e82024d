// Where a service of the cluster is found, without a proxy in front of it: at the address of an endpoint that is ready,
// as the objects of the API tell. EndpointSlices are asked first, then Endpoints.

import type { Registry } from '../../kinds/registry.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { numberAt, objectAt, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { keyPrefixOf } from '../../objects/object-store.js'
import { decodeStored } from '../../objects/stored-object.js'
import { type ApiContext } from '../../verbs/api-context.js'
import type { FindService } from '../../webhook/client.js'

export function serviceFinder(context: ApiContext, registry: Registry): FindService {
  async function get(kindName: string, namespace: string, name: string): Promise<ApiObject | undefined> {
    const kind = registry.findKind('', kindName)
    const entry = kind && (await context.objectStore(kind).get(namespace, name))
    return entry && decodeStored(entry)
  }

  async function slicesOf(namespace: string, service: string): Promise<ApiObject[]> {
    const kind = registry.findKind('discovery.k8s.io', 'EndpointSlice')
    if (!kind) return []
    const { entries } = await context.objectStore(kind).cache.range(keyPrefixOf(kind, namespace))
    return entries
      .filter(({ attributes: facts }) => facts.data.labels['kubernetes.io/service-name'] === service)
      .map(entry => decodeStored(entry))
  }

  return async ({ namespace, name, port }) => {
    const service = await get('Service', namespace, name)
    if (!service) throw new Error(`service ${JSON.stringify(name)} not found`)
    const spec = objectAt(service, 'spec')
    const servicePort = objectsAt(spec, 'ports').find(each => numberAt(each, 'port') === port)
    if (!servicePort) throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`)
    if (stringAt(spec, 'type') === 'ExternalName') return { host: stringAt(spec, 'externalName'), port }
    const portName = stringAt(servicePort, 'name')
    const places = [
      ...(await slicesOf(namespace, name)).flatMap(slice => placesInSlice(slice, portName)),
      ...placesInEndpoints(await get('Endpoints', namespace, name), portName),
    ]
    if (places.length === 0) throw new Error(`no endpoints available for service ${JSON.stringify(name)}`)
    // Any of them will do; calls are spread over them.
    return places[Math.floor(Math.random() * places.length)]!
  }
}

interface Place {
  readonly host: string
  readonly port: number
}

/** Slices of a service that is being changed may say the same twice, which does no harm. */
function placesInSlice(slice: ApiObject, portName: string): Place[] {
  const ready = objectsAt(slice, 'endpoints').filter(endpoint => objectAt(endpoint, 'conditions')['ready'] !== false)
  return placesAt(
    ready.flatMap(endpoint => stringsAt(endpoint, 'addresses')),
    objectsAt(slice, 'ports'),
    portName,
  )
}

const placesInEndpoints = (endpoints: ApiObject | undefined, portName: string): Place[] =>
  objectsAt(endpoints ?? {}, 'subsets').flatMap(subset =>
    placesAt(
      objectsAt(subset, 'addresses').map(address => stringAt(address, 'ip')),
      objectsAt(subset, 'ports'),
      portName,
    ),
  )

/** The ports of endpoints are those of the service with the same name. */
function placesAt(hosts: readonly string[], ports: readonly ValueObject[], portName: string): Place[] {
  return ports
    .filter(each => stringAt(each, 'name') === portName)
    .flatMap(each => hosts.map(host => ({ host, port: numberAt(each, 'port') })))
}
