// The APIServices whose group version another server serves: those with a Service. They are kept in memory by an informer.
import type { Logger } from '../base/logger.js'
import type { Kind } from '../kinds/kind.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import { numberAt, numberOrNone, objectAt, objectOrNone, objectsAt, stringAt } from '../meta/values/access.js'
import { startInformer, whenStarted } from '../objects/informer.js'
import type { ObjectEntry } from '../objects/object-store.js'
import type { ObjectStores } from '../objects/object-stores.js'
import { decodeStored } from '../objects/stored-object.js'

export interface RemoteService {
  /** `v1.example.com`. */
  readonly name: string
  readonly group: string
  readonly version: string
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number }
  /** PEM; the system's authorities if absent. */
  readonly ca: string | undefined
  readonly insecure: boolean
  readonly groupPriority: number
  readonly versionPriority: number
  readonly isAvailable: boolean
}

export interface RemoteServices {
  find(group: string, version: string): RemoteService | undefined
  get(name: string): RemoteService | undefined
  all(): Iterable<RemoteService>
  readonly size: number
  /**
   * Calls the listener with the name of each APIService with a Service that was read, written or deleted, until the
   * result is called.
   */
  onChange(listener: (name: string) => void): () => void
  stop(): void
}

/** Resolves when all APIServices are read. */
export async function startRemoteServices(
  objects: Pick<ObjectStores, 'objectStore'>,
  kind: Kind,
  log: Logger,
): Promise<RemoteServices> {
  const byName = new Map<string, RemoteService>()
  const listeners = new Set<(name: string) => void>()
  let unseen = new Set<string>()

  function put(name: string, entry: ObjectEntry | undefined): void {
    const remote = entry && remoteServiceOf(entry)
    const isChange = remote !== undefined || byName.has(name)
    if (remote) byName.set(name, remote)
    else byName.delete(name)
    if (isChange) for (const listener of listeners) listener(name)
  }

  const nameIn = (key: string): string => key.slice(kind.keyPrefix.length)
  const informer = startInformer(
    objects.objectStore(kind).cache,
    kind.keyPrefix,
    {
      begin: () => void (unseen = new Set(byName.keys())),
      entry(entry) {
        unseen.delete(nameIn(entry.key))
        put(nameIn(entry.key), entry)
      },
      complete() {
        for (const name of unseen) put(name, undefined)
      },
      event: ({ key, entry }) => put(nameIn(key), entry),
    },
    log,
  )
  await whenStarted(informer)
  return {
    find: (group, version) => byName.get(`${version}.${group}`),
    get: name => byName.get(name),
    all: () => byName.values(),
    get size() {
      return byName.size
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    stop: () => informer.stop(),
  }
}

/** Nearly all APIServices are local, and need not be parsed to know that. */
const remoteServiceOf = (entry: ObjectEntry): RemoteService | undefined =>
  entry.value.includes('"service":') ? readRemoteService(decodeStored(entry)) : undefined

/** Undefined for an APIService without a Service. */
export function readRemoteService(apiService: ApiObject): RemoteService | undefined {
  const spec = objectAt(apiService, 'spec')
  const service = objectOrNone(spec, 'service')
  if (!service) return undefined
  const bundle = stringAt(spec, 'caBundle')
  return {
    name: metaOf(apiService).name ?? '',
    group: stringAt(spec, 'group'),
    version: stringAt(spec, 'version'),
    service: {
      namespace: stringAt(service, 'namespace'),
      name: stringAt(service, 'name'),
      port: numberOrNone(service, 'port') ?? 443,
    },
    ca: bundle === '' ? undefined : Buffer.from(bundle, 'base64').toString('latin1'),
    insecure: spec['insecureSkipTLSVerify'] === true,
    groupPriority: numberAt(spec, 'groupPriorityMinimum'),
    versionPriority: numberAt(spec, 'versionPriority'),
    isAvailable: objectsAt(objectAt(apiService, 'status'), 'conditions').some(
      condition => condition['type'] === 'Available' && condition['status'] === 'True',
    ),
  }
}

/** Equal for APIServices that one server serves. */
export const serverOf = ({ service: { namespace, name, port } }: RemoteService): string =>
  `${namespace}/${name}:${port}`
