// What the connect subresources look up before they would connect: objects, the address of a node, and whether a proxy may
// connect to an address.
import { BlockList, isIP } from 'node:net'
import type { Kind } from '../../../kinds/kind.js'
import { notFound, unclassified } from '../../../meta/errors/status.js'
import type { ApiObject } from '../../../meta/object/api-object.js'
import { isObject, type Value, type ValueObject } from '../../../meta/values/value.js'
import type { ConnectRequest } from '../../../request/connect-resource.js'
import type { SystemObjects } from '../../system-writes.js'

/** An object that is absent is reported with the resource of the request, whatever its own kind is. */
export async function require(
  objects: SystemObjects,
  { request: { info } }: ConnectRequest,
  kind: Kind,
  namespace: string,
  name: string,
): Promise<ApiObject> {
  const found = await objects.get(kind, namespace, name)
  if (!found) throw notFound({ group: info.group, resource: info.resource }, name)
  return found
}

/** Where the kubelet of a node listens. */
export interface KubeletAddress {
  readonly host: string
  readonly port: string
}

/** The default of --kubelet-preferred-address-types. */
const PREFERRED_TYPES = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']
const KUBELET_PORT = 10250

export function kubeletOf(node: ApiObject): KubeletAddress {
  const status = member(node, 'status')
  const addresses = list(status, 'addresses')
  const preferred = PREFERRED_TYPES.flatMap(type => addresses.filter(each => each['type'] === type))[0]
  if (!preferred) {
    const known = addresses.map(each => `{${text(each, 'type')} ${text(each, 'address')}}`).join(' ')
    throw unclassified(`no preferred addresses found; known addresses: [${known}]`)
  }
  const port = Number(member(member(status, 'daemonEndpoints'), 'kubeletEndpoint')['Port'] ?? 0)
  return { host: text(preferred, 'address'), port: String(port > 0 ? port : KUBELET_PORT) }
}

/** How Go reports a connection that is refused: no connection to a node or a pod is ever made. */
export const refusedBy = (host: string, port: string): string =>
  `dial tcp ${hostPort(host, port)}: connect: connection refused`

export const hostPort = (host: string, port: string): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

/** Go's IsGlobalUnicast. */
export const isGlobalUnicast = (address: string): boolean =>
  isIP(address) !== 0 && !NOT_GLOBAL.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

const NOT_GLOBAL = new BlockList()
NOT_GLOBAL.addAddress('0.0.0.0')
NOT_GLOBAL.addAddress('255.255.255.255')
NOT_GLOBAL.addSubnet('127.0.0.0', 8)
NOT_GLOBAL.addSubnet('169.254.0.0', 16)
NOT_GLOBAL.addSubnet('224.0.0.0', 4)
NOT_GLOBAL.addAddress('::', 'ipv6')
NOT_GLOBAL.addAddress('::1', 'ipv6')
NOT_GLOBAL.addSubnet('fe80::', 10, 'ipv6')
NOT_GLOBAL.addSubnet('ff00::', 8, 'ipv6')

// ---- members of objects that were validated when they were stored

export const member = (object: ValueObject, name: string): ValueObject => {
  const value: Value | undefined = object[name]
  return isObject(value) ? value : {}
}

export const list = (object: ValueObject, name: string): ValueObject[] => {
  const value = object[name]
  return Array.isArray(value) ? value.filter(isObject) : []
}

export const text = (object: ValueObject, name: string): string => {
  const value = object[name]
  return typeof value === 'string' ? value : ''
}
