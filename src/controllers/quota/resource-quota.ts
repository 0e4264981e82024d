// Keeps the status of ResourceQuotas: what they limit, and what the objects of their namespace use of it. Admission adds
// the usage of each new object at once; this measures anew when objects are deleted, end or change, and now and then.
import { measureUsage } from '../../admission/quota-usage.js'
import type { Kind } from '../../kinds/kind.js'
import type { Registry } from '../../kinds/registry.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { has, objectAt } from '../../meta/values/access.js'
import { equalValues } from '../../meta/values/value.js'
import { startInformer } from '../../objects/informer.js'
import { createLister } from '../../objects/lister.js'
import { keyPrefixOf, objectKeyOf } from '../../objects/object-store.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { Store, StoreEvent, Watch } from '../../storage/store.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { systemObjects } from '../../verbs/system-writes.js'
import { type Controller, type ControllerEnv, createControllerQueue, whenRead } from '../common/controller.js'
import { createKeyReader } from '../common/key-reader.js'
import { queueKey, readQueueKey } from '../common/kind-controller.js'

/** Many objects may be deleted together; their namespace is measured once. */
const BATCH_MS = 50
const RESYNC_MS = 5 * 60_000
const RETRY_MS = 200
const UNCERTAIN_MS = 1_000
/** Kinds whose usage can change by an update; the others are counted. */
const MEASURED = new Set(['Pod.', 'Service.', 'PersistentVolumeClaim.', 'ResourceClaim.resource.k8s.io'])

const isMeasuredAnew = ({ group, names }: Kind): boolean => MEASURED.has(`${names.kind}.${group}`)

/** Whether the status is that of the spec. What admission adds to it needs no measurement. */
const isMeasured = (quota: ApiObject): boolean =>
  equalValues(objectAt(objectAt(quota, 'spec'), 'hard'), objectAt(objectAt(quota, 'status'), 'hard')) &&
  has(objectAt(quota, 'status'), 'used')

export async function startResourceQuotas(
  store: Store,
  context: ApiContext,
  registry: Registry,
  quotas: Kind,
  env: ControllerEnv,
): Promise<Controller> {
  const objects = systemObjects(context, 'resourcequota-controller')
  const queue = createControllerQueue('resourcequota_primary', env, reconcile)
  const lister = createLister(registry, context)
  const locate = createKeyReader(registry)
  /** The names of the quotas by namespace. */
  const known = new Map<string, Set<string>>()
  /** Namespaces that will be measured after `BATCH_MS`. */
  const pending = new Set<string>()
  /** When the quotas of a namespace were last measured. */
  const measuredAt = new Map<string, number>()
  let watch: Watch | undefined
  let isStopped = false

  const informer = startInformer(
    context.objectStore(quotas).cache,
    quotas.keyPrefix,
    {
      begin: () => known.clear(),
      entry: ({ key }) => put(key, true),
      event: ({ key, entry }) => (entry ? put(key, !isMeasured(decodeStored(entry))) : drop(key)),
    },
    env.log,
  )

  function put(key: string, isDue: boolean): void {
    const { namespace, name } = objectKeyOf(quotas, key)
    known.set(namespace, (known.get(namespace) ?? new Set()).add(name))
    if (isDue) queue.add(queueKey({ namespace, name }))
    void watchObjects()
  }

  function drop(key: string): void {
    const { namespace, name } = objectKeyOf(quotas, key)
    const names = known.get(namespace)
    if (names?.delete(name) && names.size === 0) {
      known.delete(namespace)
      measuredAt.delete(namespace)
    }
    if (known.size === 0) endWatch()
  }

  // ---- the objects that quotas count, watched only while there are quotas

  let isOpening = false

  async function watchObjects(): Promise<void> {
    if (watch || isOpening || isStopped) return
    isOpening = true
    try {
      const revision = await store.revision()
      if (isStopped) return
      watch = store.watch('/', revision, { event: onEvent, end: rewatch })
      // What was deleted before is not seen by the watch.
      for (const namespace of known.keys()) measureSoon(namespace)
    } catch {
      setTimeout(() => void watchObjects(), RETRY_MS).unref()
    } finally {
      isOpening = false
    }
  }

  function rewatch(): void {
    watch = undefined
    if (known.size > 0 && !isStopped) setTimeout(() => void watchObjects(), RETRY_MS).unref()
  }

  function endWatch(): void {
    watch?.close()
    watch = undefined
  }

  function onEvent({ key, value, previous }: StoreEvent): void {
    const ref = locate(key)
    if (!ref || !known.has(ref.namespace)) return
    if (!previous ? wasJustMeasured(ref.namespace) : !value || isMeasuredAnew(ref.kind)) measureSoon(ref.namespace)
  }

  /** An object that admission had counted may have been stored just after the measurement, which then missed it. */
  const wasJustMeasured = (namespace: string): boolean =>
    performance.now() - (measuredAt.get(namespace) ?? Number.NEGATIVE_INFINITY) < UNCERTAIN_MS

  function measureSoon(namespace: string): void {
    if (pending.has(namespace)) return
    pending.add(namespace)
    setTimeout(() => {
      pending.delete(namespace)
      for (const name of known.get(namespace) ?? []) queue.add(queueKey({ namespace, name }))
    }, BATCH_MS).unref()
  }

  const resync = setInterval(() => {
    for (const namespace of known.keys()) measureSoon(namespace)
  }, RESYNC_MS).unref()

  // ---- one quota

  const isCounted = ({ namespaced, verbs }: Kind): boolean =>
    namespaced && verbs.includes('delete') && verbs.includes('list')

  async function objectsOf(kind: Kind, namespace: string) {
    const { entries } = await context.objectStore(kind).cache.range(keyPrefixOf(kind, namespace))
    return entries.map(decodeStored)
  }

  async function reconcile(key: string): Promise<void> {
    const { namespace, name } = readQueueKey(key)
    const quota = await objects.get(quotas, namespace, name)
    if (!quota) return
    measuredAt.set(namespace, performance.now())
    const measured = await measureUsage(quota, {
      kinds: [...registry.all()].filter(isCounted),
      objects: kind => objectsOf(kind, namespace),
      now: context.now(),
      lister,
    })
    const hard = objectAt(objectAt(quota, 'spec'), 'hard')
    await objects.change(
      quotas,
      namespace,
      name,
      old => {
        const status = objectAt(old, 'status')
        // Admission has counted a new object meanwhile, or the spec has changed: it is measured again.
        if (old.metadata['resourceVersion'] !== quota.metadata['resourceVersion']) {
          queue.add(key)
          return undefined
        }
        const before = Object.entries(objectAt(status, 'used')).filter(([resource]) => Object.hasOwn(hard, resource))
        const used = { ...Object.fromEntries(before), ...measured }
        if (equalValues(status['hard'], hard) && equalValues(status['used'], used)) return undefined
        return { ...old, status: { ...status, hard: structuredClone(hard), used } }
      },
      'status',
    )
  }

  await whenRead(informer.started)
  return {
    idle: () => queue.idle(),
    stop() {
      isStopped = true
      informer.stop()
      endWatch()
      clearInterval(resync)
      queue.stop()
    },
  }
}
