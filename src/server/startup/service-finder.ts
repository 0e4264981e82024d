// Finds the address of a Service for a webhook call. There is no proxy for cluster IPs, so the address is that of a ready
// endpoint: from the EndpointSlices of the Service, then from its Endpoints.

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
    const addresses = [
      ...(await slicesOf(namespace, name)).flatMap(slice => addressesInSlice(slice, portName)),
      ...addressesInEndpoints(await get('Endpoints', namespace, name), portName),
    ]
    if (addresses.length === 0) throw new Error(`no endpoints available for service ${JSON.stringify(name)}`)
    // At random, to spread the calls.
    return addresses[Math.floor(Math.random() * addresses.length)]!
  }
}

interface EndpointAddress {
  readonly host: string
  readonly port: number
}

/** While a Service changes, two of its slices may contain the same endpoint, which does no harm. */
function addressesInSlice(slice: ApiObject, portName: string): EndpointAddress[] {
  const ready = objectsAt(slice, 'endpoints').filter(endpoint => objectAt(endpoint, 'conditions')['ready'] !== false)
  return addressesAt(
    ready.flatMap(endpoint => stringsAt(endpoint, 'addresses')),
    objectsAt(slice, 'ports'),
    portName,
  )
}

const addressesInEndpoints = (endpoints: ApiObject | undefined, portName: string): EndpointAddress[] =>
  objectsAt(endpoints ?? {}, 'subsets').flatMap(subset =>
    addressesAt(
      objectsAt(subset, 'addresses').map(address => stringAt(address, 'ip')),
      objectsAt(subset, 'ports'),
      portName,
    ),
  )

/** A port of an endpoint belongs to the port of the Service with the same name. */
function addressesAt(hosts: readonly string[], ports: readonly ValueObject[], portName: string): EndpointAddress[] {
  return ports
    .filter(each => stringAt(each, 'name') === portName)
    .flatMap(each => hosts.map(host => ({ host, port: numberAt(each, 'port') })))
}
