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
  env: ControllerEnv,
): Promise<Controller> {
  const objects = serverObjects(context)
  const queue = createControllerQueue('autoregister', env, reconcile)
  let wanted = wantedServices(registry, virtual)
  let timer: NodeJS.Timeout | undefined
  const missing = new Set<string>()

  const informer = startInformer(
    context.objectStore(services).cache,
    services.keyPrefix,
    {
      begin() {
        missing.clear()
        for (const name of wanted.keys()) missing.add(name)
      },
      entry(entry) {
        const apiService = decodeStored(entry)
        const { name = '', labels = {} } = metaOf(apiService)
        missing.delete(name)
        if (!wanted.has(name) && Object.hasOwn(labels, MANAGED_LABEL)) queue.addLater(name, UNKNOWN_GRACE_MS)
        // Those of built-in group versions are brought up to date at the start only.
        if (labels[MANAGED_LABEL] !== undefined && isOutdated(apiService, wanted.get(name))) queue.add(name)
      },
      complete() {
        for (const name of missing) queue.add(name)
      },
      event({ key, entry }) {
        const name = key.slice(services.keyPrefix.length)
        if (!entry && wanted.has(name)) queue.add(name)
        if (entry && !wanted.has(name)) queue.addLater(name, UNKNOWN_GRACE_MS)
        if (entry && wanted.get(name)?.label === 'true') queue.add(name)
      },
    },
    env.log,
  )

  const stopListening = registry.onChange(() => {
    timer ??= setTimeout(compare, BATCH_MS).unref()
  })

  function compare(): void {
    timer = undefined
    const before = wanted
    wanted = wantedServices(registry, virtual)
    for (const name of wanted.keys()) if (!before.has(name)) queue.add(name)
    for (const name of before.keys()) if (!wanted.has(name)) queue.add(name)
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

/** By the name of the APIService. */
function wantedServices(registry: Registry, virtual: readonly string[]): Map<string, WantedService> {
  const wanted = new Map<string, WantedService>()
  const add = (group: string, version: string): void => {
    const name = `${version}.${group}`
    if (group !== OWN_GROUP && !wanted.has(name)) wanted.set(name, serviceFor(group, version))
  }
  for (const { group, versions } of registry.all()) {
    for (const { name, served } of versions) if (served) add(group, name)
  }
  for (const each of virtual) {
    const parsed = parseGroupVersion(each)
    if (parsed.ok) add(parsed.value.group, parsed.value.version)
  }
  return wanted
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
