// Finds the resource of a request that is not in the registry: a virtual one, whose only method is POST, or one that
// connects. Their paths are those of built-in resources.
import type { IncomingHttpHeaders } from 'node:http'
import { genericResponse } from '../../meta/errors/status.js'
import { printGroupVersion } from '../../meta/group-version.js'
import { isConnect, type UnstoredResource } from '../../request/connect-resource.js'
import type { RequestInfo } from '../../request/request-info.js'
import { checkRouteAccepts, TYPED_OBJECTS } from '../negotiation/negotiation.js'

/** Undefined if the path is not that of such a resource. */
export type RouteVirtual = (
  method: string,
  headers: IncomingHttpHeaders,
  info: RequestInfo,
) => UnstoredResource | undefined

export function createVirtualRouter(kinds: readonly UnstoredResource[], cbor = true): RouteVirtual {
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
    const isPlaced = kind.resource.namespaced ? namespace !== '' : !info.isInNamespace
    const isWhole = rest.length === 0 || (isConnect(kind) && kind.hasSubpaths)
    // The name of a list is that of its field selector, not of its path.
    const name = info.verb === 'list' || info.verb === 'watch' ? '' : info.name
    // A subresource path must name an object; a resource path must not.
    if (!isPlaced || !isWhole || (subresource === '') !== (name === '') || info.isOldWatch) throw genericResponse(404)
    if (!(isConnect(kind) ? kind.methods : POST_ONLY).includes(method)) throw genericResponse(405)
    const isText = isConnect(kind) && kind.produces === 'text'
    if (!isConnect(kind) || isText) checkRouteAccepts(headers, TYPED_OBJECTS.encodings, false, cbor, isText ? TEXT : [])
    return kind
  }
}

const POST_ONLY = ['POST']
const TEXT = ['text/plain']
