// What a delete does to an object: it is removed at once, or it is marked with a deletionTimestamp and removed when
// nothing blocks it any more.

import { createAttributes } from '../../admission/attributes.js'
import { groupKindOf, resourceOf } from '../../kinds/kind-names.js'
import { type ApiObject, setMeta } from '../../meta/object/api-object.js'
import {
  FOREGROUND_FINALIZER,
  metaForDeletion,
  metaForSoonerDeletion,
  metaForTermination,
  metaOf,
  type ObjectMeta,
  ORPHAN_FINALIZER,
} from '../../meta/object/object-meta.js'
import {
  type DeleteOptions,
  failedBeforeTerminating,
  failedPrecondition,
  type PropagationPolicy,
} from '../../meta/options/write-options.js'
import type { ResourceRequest } from '../../request/request.js'
import type { Target } from '../../request/target.js'
import { mutate, validate } from './admit.js'
import type { PipelineEnv } from './pipeline-env.js'

export type DeleteRequest = ResourceRequest<DeleteOptions>

export type DeletePlan =
  /** The object is terminating already, and nothing about it changes. */
  | { readonly type: 'wait'; readonly object: ApiObject }
  | { readonly type: 'remove'; readonly object: ApiObject }
  /** Stored as terminating; removed right after that if nothing blocks it. */
  | { readonly type: 'mark'; readonly object: ApiObject; readonly stored: ApiObject; readonly isBlocked: boolean }

export async function prepareDelete(env: PipelineEnv, request: DeleteRequest, old: ApiObject): Promise<DeletePlan> {
  const { target, options } = request
  const { kind, version } = target
  checkPreconditions(target, old, options)
  const grace = gracePeriod(target, old, options)
  // A terminating object may be given less time, and nothing else.
  if (grace === 'unchanged') return { type: 'wait', object: old }
  const attributes = { operation: 'DELETE', request, target, object: undefined, oldObject: old } as const
  await mutate(env, attributes)
  await validate(env, createAttributes(attributes))

  const propagated = setMeta(old, withPropagation(metaOf(old), propagationFor(target, metaOf(old), options)))
  const waiting = version.strategy.gracePeriod ? propagated : withoutGrace(propagated)
  if (grace === undefined && !version.strategy.blocksDeletion(waiting)) return { type: 'remove', object: old }
  const isTerminating = metaOf(old).deletionTimestamp !== undefined
  const marked = setMeta(propagated, metaOfMarked(target, metaOf(propagated), grace, env.now()))
  const object = isTerminating ? marked : version.strategy.prepareForDelete(marked)
  const stored = await kind.convert(object, kind.storedAs, request)
  return { type: 'mark', object, stored, isBlocked: version.strategy.blocksDeletion(object) }
}

function metaOfMarked({ kind }: Target, meta: ObjectMeta, grace: number | undefined, now: number): ObjectMeta {
  if (kind.traits.hasTerminatingPhase) return metaForTermination(meta, now)
  const isSooner = meta.deletionTimestamp !== undefined && grace !== undefined
  return isSooner ? metaForSoonerDeletion(meta, grace) : metaForDeletion(meta, now, grace)
}

function checkPreconditions({ kind }: Target, old: ApiObject, { preconditions }: DeleteOptions): void {
  if (!preconditions) return
  const failed = kind.traits.hasTerminatingPhase
    ? failedBeforeTerminating(preconditions, metaOf(old), resourceOf(kind))
    : failedPrecondition(preconditions, metaOf(old), groupKindOf(kind))
  if (failed) throw failed
}

/** The seconds until the object is removed; undefined if its kind has no grace period, or if that is over. */
function gracePeriod(
  { version }: Target,
  old: ApiObject,
  { gracePeriodSeconds: requested }: DeleteOptions,
): number | 'unchanged' | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds: given = 0 } = metaOf(old)
  if (!version.strategy.gracePeriod) return undefined
  if (deletionTimestamp === undefined) return version.strategy.gracePeriod(old, requested)
  if (given === 0) return undefined
  const seconds = requested !== undefined && requested < 0 ? 1 : requested
  return seconds === undefined || seconds >= given ? 'unchanged' : seconds
}

/** A kind without a grace period does not wait for the end of one, which an apply or a PUT may have written. */
function withoutGrace(object: ApiObject): ApiObject {
  const { deletionGracePeriodSeconds: _, ...meta } = metaOf(object)
  return setMeta(object, meta)
}

export const requestedPropagation = (options: DeleteOptions): PropagationPolicy | undefined => {
  const { propagationPolicy, orphanDependents } = options
  return propagationPolicy ?? (orphanDependents === undefined ? undefined : orphanDependents ? 'Orphan' : 'Background')
}

/** Without a policy in the options, that of an earlier delete stays; else the default of the kind. */
function propagationFor(
  { kind }: Target,
  { finalizers = [] }: ObjectMeta,
  options: DeleteOptions,
): PropagationPolicy | undefined {
  if (kind.traits.ignoresPropagation) return 'Background'
  const policy = requestedPropagation(options)
  if (policy !== undefined || !kind.traits.defaultPropagation) return policy
  return finalizers.some(isPropagation) ? undefined : 'Orphan'
}

const isPropagation = (finalizer: string): boolean =>
  finalizer === ORPHAN_FINALIZER || finalizer === FOREGROUND_FINALIZER

/** The garbage collector reads the policy from these finalizers. */
function withPropagation(meta: ObjectMeta, policy: PropagationPolicy | undefined): ObjectMeta {
  if (policy === undefined) return meta
  const wanted = policy === 'Orphan' ? ORPHAN_FINALIZER : policy === 'Foreground' ? FOREGROUND_FINALIZER : undefined
  const kept = (meta.finalizers ?? []).filter(finalizer => finalizer === wanted || !isPropagation(finalizer))
  const finalizers = wanted === undefined || kept.includes(wanted) ? kept : [...kept, wanted]
  const { finalizers: _, ...rest } = meta
  return finalizers.length === 0 ? rest : { ...rest, finalizers }
}
