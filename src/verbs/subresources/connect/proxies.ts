// pods/proxy, services/proxy and nodes/proxy: requests that would be passed on to a pod or to a kubelet.

import { isIP } from 'node:net'
import { badRequest, serviceUnavailable } from '../../../meta/errors/status.js'
import { parseInt64, quote } from '../../../meta/go/go-text.js'
import type { ConnectRequest, ConnectResource, ConnectResult } from '../../../request/connect-resource.js'
import { builtinTypes } from '../../../types/type-table.js'
import type { SystemObjects } from '../../system-writes.js'
import type { ConnectKinds } from './connect-kinds.js'
import { isGlobalUnicast, kubeletOf, list, member, refusedBy, require, text } from './connected-objects.js'

export function proxies(objects: SystemObjects, kinds: ConnectKinds): ConnectResource[] {
  const proxy = (plural: string, locate: Locate): ConnectResource => {
    const resource = builtinTypes()
      .resources('v1')
      .find(({ name }) => name === `${plural}/proxy`)!
    return {
      apiVersion: 'v1',
      resource,
      optionsKind: resource.kind,
      methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
      hasSubpaths: true,
      isAdmitted: true,
      async connect(request) {
        return passOn(request, await locate(objects, kinds, request, destinationOf(plural.slice(0, -1), request.name)))
      },
    }
  }
  return [proxy('pods', locatePod), proxy('services', locateService), proxy('nodes', locateNode)]
}

/** The name in the path of a proxy: `web`, `web:80` or `https:web:443`. */
interface Destination {
  readonly scheme: string
  readonly name: string
  readonly port: string
}

function destinationOf(what: string, id: string): Destination {
  const parts = id.split(':')
  const [scheme = '', name = '', port = ''] = parts.length === 3 ? parts : ['', ...parts]
  if (parts.length > 3 || name === '' || !SCHEMES.has(scheme)) throw badRequest(`invalid ${what} request ${quote(id)}`)
  return { scheme, name, port }
}

const SCHEMES = new Set(['', 'http', 'https'])

interface Location {
  readonly host: string
  readonly port: string
}

type Locate = (
  objects: SystemObjects,
  kinds: ConnectKinds,
  request: ConnectRequest,
  destination: Destination,
) => Promise<Location>

const locatePod: Locate = async (objects, { pods }, request, { scheme, name, port }) => {
  const pod = await require(objects, request, pods, request.namespace, name)
  const status = member(pod, 'status')
  const [first] = list(status, 'podIPs')
  const host = first ? text(first, 'ip') : text(status, 'podIP')
  if (!isGlobalUnicast(host)) throw badRequest('address not allowed')
  const [declared] = list(member(pod, 'spec'), 'containers').flatMap(container => list(container, 'ports'))
  const known = port || (declared ? String(Number(declared['containerPort'])) : '')
  return { host, port: known || portOf(scheme) }
}

const portOf = (scheme: string): string => (scheme === 'https' ? '443' : '80')

/** Only addresses that are those of pods are proxied. */
const locateService: Locate = async (objects, kinds, request, { name, port }) => {
  const { namespace } = request
  const portName = await portNameOf(objects, kinds, request, name, port)
  const subsets = list(await require(objects, request, kinds.endpoints, namespace, name), 'subsets')
  if (subsets.length === 0) throw serviceUnavailable(`no endpoints available for service ${quote(name)}`)
  for (const subset of subsets) {
    const ports = list(subset, 'ports').filter(each => text(each, 'name') === portName)
    for (const { port: number } of ports) {
      for (const address of list(subset, 'addresses')) {
        const { namespace: podNamespace, name: podName } = member(address, 'targetRef')
        if (podNamespace !== namespace || typeof podName !== 'string') continue
        const pod = await objects.get(kinds.pods, namespace, podName)
        const host = text(address, 'ip')
        if (pod && list(member(pod, 'status'), 'podIPs').some(each => each['ip'] === host)) {
          return { host, port: String(Number(number)) }
        }
      }
    }
  }
  throw serviceUnavailable(`no endpoints available for service ${quote(request.name)}`)
}

/** A port that is given by its number has the name that the service gives it. */
async function portNameOf(
  objects: SystemObjects,
  { services }: ConnectKinds,
  request: ConnectRequest,
  name: string,
  port: string,
): Promise<string> {
  const number = parseInt64(port)
  if (!number.ok) return port
  const service = await require(objects, request, services, request.namespace, name)
  const found = list(member(service, 'spec'), 'ports').find(each => Number(each['port']) === Number(number.value))
  if (!found) throw serviceUnavailable(`no service port ${number.value} found for service ${quote(name)}`)
  return text(found, 'name')
}

/** The addresses of a host name are not looked up. */
const locateNode: Locate = async (objects, { nodes }, request, { name, port }) => {
  const kubelet = kubeletOf(await require(objects, request, nodes, '', name))
  if (isIP(kubelet.host) !== 0 && !isGlobalUnicast(kubelet.host)) throw badRequest('address not allowed')
  return { host: kubelet.host, port: port || kubelet.port }
}

/** A proxy without a path redirects to its root. Everything else is answered as if the connection was refused. */
function passOn({ request: { info }, options, rawQuery }: ConnectRequest, { host, port }: Location): ConnectResult {
  if (info.verb === 'get' && text(options, 'path') === '') {
    return { status: 301, location: `${info.path}/${rawQuery === '' ? '' : `?${rawQuery}`}` }
  }
  throw serviceUnavailable(`error trying to reach service: ${refusedBy(host, port)}`)
}
