// pods/eviction: an Eviction deletes a pod if the PodDisruptionBudgets allow that. It is not stored.

import { NO_ADMISSION } from '../../admission/chain.js'
import { evicted, guards, isNoLoss, isOver, sparesUnready, stillProcessed, withDisruption } from '../../builtin/pod.js'
import type { Kind } from '../../kinds/kind.js'
import { resourceOf } from '../../kinds/kind-names.js'
import { hasReason, unclassified } from '../../meta/errors/status.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { type DeleteOptions, failedBeforeTerminating } from '../../meta/options/write-options.js'
import { printTime } from '../../meta/values/time.js'
import { getOwn } from '../../meta/values/value.js'
import { keyPrefixOf } from '../../objects/object-store.js'
import { decodeStored } from '../../objects/stored-object.js'
import { forResource } from '../../request/request.js'
import { typedVirtualResource } from '../../request/typed-virtual-resource.js'
import type { VirtualRequest, VirtualResource } from '../../request/virtual-resource.js'
import { decodeDeleteOptions } from '../../types/delete-options.js'
import type { ApiContext } from '../api-context.js'
import { getObject } from '../read/get.js'
import { serverObjects } from '../system-writes.js'
import { remove } from '../write/delete.js'
import { updateWithoutAdmission } from '../write/update-without-admission.js'
import { checkName, DONE, podTarget } from './pod-subresource.js'

export const podEvictions = (context: ApiContext, pods: Kind, budgets: Kind): VirtualResource =>
  typedVirtualResource('v1', 'pods/eviction', request => evict(context, pods, budgets, request), ['policy/v1beta1'])

async function evict(context: ApiContext, pods: Kind, budgets: Kind, request: VirtualRequest): Promise<ApiObject> {
  const { namespace, name, now, object: eviction } = request
  const target = podTarget(pods, namespace, name, 'eviction')
  checkName(request, 'Eviction')
  const requested = decodeDeleteOptions(getOwn(eviction, 'deleteOptions') ?? {})
  const deletion: DeleteOptions = { ...requested, dryRun: requested.dryRun || request.request.dryRun }
  await request.validate()
  const isConditional = deletion.preconditions?.resourceVersion !== undefined
  const objects = serverObjects(context)

  for (let attempt = 1; ; attempt++) {
    const pod = (await getObject(context, forResource(request.request, target, { resourceVersion: '' }))).object.value()
    if (!isNoLoss(pod)) return guarded(pod)
    try {
      // A pending pod may have started meanwhile.
      return await deletePod(isOver(pod) || isConditional ? deletion : atVersion(deletion, pod))
    } catch (error) {
      if (!hasReason(error, 'Conflict') || isConditional || attempt === MAX_ATTEMPTS) throw error
    }
  }

  /** Evicts a pod that may count for a budget. */
  async function guarded(pod: ApiObject): Promise<ApiObject> {
    const { entries } = await context.objectStore(budgets).cache.range(keyPrefixOf(budgets, namespace))
    const guarding = entries.map(decodeStored).filter(budget => guards(budget, pod))
    if (guarding.length > 1) throw unclassified(MORE_THAN_ONE)
    const [budget] = guarding
    if (!budget) return deletePod(deletion)
    if (sparesUnready(budget, pod)) {
      try {
        return await deletePod(atVersion(deletion, pod))
      } catch (error) {
        // The pod may have become ready; the client is to try again.
        throw hasReason(error, 'Conflict') && !isConditional ? stillProcessed(budget) : error
      }
    }
    const disrupt = (live: ApiObject): ApiObject => withDisruption(live, name, printTime(now))
    if (deletion.dryRun) disrupt(budget)
    else await objects.change(budgets, namespace, metaOf(budget).name ?? '', disrupt, 'status')
    return deletePod(deletion)
  }

  async function deletePod(how: DeleteOptions): Promise<ApiObject> {
    if (!how.dryRun) {
      const { preconditions } = how
      const changed = await updateWithoutAdmission(context, forResource(request.request, target, how), pod => {
        const failed = preconditions && failedBeforeTerminating(preconditions, metaOf(pod), resourceOf(pods))
        if (failed) throw failed
        return evicted(pod, printTime(now))
      })
      if (preconditions?.resourceVersion !== undefined) how = atVersion(how, changed)
    }
    // The eviction is admitted, so that the delete that carries it out is not.
    await remove({ ...context, admission: NO_ADMISSION }, forResource(request.request, target, how))
    return DONE
  }
}

const MAX_ATTEMPTS = 20
const MORE_THAN_ONE = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'

const atVersion = (options: DeleteOptions, pod: ApiObject): DeleteOptions => ({
  ...options,
  preconditions: { ...options.preconditions, resourceVersion: metaOf(pod).resourceVersion ?? '' },
})
