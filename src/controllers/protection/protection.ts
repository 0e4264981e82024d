// Protection finalizers: an object that is being deleted keeps its finalizer as long as something uses it. An object
// without the finalizer gets it, also one that was stored before the admission plugin added it.
import type { Kind } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf, withMeta } from '../../meta/object/object-meta.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { type SystemObjects, systemObjects } from '../../verbs/system-writes.js'
import type { Controller, ControllerEnv } from '../common/controller.js'
import { queueKey, readQueueKey, startKindController } from '../common/kind-controller.js'
import type { WorkQueue } from '../common/work-queue.js'

export interface Protection {
  /** The controller's name as a user. */
  readonly controller: string
  readonly queue: string
  readonly kind: Kind
  readonly finalizer: string
  /** The kinds whose objects use it. */
  readonly users: readonly Kind[]
  isUsed(object: ApiObject): boolean | Promise<boolean>
  /** The manager of the fields that `sayState` applies. */
  readonly applyManager?: string
  /** Says in the status whether the object can be used, or is kept because something uses it. */
  sayState?(object: ApiObject, isKept: boolean, objects: SystemObjects): Promise<void>
  /** How long after the deletion the finalizer stays, though nothing uses the object. */
  readonly graceMs?: number
}

export function startProtection(
  context: ApiContext,
  { controller, queue: queueName, kind, finalizer, users, isUsed, applyManager, sayState, graceMs = 0 }: Protection,
  env: ControllerEnv,
): Promise<Controller> {
  const objects = systemObjects(context, controller, applyManager)
  /** Keys of objects that are being deleted and were in use at the last look. */
  const inUse = new Set<string>()

  async function reconcile(key: string, queue: WorkQueue): Promise<void> {
    const { namespace, name } = readQueueKey(key)
    inUse.delete(key)
    const object = await objects.get(kind, namespace, name)
    if (!object) return
    const { deletionTimestamp, finalizers = [], uid } = metaOf(object)
    const isProtected = finalizers.includes(finalizer)
    if (deletionTimestamp === undefined) {
      if (!isProtected) await setFinalizers(uid, have => [...have, finalizer])
      await sayState?.(object, false, objects)
      return
    }
    if (!isProtected) return
    // Before the look, so that a user that goes during it is not missed.
    inUse.add(key)
    if (await isUsed(object)) {
      await sayState?.(object, true, objects)
      return
    }
    inUse.delete(key)
    const waitMs = Date.parse(deletionTimestamp) + graceMs - env.clock.now()
    if (waitMs > 0 && graceMs > 0) return queue.addLater(key, waitMs)
    await setFinalizers(uid, have => have.filter(each => each !== finalizer))

    async function setFinalizers(of: string | undefined, change: (have: string[]) => string[]): Promise<void> {
      await objects.change(kind, namespace, name, old => {
        const { finalizers: have = [], ...rest } = metaOf(old)
        const next = change([...have])
        if (rest.uid !== of || next.length === have.length) return undefined
        return withMeta(old, next.length === 0 ? rest : { ...rest, finalizers: next }) as ApiObject
      })
    }
  }

  return startKindController(context, {
    name: queueName,
    env,
    reconcile,
    follow: [
      { kind, keys: change => (change.isDeleted ? [] : [queueKey(change)]) },
      // A user that changes or goes may be the last one.
      ...users.map(user => ({ kind: user, keys: () => (inUse.size === 0 ? [] : [...inUse]) })),
    ],
  })
}
