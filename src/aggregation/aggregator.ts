// Group versions that extension API servers serve: requests to them are passed on.
import type { ControllerEnv } from '../controllers/start-controllers.js'
import type { RemoteVersions } from '../discovery/remote-versions.js'
import type { Proxies } from '../http/handler.js'
import type { Kind } from '../kinds/kind.js'
import type { ObjectStores } from '../objects/object-stores.js'
import { createProxy } from './proxy.js'
import { startRemoteDiscovery } from './remote-discovery.js'
import { type RemoteServices, startRemoteServices } from './remote-services.js'
import { createTransport, type Transport, type TransportOptions } from './transport.js'

export interface AggregatorOptions extends TransportOptions {
  readonly objects: Pick<ObjectStores, 'objectStore'>
  /** The kind APIService. */
  readonly kind: Kind
  readonly env: ControllerEnv
}

export interface Aggregator extends Proxies {
  readonly services: RemoteServices
  readonly transport: Transport
  /** Their group versions, as discovery lists them. */
  readonly discovery: RemoteVersions
  stop(): void
}

/** Resolves when all APIServices are read. */
export async function startAggregator(options: AggregatorOptions): Promise<Aggregator> {
  const { objects, kind, env } = options
  const transport = createTransport(options)
  const proxy = createProxy(transport)
  const services = await startRemoteServices(objects, kind, env.log)
  const discovery = startRemoteDiscovery(services, transport, env)
  const unavailable = env.metrics.gauge(
    'aggregator_unavailable_apiservice',
    'Gauge of APIServices which are marked as unavailable broken down by APIService name.',
    ['name'],
  )
  env.metrics.onCollect(() => {
    unavailable.reset()
    for (const { name, isAvailable } of services.all()) unavailable.with(name).set(isAvailable ? 0 : 1)
  })
  return {
    services,
    transport,
    discovery,
    find({ prefix, group, version }) {
      if (services.size === 0 || prefix === '') return undefined
      // All paths of the core group belong to its one version.
      const service = prefix === 'api' ? services.find('', 'v1') : services.find(group, version)
      return service && ((request, ended) => proxy.serve(service, request, ended))
    },
    endStreams: () => proxy.endStreams(),
    stop() {
      discovery.stop()
      services.stop()
      transport.close()
    },
  }
}
