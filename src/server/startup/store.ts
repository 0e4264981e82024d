// Opens the store of a server: measured, encrypted where that is asked for, and on etcd in kube-apiserver's encodings.

import type { TimerClock } from '../../base/clock.js'
import type { Logger } from '../../base/logger.js'
import type { MetricsRegistry } from '../../base/metrics.js'
import { oldVersions } from '../../builtin/old-versions.js'
import { parseServiceRanges } from '../../builtin/service-addresses.js'
import { storedDefaults } from '../../builtin/stored-defaults.js'
import type { InternedParts } from '../../codec/json.js'
import { STORED_DEFINITION } from '../../crd/stored-form.js'
import type { Strategy } from '../../kinds/kind.js'
import type { Registry } from '../../kinds/registry.js'
import { isGateOn } from '../../meta/feature-gates.js'
import { groupVersionKind } from '../../meta/group-version.js'
import { createEncodedStore } from '../../objects/encoded-store.js'
import { openStore, type StorageOptions, storedKeyOf } from '../../storage/open-store.js'
import type { StoreRoute } from '../../storage/routed-store.js'
import type { Store } from '../../storage/store.js'
import { builtinTypes } from '../../types/type-table.js'
import type { Encryption, EncryptionParts } from '../encryption/encryption.js'
import { measureStore } from '../observability/storage-metrics.js'
import type { ServerOptions } from '../options/server-options.js'

const REPLACED_PAUSE_MS = 10_000

export interface StoreParts {
  readonly encryption: Encryption | undefined
  readonly registry: Registry
  readonly metrics: MetricsRegistry
  readonly log: Logger
  readonly clock: TimerClock
  /** Whether work for requests that are traced has spans. */
  readonly isTraced: boolean
  /** What objects share, as they are read and written. */
  readonly parts: InternedParts
}

export async function openServerStore(
  options: ServerOptions,
  { encryption, registry, metrics, log, clock, isTraced, parts }: StoreParts,
): Promise<Store> {
  const opened = await openStores(storageOf(options, log), registry, log, clock)
  const measured = measureStore(opened, metrics, registry)
  const decrypted = encryption ? await encryption.encrypted(measured) : measured
  const encoded = inEtcdEncoding(decrypted, options, registry, parts)
  return isTraced ? inSpans(encoded, registry) : encoded
}

/** One store, or several as one. */
async function openStores(storage: StorageOptions, registry: Registry, log: Logger, clock: TimerClock): Promise<Store> {
  const main = await openStore(storage, clock)
  if (storage.kind !== 'etcd' || !storage.overrides?.length) return main
  const { createRoutedStore } = await import('../../storage/routed-store.js')
  const stores = new Map<string, Store>()
  const routes: StoreRoute[] = []
  try {
    for (const { group, resource, endpoints } of storage.overrides) {
      const kind = [...registry.all()].find(each => each.group === group && each.names.plural === resource)
      if (!kind) log.warn(`--etcd-servers-overrides: there is no resource ${group}/${resource}`)
      const servers = serversOf(endpoints)
      const store = stores.get(servers) ?? (await openStore({ ...storage, endpoints }, clock))
      stores.set(servers, store)
      if (kind) routes.push({ prefix: kind.keyPrefix, store })
    }
  } catch (error) {
    await Promise.all([main, ...stores.values()].map(store => store.close()))
    throw error
  }
  return createRoutedStore(main, routes, [...stores.values()])
}

/** The same servers in another order are the same etcd. */
const serversOf = (endpoints: readonly string[]): string => endpoints.toSorted().join(';')

/** Loaded only where requests are traced. */
async function inSpans(store: Store, registry: Registry): Promise<Store> {
  const { createTracedStore } = await import('../../storage/tracing.js')
  return createTracedStore(store, key => {
    const kind = registry.ofKey(key)
    return { group: kind?.group ?? '', resource: kind?.names.plural ?? '' }
  })
}

/** Loaded only where objects are encrypted. */
export async function startEncryption(
  { encryption, storage }: ServerOptions,
  parts: Omit<EncryptionParts, 'storedKey'>,
): Promise<Encryption | undefined> {
  if (!encryption) return undefined
  const { startEncryption: start } = await import('../encryption/encryption.js')
  return start(encryption, { ...parts, storedKey: storedKeyOf(storage) })
}

/** Every watch that finds it reports that the data was replaced; one line in a while is enough. */
function storageOf({ storage, egress }: ServerOptions, log: Logger): StorageOptions {
  if (storage.kind !== 'etcd') return storage
  let notBefore = 0
  const onReplaced = (reason: string): void => {
    if (performance.now() < notBefore) return
    notBefore = performance.now() + REPLACED_PAUSE_MS
    log.error('etcd has other data than before: everything is read again; restart all replicas after a restore', {
      reason,
    })
  }
  return { ...storage, dial: egress?.etcd, onReplaced }
}

/** On etcd, objects are encoded as kube-apiserver encodes them; in the server's own stores they are JSON. */
function inEtcdEncoding(
  store: Store,
  { storage, api }: ServerOptions,
  registry: Registry,
  parts: InternedParts,
): Store {
  if (storage.kind !== 'etcd') return store
  const types = builtinTypes()
  const families = (parseServiceRanges(api.serviceRange) ?? []).map(({ family }) => family)
  const findStrategy = (apiVersion: string, name: string): Strategy | undefined => {
    if (!types.ofKind(apiVersion, name)) return undefined
    const { group, version } = groupVersionKind(apiVersion, name)
    return registry.findKind(group, name)?.versions.find(each => each.name === version)?.strategy
  }
  return createEncodedStore(store, {
    types,
    parts,
    protobuf: api.storageMediaType === 'application/vnd.kubernetes.protobuf',
    cbor: isGateOn(api.featureGates, 'CBORServingAndStorage'),
    storedForms: [STORED_DEFINITION],
    oldVersions: oldVersions(),
    complete: storedDefaults(findStrategy, families),
  })
}
