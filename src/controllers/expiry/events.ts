// Deletes Events some time after they were last written (--event-ttl). In kube-apiserver a lease of etcd does that; here
// the keys are kept in the order of their writes, so that the next one to expire is the first.
import type { Kind } from '../../kinds/kind.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { millisOf } from '../../meta/values/time.js'
import { startInformer } from '../../objects/informer.js'
import { objectKeyOf } from '../../objects/object-store.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { Revision } from '../../storage/store.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { type Controller, type ControllerEnv, createControllerQueue, whenRead } from '../common/controller.js'

/** Events that expire within this time are deleted together. */
const BATCH_MS = 1_000
const EXPIRED = 'expired'

interface Written {
  readonly revision: Revision
  readonly expiry: number
}

export async function startEventExpiry(
  context: ApiContext,
  events: Kind,
  ttlMs: number,
  env: ControllerEnv,
): Promise<Controller> {
  const store = context.objectStore(events)
  const written = new Map<string, Written>()
  const queue = createControllerQueue('event_expiry', env, deleteExpired, 1)
  let cancelTimer: (() => void) | undefined
  const informer = startInformer(
    store.cache,
    events.keyPrefix,
    {
      begin: () => written.clear(),
      // When it was last written is not known; it was created at least that long ago.
      entry: entry => put(entry.key, entry.revision, millisOf(metaOf(decodeStored(entry)).creationTimestamp ?? '')),
      event: ({ key, entry }) => (entry ? put(key, entry.revision, context.now()) : void written.delete(key)),
      complete() {
        const sorted = [...written].toSorted(([, a], [, b]) => a.expiry - b.expiry)
        written.clear()
        for (const [key, each] of sorted) written.set(key, each)
        wait()
      },
    },
    env.log,
  )

  function put(key: string, revision: Revision, at: number): void {
    // To the end, where the latest are.
    written.delete(key)
    written.set(key, { revision, expiry: (Number.isNaN(at) ? context.now() : at) + ttlMs })
    if (!cancelTimer) wait()
  }

  /** One timer, for the first to expire. */
  function wait(): void {
    cancelTimer?.()
    cancelTimer = undefined
    const [first] = written.values()
    if (!first) return
    const delay = Math.max(first.expiry - context.now(), BATCH_MS)
    cancelTimer = env.clock.after(delay, () => queue.add(EXPIRED))
  }

  async function deleteExpired(): Promise<void> {
    for (const [key, { revision, expiry }] of written) {
      if (expiry > context.now()) break
      const { namespace, name } = objectKeyOf(events, key)
      // One that was written meanwhile lives on; its event puts it at the end.
      await store.delete(namespace, name, revision)
      if (written.get(key)?.revision === revision) written.delete(key)
    }
    wait()
  }

  await whenRead(informer.started)
  return {
    idle: () => queue.idle(),
    stop() {
      cancelTimer?.()
      informer.stop()
      queue.stop()
    },
  }
}
