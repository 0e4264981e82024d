// Finds the virtual resource of a request. Their paths are those of built-in resources, with POST as the only method.
import type { IncomingHttpHeaders } from 'node:http'
import { genericResponse } from '../../meta/errors/status.js'
import { printGroupVersion } from '../../meta/group-version.js'
import type { RequestInfo } from '../../request/request-info.js'
import type { VirtualResource } from '../../request/virtual-resource.js'
import { checkRouteAccepts, TYPED_OBJECTS } from '../negotiation/negotiation.js'

/** Undefined if the path is not that of a virtual resource. */
export type RouteVirtual = (
  method: string,
  headers: IncomingHttpHeaders,
  info: RequestInfo,
) => VirtualResource | undefined

export function createVirtualRouter(kinds: readonly VirtualResource[], cbor = true): RouteVirtual {
  const byResource = new Map(kinds.map(kind => [`${kind.apiVersion} ${kind.resource.name}`, kind]))
  // Nearly all requests address other resources.
  const resources = new Set(kinds.map(({ resource: facts }) => facts.name.split('/', 1)[0]!))
  return (method, headers, info) => {
    if (!resources.has(info.resource)) return undefined
    const { group, version, resource, subresource, namespace, rest, prefix } = info
    if ((group === '') !== (prefix === 'api') || info.path.startsWith('//')) return undefined
    const wanted = subresource === '' ? resource : `${resource}/${subresource}`
    const kind = byResource.get(`${printGroupVersion({ group, version })} ${wanted}`)
    if (!kind) return undefined
    const isPlaced = (kind.resource.namespaced ? namespace !== '' : !info.isInNamespace) && rest.length === 0
    // The name of a list is that of its field selector, not of its path.
    const name = info.verb === 'list' || info.verb === 'watch' ? '' : info.name
    // A subresource path must name an object; a resource path must not.
    if (!isPlaced || (subresource === '') !== (name === '') || info.isOldWatch) throw genericResponse(404)
    if (method !== 'POST') throw genericResponse(405)
    checkRouteAccepts(headers, TYPED_OBJECTS.encodings, false, cbor)
    return kind
  }
}
