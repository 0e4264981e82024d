// Group versions that extension API servers serve: requests to them are passed on.
import type { Logger } from '../base/logger.js'
import type { MetricsRegistry } from '../base/metrics.js'
import type { Proxies } from '../http/handler.js'
import type { Kind } from '../kinds/kind.js'
import type { ObjectStores } from '../objects/object-stores.js'
import { createProxy } from './proxy.js'
import { type RemoteServices, startRemoteServices } from './remote-services.js'
import { createTransport, type Transport, type TransportOptions } from './transport.js'

export interface AggregatorOptions extends TransportOptions {
  readonly objects: Pick<ObjectStores, 'objectStore'>
  /** The kind APIService. */
  readonly kind: Kind
  readonly log: Logger
  readonly metrics: MetricsRegistry
}

export interface Aggregator extends Proxies {
  readonly services: RemoteServices
  readonly transport: Transport
  stop(): void
}

/** Resolves when all APIServices are read. */
export async function startAggregator(options: AggregatorOptions): Promise<Aggregator> {
  const { objects, kind, log, metrics } = options
  const transport = createTransport(options)
  const proxy = createProxy(transport)
  const services = await startRemoteServices(objects, kind, log)
  const unavailable = metrics.gauge(
    'aggregator_unavailable_apiservice',
    'Gauge of APIServices which are marked as unavailable broken down by APIService name.',
    ['name'],
  )
  metrics.onCollect(() => {
    unavailable.reset()
    for (const { name, isAvailable } of services.all()) unavailable.with(name).set(isAvailable ? 0 : 1)
  })
  return {
    services,
    transport,
    find({ prefix, group, version }) {
      if (services.size === 0 || prefix === '') return undefined
      // All paths of the core group belong to its one version.
      const service = prefix === 'api' ? services.find('', 'v1') : services.find(group, version)
      return service && ((request, ended) => proxy.serve(service, request, ended))
    },
    endStreams: () => proxy.endStreams(),
    stop() {
      services.stop()
      transport.close()
    },
  }
}
