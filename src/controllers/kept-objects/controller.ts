// Keeps objects in being that a cluster cannot do without, such as the Service `kubernetes`: one that is deleted is
// created again, also after a creation that was not possible.
import type { Kind } from '../../kinds/kind.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { startInformer } from '../../objects/informer.js'
import { type ApiContext } from '../../verbs/api-context.js'
import { serverObjects } from '../../verbs/system-writes.js'
import { type Controller, type ControllerEnv, createControllerQueue, whenRead } from '../common/controller.js'

export interface KeptObject {
  readonly kind: Kind
  readonly object: ApiObject
}

export async function startKeptObjects(
  context: ApiContext,
  kept: readonly KeptObject[],
  env: ControllerEnv,
): Promise<Controller> {
  const objects = serverObjects(context)
  const byKey = new Map(kept.map(each => [keyOf(each), each]))
  const queue = createControllerQueue('kept_objects', env, reconcile)
  const informers = [...new Set(kept.map(({ kind }) => kind))].map(kind =>
    startInformer(
      context.objectStore(kind).cache,
      kind.keyPrefix,
      {
        entry() {},
        complete() {
          for (const [key, each] of byKey) if (each.kind === kind) queue.add(key)
        },
        event({ key, entry }) {
          if (!entry && byKey.has(key)) queue.add(key)
        },
      },
      env.log,
    ),
  )

  async function reconcile(key: string): Promise<void> {
    const { kind, object } = byKey.get(key)!
    const { namespace = '', name = '' } = metaOf(object)
    if (await objects.get(kind, namespace, name)) return
    await objects.create(kind, structuredClone(object))
  }

  await Promise.all(informers.map(({ started }) => whenRead(started)))
  return {
    idle: () => queue.idle(),
    stop() {
      for (const informer of informers) informer.stop()
      queue.stop()
    },
  }
}

function keyOf({ kind, object }: KeptObject): string {
  const { namespace = '', name = '' } = metaOf(object)
  return `${kind.keyPrefix}${namespace === '' ? '' : `${namespace}/`}${name}`
}
