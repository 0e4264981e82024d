// What is done to a pod by sending an object of another kind to it: binding it to a node, and evicting it. Neither kind
// is stored.

import { NO_ADMISSION } from '../../admission/chain.js'
import {
  bindingErrors,
  bound,
  evicted,
  guards,
  isNoLoss,
  isOver,
  sparesUnready,
  stillProcessed,
  unbindable,
  withDisruption,
} from '../../builtin/pod.js'
import type { Kind } from '../../kinds/kind.js'
import { resourceOf } from '../../kinds/kind-names.js'
import { printFieldError } from '../../meta/errors/field-errors.js'
import { badRequest, conflict, hasReason, success, unclassified } from '../../meta/errors/status.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { type DeleteOptions, failedBeforeTerminating } from '../../meta/options/write-options.js'
import { printTime } from '../../meta/values/time.js'
import { getOwn } from '../../meta/values/value.js'
import { keyPrefixOf } from '../../objects/object-store.js'
import { decodeStored } from '../../objects/stored-object.js'
import { forResource } from '../../request/request.js'
import { type Target } from '../../request/target.js'
import { typedVirtualResource } from '../../request/typed-virtual-resource.js'
import type { VirtualRequest, VirtualResource } from '../../request/virtual-resource.js'
import { decodeDeleteOptions } from '../../types/delete-options.js'
import { type ApiContext } from '../api-context.js'
import { getObject } from '../read/get.js'
import { systemObjects } from '../system-writes.js'
import { remove } from '../write/delete.js'
import { updateWithoutAdmission } from '../write/update-without-admission.js'

export interface PodActionKinds {
  readonly pods: Kind
  readonly budgets: Kind
}

export const podActions = (context: ApiContext, { pods, budgets }: PodActionKinds): VirtualResource[] => [
  typedVirtualResource('v1', 'pods/binding', request => bind(context, pods, request, request.name)),
  // As it was done before pods had parts.
  typedVirtualResource('v1', 'bindings', request => bind(context, pods, request, metaOf(request.object).name ?? '')),
  typedVirtualResource('v1', 'pods/eviction', request => evict(context, pods, budgets, request)),
]

/** That it was done is all there is to say. */
const DONE = success(undefined, 201) as unknown as ApiObject

const targetOf = (pods: Kind, namespace: string, name: string, subresource: string): Target => ({
  kind: pods,
  version: pods.versions[0]!,
  namespace,
  name,
  subresource,
})

async function bind(context: ApiContext, pods: Kind, request: VirtualRequest, name: string): Promise<ApiObject> {
  const target = targetOf(pods, request.namespace, name, 'binding')
  const { object: binding } = request
  checkName(request, 'Binding')
  const errors = bindingErrors(binding).map(printFieldError)
  if (errors.length > 0) throw unclassified(errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`)
  await request.validate()
  const { uid = '', resourceVersion = '' } = metaOf(binding)
  const meant = { ...(uid !== '' && { uid }), ...(resourceVersion !== '' && { resourceVersion }) }
  await updateWithoutAdmission(context, forResource(request.request, target, request.request.options), pod => {
    const failed = failedBeforeTerminating(meant, metaOf(pod), resourceOf(pods))
    if (failed) throw failed
    const why = unbindable(pod)
    if (why !== undefined) throw conflict({ group: '', resource: 'pods/binding' }, name, why)
    return bound(pod, binding, printTime(request.now))
  })
  return DONE
}

async function evict(context: ApiContext, pods: Kind, budgets: Kind, request: VirtualRequest): Promise<ApiObject> {
  const { namespace, name, now, object: eviction } = request
  const target = targetOf(pods, namespace, name, 'eviction')
  checkName(request, 'Eviction')
  const requested = decodeDeleteOptions(getOwn(eviction, 'deleteOptions') ?? {})
  const wished: DeleteOptions = { ...requested, dryRun: requested.dryRun || request.request.dryRun }
  await request.validate()
  const isMeant = wished.preconditions?.resourceVersion !== undefined
  const objects = systemObjects(context, 'kube-apiserver')

  for (let attempt = 1; ; attempt++) {
    const pod = (await getObject(context, forResource(request.request, target, { resourceVersion: '' }))).object.value()
    if (!isNoLoss(pod)) return guarded(pod)
    try {
      // One that waits to begin may have begun meanwhile.
      return await away(isOver(pod) || isMeant ? wished : atVersion(wished, pod))
    } catch (error) {
      if (!hasReason(error, 'Conflict') || isMeant || attempt === ATTEMPTS) throw error
    }
  }

  /** Evicts a pod whose loss may matter to a budget. */
  async function guarded(pod: ApiObject): Promise<ApiObject> {
    const { entries } = await context.objectStore(budgets).cache.range(keyPrefixOf(budgets, namespace))
    const guarding = entries.map(decodeStored).filter(budget => guards(budget, pod))
    if (guarding.length > 1) throw unclassified(MORE_THAN_ONE)
    const [budget] = guarding
    if (!budget) return away(wished)
    if (sparesUnready(budget, pod)) {
      try {
        return await away(atVersion(wished, pod))
      } catch (error) {
        // It may be ready by now: whoever asks again is told.
        throw hasReason(error, 'Conflict') && !isMeant ? stillProcessed(budget) : error
      }
    }
    const disrupt = (live: ApiObject): ApiObject => withDisruption(live, name, printTime(now))
    if (wished.dryRun) disrupt(budget)
    else await objects.change(budgets, namespace, metaOf(budget).name ?? '', disrupt, 'status')
    return away(wished)
  }

  async function away(deletion: DeleteOptions): Promise<ApiObject> {
    let how = deletion
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

const ATTEMPTS = 20
const MORE_THAN_ONE = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'

const atVersion = (options: DeleteOptions, pod: ApiObject): DeleteOptions => ({
  ...options,
  preconditions: { ...options.preconditions, resourceVersion: metaOf(pod).resourceVersion ?? '' },
})

function checkName({ object, name }: VirtualRequest, kind: string): void {
  if (name !== '' && metaOf(object).name !== name) throw badRequest(`name in URL does not match name in ${kind} object`)
}
