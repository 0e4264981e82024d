// The EndpointSlices that mirror an Endpoints object: one for each set of ports and each address family.
import { isIP } from 'node:net'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { has, objectsAt, stringAt } from '../../meta/values/access.js'
import { copyValue, equalValues, type ValueObject } from '../../meta/values/value.js'

export const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'
export const SERVICE_NAME = 'kubernetes.io/service-name'
export const MIRRORING = 'endpointslicemirroring-controller.k8s.io'
const MAX_PER_SUBSET = 1000
/** Annotations that concern only the Endpoints object. */
const NOT_COPIED = new Set([
  'endpoints.kubernetes.io/last-change-trigger-time',
  'kubectl.kubernetes.io/last-applied-configuration',
])

/** The content of a slice that should exist. */
export interface DesiredSlice {
  readonly addressType: string
  readonly ports: ValueObject[]
  readonly endpoints: ValueObject[]
}

export function desiredSlices(endpoints: ApiObject): DesiredSlice[] {
  const slices: DesiredSlice[] = []
  for (const subset of objectsAt(endpoints, 'subsets')) {
    const ports = objectsAt(subset, 'ports').map(slicePort)
    const addresses = [
      ...objectsAt(subset, 'addresses').map(address => endpointOf(address, true)),
      ...objectsAt(subset, 'notReadyAddresses').map(address => endpointOf(address, false)),
    ].slice(0, MAX_PER_SUBSET)
    for (const endpoint of addresses) {
      const addressType = isIP(addressOf(endpoint)) === 6 ? 'IPv6' : 'IPv4'
      let slice = slices.find(each => each.addressType === addressType && hasPorts(each, ports))
      if (!slice) slices.push((slice = { addressType, ports, endpoints: [] }))
      // Of an address in several subsets with the same ports, the ready one comes first and counts.
      if (!slice.endpoints.some(each => isSameEndpoint(each, endpoint))) slice.endpoints.push(endpoint)
    }
  }
  return slices
}

const slicePort = (port: ValueObject): ValueObject => ({ name: stringAt(port, 'name'), ...copyValue(port) })

/** Ports as a set: their order does not matter. */
export const hasPorts = (slice: { readonly ports: readonly ValueObject[] }, ports: readonly ValueObject[]): boolean =>
  slice.ports.length === ports.length && ports.every(port => slice.ports.some(each => equalValues(each, port)))

const addressOf = ({ addresses }: ValueObject): string => String((addresses as string[])[0])

const isSameEndpoint = (a: ValueObject, b: ValueObject): boolean =>
  addressOf(a) === addressOf(b) && equalValues(a['targetRef'], b['targetRef'])

function endpointOf(address: ValueObject, ready: boolean): ValueObject {
  const copied = ['hostname', 'targetRef', 'nodeName'].filter(name => has(address, name))
  return {
    addresses: [stringAt(address, 'ip')],
    conditions: { ready },
    ...Object.fromEntries(copied.map(name => [name, copyValue(address[name]!)])),
  }
}

/** The metadata of a slice: what the Endpoints object has, and the marks of a mirrored slice. */
export function sliceMetadata(endpoints: ApiObject): ValueObject {
  const { name = '', namespace = '', uid = '', labels = {}, annotations = {} } = metaOf(endpoints)
  const copied = Object.entries(annotations).filter(([key]) => !NOT_COPIED.has(key))
  return {
    namespace,
    labels: { ...labels, [SERVICE_NAME]: name, [MANAGED_BY]: MIRRORING },
    ...(copied.length > 0 && { annotations: Object.fromEntries(copied) }),
    ownerReferences: [{ apiVersion: 'v1', kind: 'Endpoints', name, uid, controller: true, blockOwnerDeletion: true }],
  }
}
