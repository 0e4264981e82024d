// The discovery documents of extension servers: fetched when an APIService changes and once a minute, so that the list of
// all groups can be answered without asking them.
import { type ControllerEnv, createControllerQueue } from '../controllers/start-controllers.js'
import type { RemoteVersion, RemoteVersions } from '../discovery/remote-versions.js'
import { equalValues, type ValueObject } from '../meta/values/value.js'
import { discoveryOfList, resourcesByVersion } from './discovery-documents.js'
import { type RemoteService, type RemoteServices, serverOf } from './remote-services.js'
import { jsonOf, type RemoteResponse, type Transport } from './transport.js'

export interface RemoteDiscovery extends RemoteVersions {
  stop(): void
}

const REFRESH_MS = 60_000
const TIMEOUT_MS = 5_000
const MEDIA_TYPE = (version: string): string =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
const ACCEPT = `${MEDIA_TYPE('v2')},${MEDIA_TYPE('v2beta1')}`
const USER = { name: 'system:kube-aggregator', groups: ['system:masters'] }

/** What a server said last. */
interface Fetched {
  readonly etag: string
  readonly versions: ReadonlyMap<string, readonly ValueObject[]>
}

export function startRemoteDiscovery(
  services: RemoteServices,
  transport: Transport,
  env: ControllerEnv,
): RemoteDiscovery {
  /** By the name of the APIService. */
  const versions = new Map<string, RemoteVersion>()
  const fetched = new Map<string, Fetched>()
  let generation = 0
  let cancel = (): void => {}
  // APIServices of one Service share its document.
  const queue = createControllerQueue('discovery-manager', env, refresh)

  async function refresh(server: string): Promise<void> {
    const own = [...services.all()].filter(each => serverOf(each) === server)
    if (own.length === 0) return void fetched.delete(server)
    const document = await fetchDocument(own[0]!, fetched.get(server)).catch(() => 'unavailable' as const)
    if (typeof document === 'object') fetched.set(server, document)
    for (const service of own) {
      const resources =
        typeof document === 'object' ? (document.versions.get(gv(service)) ?? []) : await legacy(service, document)
      put(service, resources)
    }
  }

  /** Undefined if the server has no document about all its groups. Rejects if it cannot be asked. */
  async function fetchDocument(service: RemoteService, known: Fetched | undefined): Promise<Fetched | 'unsupported'> {
    const headers = { accept: ACCEPT, ...(known?.etag && { 'if-none-match': known.etag }) }
    const response = await transport.get(service, '/apis', { user: USER, headers, timeoutMs: TIMEOUT_MS })
    if (response.status === 304 && known) return known
    if (response.status === 503) throw new Error('the extension server is not available')
    if (response.status !== 200 || !isAggregated(response)) return 'unsupported'
    return { etag: String(response.headers['etag'] ?? ''), versions: resourcesByVersion(jsonOf(response)) }
  }

  /** From the document of the group version alone; undefined if that cannot be had. */
  async function legacy(service: RemoteService, state: string): Promise<readonly ValueObject[] | undefined> {
    if (state === 'unavailable') return undefined
    const { group, version } = service
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    try {
      const headers = { accept: 'application/json' }
      const response = await transport.get(service, path, { user: USER, headers, timeoutMs: TIMEOUT_MS })
      return response.status === 200 ? discoveryOfList(jsonOf(response)) : undefined
    } catch {
      return undefined
    }
  }

  function put(
    { name, group, version, groupPriority, versionPriority }: RemoteService,
    found: readonly ValueObject[] | undefined,
  ): void {
    if (!services.get(name)) return
    const freshness = found ? 'Current' : 'Stale'
    const next: RemoteVersion = { group, version, groupPriority, versionPriority, resources: found ?? [], freshness }
    if (equalValues(next as unknown as ValueObject, versions.get(name) as unknown as ValueObject)) return
    versions.set(name, next)
    generation++
  }

  function changed(name: string): void {
    const service = services.get(name)
    if (service) {
      if (!versions.has(name)) put(service, undefined)
      queue.add(serverOf(service))
    } else if (versions.delete(name)) generation++
  }

  const stopListening = services.onChange(changed)
  for (const { name } of services.all()) changed(name)
  const refreshAll = (): void => {
    for (const service of services.all()) queue.add(serverOf(service))
    for (const server of fetched.keys()) queue.add(server)
    cancel = env.clock.after(REFRESH_MS, refreshAll)
  }
  cancel = env.clock.after(REFRESH_MS, refreshAll)
  return {
    get generation() {
      return generation
    },
    all: () => versions.values(),
    stop() {
      stopListening()
      cancel()
      queue.stop()
    },
  }
}

const gv = ({ group, version }: RemoteService): string => `${group}/${version}`

const isAggregated = ({ headers }: RemoteResponse): boolean => {
  const type = String(headers['content-type'] ?? '').replaceAll(' ', '')
  return [MEDIA_TYPE('v2'), MEDIA_TYPE('v2beta1')].some(each => type.startsWith(each))
}
