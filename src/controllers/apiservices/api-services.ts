// Keeps an APIService for every group version that this server serves, as kube-aggregator does. They are created and
// deleted with the group versions; APIServices that clients have created are not touched.

import type { Kind } from '../../kinds/kind.js'
import type { Registry } from '../../kinds/registry.js'
import { groupPriority, isBuiltinGroup, versionPriority } from '../../meta/group-priorities.js'
import { parseGroupVersion } from '../../meta/group-version.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt } from '../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import { startInformer } from '../../objects/informer.js'
import { decodeStored } from '../../objects/stored-object.js'
import { type ApiContext } from '../../verbs/api-context.js'
import { serverObjects } from '../../verbs/system-writes.js'
import { type Controller, type ControllerEnv, createControllerQueue, whenRead } from '../common/controller.js'

const MANAGED_LABEL = 'kube-aggregator.kubernetes.io/automanaged'

/** Changes of the registry within this time are handled together: definitions often come many at a time. */
const BATCH_MS = 50
/** An APIService that this process does not serve is kept this long: another process may have served it first. */
const UNKNOWN_GRACE_MS = 5000

export async function startApiServices(
  context: ApiContext,
  registry: Registry,
  services: Kind,
  /** Group versions with virtual resources only, which are not in the registry. */
  virtual: readonly string[],
  /** Whether all definitions can be read. If not, a group version without a kind may be that of one that cannot. */
  definitionsAreComplete: () => boolean,
  env: ControllerEnv,
): Promise<Controller> {
  const objects = serverObjects(context)
  const queue = createControllerQueue('autoregister', env, reconcile)
  const wanted = createWantedServices(registry, virtual)
  /** Groups whose kinds have changed. */
  const changed = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  const missing = new Set<string>()

  const informer = startInformer(
    context.objectStore(services).cache,
    services.keyPrefix,
    {
      begin() {
        missing.clear()
        for (const name of wanted.names()) missing.add(name)
      },
      entry(entry) {
        const apiService = decodeStored(entry)
        const { name = '', labels = {} } = metaOf(apiService)
        missing.delete(name)
        if (!wanted.get(name) && Object.hasOwn(labels, MANAGED_LABEL)) queue.addLater(name, UNKNOWN_GRACE_MS)
        // Those of built-in group versions are brought up to date at the start only.
        if (labels[MANAGED_LABEL] !== undefined && isOutdated(apiService, wanted.get(name))) queue.add(name)
      },
      complete() {
        for (const name of missing) queue.add(name)
      },
      event({ key, entry }) {
        const name = key.slice(services.keyPrefix.length)
        if (!entry && wanted.get(name)) queue.add(name)
        if (entry && !wanted.get(name)) queue.addLater(name, UNKNOWN_GRACE_MS)
        if (entry && wanted.get(name)?.label === 'true') queue.add(name)
      },
    },
    env.log,
  )

  const stopListening = registry.onChange(group => {
    changed.add(group)
    timer ??= setTimeout(compare, BATCH_MS).unref()
  })

  function compare(): void {
    timer = undefined
    for (const group of changed) for (const name of wanted.refresh(group)) queue.add(name)
    changed.clear()
  }

  async function reconcile(name: string): Promise<void> {
    const existing = await objects.get(services, '', name)
    const service = wanted.get(name)
    if (service && !existing) {
      const { label, ...spec } = service
      await objects.create(services, { metadata: { name, labels: { [MANAGED_LABEL]: label } }, spec })
    } else if (service && existing && isOutdated(existing, service)) {
      const { label: _, ...spec } = service
      await objects.change(services, '', name, old => (isOutdated(old, service) ? { ...old, spec } : undefined))
    } else if (!service && existing && Object.hasOwn(metaOf(existing).labels ?? {}, MANAGED_LABEL)) {
      if (!definitionsAreComplete()) return queue.addLater(name, UNKNOWN_GRACE_MS)
      await objects.delete(services, '', name)
    }
  }

  await whenRead(informer.started)
  return {
    idle: () => queue.idle(),
    stop() {
      stopListening()
      clearTimeout(timer)
      informer.stop()
      queue.stop()
    },
  }
}

interface WantedService extends ValueObject {
  readonly label: string
}

/** Whether a client has changed what this server manages. An APIService without the label is the client's. */
function isOutdated(apiService: ApiObject, wanted: WantedService | undefined): boolean {
  if (!wanted || metaOf(apiService).labels?.[MANAGED_LABEL] === undefined) return false
  const { label: _, ...spec } = wanted
  return !equalValues(objectAt(apiService, 'spec'), spec)
}

interface WantedServices {
  get(name: string): WantedService | undefined
  names(): Iterable<string>
  /** Reads the kinds of a group again. Returns the names of the APIServices that are wanted now, or no longer wanted. */
  refresh(group: string): string[]
}

function createWantedServices(registry: Registry, virtual: readonly string[]): WantedServices {
  const wanted = new Map<string, WantedService>()
  const versionsOf = new Map<string, ReadonlySet<string>>()
  const virtualVersions = virtual.flatMap(each => {
    const parsed = parseGroupVersion(each)
    return parsed.ok ? [parsed.value] : []
  })

  function servedVersions(group: string): Set<string> {
    const versions = new Set<string>()
    for (const kind of registry.inGroup(group)) {
      for (const { name, served } of kind.versions) if (served) versions.add(name)
    }
    for (const each of virtualVersions) if (each.group === group) versions.add(each.version)
    return versions
  }

  function refresh(group: string): string[] {
    if (group === OWN_GROUP) return []
    const before = versionsOf.get(group) ?? new Set()
    const now = servedVersions(group)
    const added = [...now].filter(version => !before.has(version))
    const removed = [...before].filter(version => !now.has(version))
    for (const version of added) wanted.set(`${version}.${group}`, serviceFor(group, version))
    for (const version of removed) wanted.delete(`${version}.${group}`)
    if (now.size > 0) versionsOf.set(group, now)
    else versionsOf.delete(group)
    return [...added, ...removed].map(version => `${version}.${group}`)
  }

  const groups = [...registry.all(), ...virtualVersions].map(({ group }) => group)
  for (const group of new Set(groups)) refresh(group)
  return { get: name => wanted.get(name), names: () => wanted.keys(), refresh }
}

/** APIServices of their own group are not listed by kube-apiserver either. */
const OWN_GROUP = 'apiregistration.k8s.io'

function serviceFor(group: string, version: string): WantedService {
  return {
    label: isBuiltinGroup(group) ? 'onstart' : 'true',
    ...(group !== '' && { group }),
    version,
    groupPriorityMinimum: groupPriority(group),
    versionPriority: versionPriority(group, version),
  }
}
