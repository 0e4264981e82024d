// A controller that follows the objects of some kinds: a change of an object puts keys into its queue.
import type { Kind } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { startInformer } from '../../objects/informer.js'
import { type ObjectEntry, type ObjectKey, objectKeyOf } from '../../objects/object-store.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { type Controller, type ControllerEnv, createControllerQueue, whenRead } from './controller.js'
import type { WorkQueue } from './work-queue.js'

/** An object that exists at the start, or that was written or deleted since. */
export interface ObjectChange extends ObjectKey {
  readonly isDeleted: boolean
  /** Undefined if it was deleted. Parsed on the first call, because most changes concern no controller. */
  object(): ApiObject | undefined
}

export interface KindFollower {
  readonly kind: Kind
  /** The keys to reconcile after a change. */
  keys(change: ObjectChange): readonly string[]
}

export interface KindControllerOptions {
  /** The name of its queue in logs and metrics. */
  readonly name: string
  readonly follow: readonly KindFollower[]
  /** Rejects when the key is to be tried again. */
  reconcile(key: string, queue: WorkQueue): Promise<void>
  readonly env: ControllerEnv
}

/** Resolves when all objects have been read once. */
export async function startKindController(
  context: ApiContext,
  { name, follow, reconcile, env }: KindControllerOptions,
): Promise<Controller> {
  const queue: WorkQueue = createControllerQueue(name, env, key => reconcile(key, queue))
  const informers = follow.map(({ kind, keys }) => {
    const changed = (key: string, entry: ObjectEntry | undefined): void => {
      for (const each of keys(changeOf(kind, key, entry))) queue.add(each)
    }
    return startInformer(
      context.objectStore(kind).cache,
      kind.keyPrefix,
      { entry: entry => changed(entry.key, entry), event: ({ key, entry }) => changed(key, entry) },
      env.log,
    )
  })
  await Promise.all(informers.map(({ started }) => whenRead(started)))
  return {
    idle: () => queue.idle(),
    stop() {
      for (const informer of informers) informer.stop()
      queue.stop()
    },
  }
}

function changeOf(kind: Kind, key: string, entry: ObjectEntry | undefined): ObjectChange {
  let object: ApiObject | undefined
  return {
    ...objectKeyOf(kind, key),
    isDeleted: entry === undefined,
    object: () => (object ??= entry && decodeStored(entry)),
  }
}

/** `namespace/name`, as the key of an object in a queue. */
export const queueKey = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`

export function readQueueKey(key: string): ObjectKey {
  const slash = key.indexOf('/')
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}
