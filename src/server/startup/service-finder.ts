// The address of a Service for calls of webhooks: that of a ready endpoint, since there is no proxy that would serve the
// address of the Service itself. Endpoints come from EndpointSlices and from Endpoints.

import { type ApiObject } from '../../meta/object/api-object.js'
import { numberAt, objectAt, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { Lister } from '../../objects/lister.js'
import type { FindService } from '../../webhook/client.js'

const SERVICE = { group: '', kind: 'Service' }
const ENDPOINTS = { group: '', kind: 'Endpoints' }
const ENDPOINT_SLICE = { group: 'discovery.k8s.io', kind: 'EndpointSlice' }

export function serviceFinder(lister: Lister): FindService {
  return async ({ namespace, name, port }) => {
    const service = await lister.find(SERVICE, namespace, name)
    if (!service) throw new Error(`service ${JSON.stringify(name)} not found`)
    const spec = objectAt(service, 'spec')
    if (stringAt(spec, 'type') === 'ExternalName') return { host: stringAt(spec, 'externalName'), port }
    const servicePort = objectsAt(spec, 'ports').find(each => numberAt(each, 'port') === port)
    if (!servicePort) throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`)
    const portName = stringAt(servicePort, 'name')
    const endpoints = [
      ...(await lister.all(ENDPOINT_SLICE, namespace, { 'kubernetes.io/service-name': name })).flatMap(slice =>
        endpointsInSlice(slice, portName),
      ),
      ...endpointsInSubsets(await lister.find(ENDPOINTS, namespace, name), portName),
    ]
    if (endpoints.length === 0) throw new Error(`no endpoints available for service ${JSON.stringify(name)}`)
    // Calls are spread over all endpoints.
    return endpoints[Math.floor(Math.random() * endpoints.length)]!
  }
}

interface Endpoint {
  readonly host: string
  readonly port: number
}

/** While a Service changes, two slices may hold the same endpoint; that does no harm. */
function endpointsInSlice(slice: ApiObject, portName: string): Endpoint[] {
  const ready = objectsAt(slice, 'endpoints').filter(endpoint => objectAt(endpoint, 'conditions')['ready'] !== false)
  return endpointsAt(
    ready.flatMap(endpoint => stringsAt(endpoint, 'addresses')),
    objectsAt(slice, 'ports'),
    portName,
  )
}

const endpointsInSubsets = (endpoints: ApiObject | undefined, portName: string): Endpoint[] =>
  objectsAt(endpoints ?? {}, 'subsets').flatMap(subset =>
    endpointsAt(
      objectsAt(subset, 'addresses').map(address => stringAt(address, 'ip')),
      objectsAt(subset, 'ports'),
      portName,
    ),
  )

/** The ports of endpoints are those of the service with the same name. */
function endpointsAt(hosts: readonly string[], ports: readonly ValueObject[], portName: string): Endpoint[] {
  return ports
    .filter(each => stringAt(each, 'name') === portName)
    .flatMap(each => hosts.map(host => ({ host, port: numberAt(each, 'port') })))
}
