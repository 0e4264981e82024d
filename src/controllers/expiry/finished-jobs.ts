// Deletes Jobs some time after they have finished, as their ttlSecondsAfterFinished says.
import type { Kind } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { numberOrNone, objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { millisOf } from '../../meta/values/time.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { systemObjects } from '../../verbs/system-writes.js'
import type { Controller, ControllerEnv } from '../common/controller.js'
import { queueKey, readQueueKey, startKindController } from '../common/kind-controller.js'

export function startTtlAfterFinished(context: ApiContext, jobs: Kind, env: ControllerEnv): Promise<Controller> {
  const objects = systemObjects(context, 'ttl-after-finished-controller')
  return startKindController(context, {
    name: 'ttl_jobs_to_delete',
    env,
    follow: [
      {
        kind: jobs,
        keys(change) {
          const job = change.object()
          return job && expiryOf(job) !== undefined ? [queueKey(change)] : []
        },
      },
    ],
    async reconcile(key, queue) {
      const { namespace, name } = readQueueKey(key)
      const job = await objects.get(jobs, namespace, name)
      const expiry = job && expiryOf(job)
      if (expiry === undefined) return
      const left = expiry - context.now()
      if (left > 0) return queue.addLater(key, left)
      const { uid, resourceVersion } = metaOf(job!)
      await objects.delete(jobs, namespace, name, {
        propagationPolicy: 'Foreground',
        preconditions: { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) },
      })
    },
  })
}

/** When a Job is to be deleted, in milliseconds; undefined if it has not finished, or stays. */
function expiryOf(job: ApiObject): number | undefined {
  const seconds = numberOrNone(objectAt(job, 'spec'), 'ttlSecondsAfterFinished')
  if (seconds === undefined || metaOf(job).deletionTimestamp !== undefined) return undefined
  const finished = objectsAt(objectAt(job, 'status'), 'conditions').find(
    each => ['Complete', 'Failed'].includes(stringAt(each, 'type')) && stringAt(each, 'status') === 'True',
  )
  return finished && millisOf(stringAt(finished, 'lastTransitionTime')) + seconds * 1000
}
