// Group versions that extension API servers serve: requests to them are passed on.
import type { ControllerEnv, RemoteContents } from '../controllers/start-controllers.js'
import type { RemoteVersions } from '../discovery/remote-versions.js'
import type { Proxies } from '../http/handler.js'
import type { Kind } from '../kinds/kind.js'
import type { ObjectStores } from '../objects/object-stores.js'
import type { RemoteDocuments } from '../openapi/remote-documents.js'
import type { RequestInfo } from '../request/request-info.js'
import { createProxy } from './proxy.js'
import { remoteContents } from './remote-contents.js'
import { startRemoteDiscovery } from './remote-discovery.js'
import { startRemoteOpenApi } from './remote-openapi.js'
import { type RemoteService, type RemoteServices, startRemoteServices } from './remote-services.js'
import { createTransport, type Transport, type TransportOptions } from './transport.js'

export interface AggregatorOptions extends TransportOptions {
  readonly objects: Pick<ObjectStores, 'objectStore'>
  /** The kind APIService. */
  readonly kind: Kind
  readonly env: ControllerEnv
  /** Whether redirects of extension servers are passed on; they are answered with 502 otherwise. */
  readonly forwardsRedirects: boolean | undefined
}

export interface Aggregator extends Proxies {
  readonly services: RemoteServices
  readonly transport: Transport
  /** Their group versions, as discovery lists them. */
  readonly discovery: RemoteVersions
  /** Their objects in a namespace. */
  readonly contents: RemoteContents
  /** Their OpenAPI documents. */
  readonly openapi: RemoteDocuments
  stop(): void
}

/** Resolves when all APIServices are read. */
export async function startAggregator(options: AggregatorOptions): Promise<Aggregator> {
  const { objects, kind, env } = options
  const transport = createTransport(options)
  const proxy = createProxy(transport, options.forwardsRedirects)
  const services = await startRemoteServices(objects, kind, env.log)
  const discovery = startRemoteDiscovery(services, transport, env)
  const openapi = startRemoteOpenApi(services, transport, env)
  const unavailable = env.metrics.gauge(
    'aggregator_unavailable_apiservice',
    'Gauge of APIServices which are marked as unavailable broken down by APIService name.',
    ['name'],
  )
  env.metrics.onCollect(() => {
    unavailable.reset()
    for (const { name, isAvailable } of services.all()) unavailable.with(name).set(isAvailable ? 0 : 1)
  })

  function serviceFor({ prefix, group, version, path }: RequestInfo): RemoteService | undefined {
    // All paths of the core group belong to its one version.
    if (prefix === 'api') return services.find('', 'v1')
    if (prefix === 'apis') return services.find(group, version)
    if (!path.startsWith(OPENAPI)) return undefined
    const document = path.slice(OPENAPI.length)
    const [, ofGroup = '', ofVersion = ''] = document.split('/')
    return openapi.current().addresses.has(document) ? services.find(ofGroup, ofVersion) : undefined
  }

  return {
    services,
    transport,
    discovery,
    openapi,
    contents: remoteContents(services, transport, discovery),
    find(info) {
      const service = services.size === 0 ? undefined : serviceFor(info)
      return service && ((request, ended) => proxy.serve(service, request, ended))
    },
    endStreams: () => proxy.endStreams(),
    stop() {
      discovery.stop()
      openapi.stop()
      services.stop()
      transport.close()
    },
  }
}

/** Documents of group versions in version 3. */
const OPENAPI = '/openapi/v3/'
