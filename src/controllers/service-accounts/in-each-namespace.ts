// Keeps one object of a name in every namespace: it is made for each new namespace, and again when it was changed or
// deleted.
import type { Kind } from '../../kinds/kind.js'
import { hasReason } from '../../meta/errors/status.js'
import { metaOf } from '../../meta/object/object-meta.js'
import type { ApiContext } from '../../verbs/api-context.js'
import type { SystemObjects } from '../../verbs/system-writes.js'
import type { Controller, ControllerEnv } from '../common/controller.js'
import { startKindController } from '../common/kind-controller.js'

export interface InEachNamespace {
  /** The name of the queue. */
  readonly queue: string
  readonly objects: SystemObjects
  readonly namespaces: Kind
  readonly kind: Kind
  readonly name: string
  /** Makes the object of a namespace as it should be. */
  ensure(namespace: string): Promise<void>
  readonly env: ControllerEnv
}

export function startInEachNamespace(context: ApiContext, options: InEachNamespace): Promise<Controller> {
  const { queue, objects, namespaces, kind, name, ensure, env } = options
  return startKindController(context, {
    name: queue,
    env,
    follow: [
      { kind: namespaces, keys: change => (change.isDeleted ? [] : [change.name]) },
      { kind, keys: change => (change.name === name ? [change.namespace] : []) },
    ],
    async reconcile(namespace) {
      const found = await objects.get(namespaces, '', namespace)
      if (!found || metaOf(found).deletionTimestamp !== undefined) return
      await ensure(namespace).catch((error: unknown) => {
        // The namespace is being deleted since.
        if (!hasReason(error, 'NotFound') && !hasReason(error, 'Forbidden')) throw error
      })
    },
  })
}
