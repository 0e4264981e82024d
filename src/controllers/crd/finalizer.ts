// Carries out the finalizer of CustomResourceDefinitions that are being deleted: deletes all objects of the kind, waits
// for those with finalizers of their own, and then removes the finalizer of the definition.

import { setCondition } from '../../crd/conditions.js'
import { CLEANUP_FINALIZER, isTerminating, isTrue } from '../../crd/definition.js'
import type { Kind } from '../../kinds/kind.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { equalValues } from '../../meta/values/value.js'
import { type ApiContext } from '../../verbs/api-context.js'
import { serverObjectsAsStored } from '../../verbs/system-writes.js'
import { type ControllerEnv, createControllerQueue } from '../common/controller.js'
import { deletePrefix } from '../namespace/delete-contents.js'

export interface Cleanup {
  /** Starts the cleanup if the definition is being deleted. */
  enqueue(definition: ApiObject): void
  idle(): Promise<void>
  stop(): void
}

/** The delay between tries while objects have finalizers. */
const RETRY_MS = 200

/** `kindOf` returns the kind that is served for a definition. */
export function createCleanup(
  context: ApiContext,
  definitions: Kind,
  kindOf: (name: string) => Kind | undefined,
  env: ControllerEnv,
): Cleanup {
  const objects = serverObjectsAsStored(context)
  const queue = createControllerQueue('crd_finalizer', env, reconcile)

  async function reconcile(name: string): Promise<void> {
    const definition = await objects.get(definitions, '', name)
    if (!definition || !isWaitingForCleanup(definition)) return
    if (!isTrue(definition, 'Established')) return removeFinalizer(name, NEVER_ESTABLISHED)
    await objects.change(definitions, '', name, old => withStatusCondition(old, IN_PROGRESS), 'status')
    const kind = kindOf(name)
    const isEmpty = !kind || (await deletePrefix(context, objects, kind, kind.keyPrefix, () => {}))
    if (isEmpty) await removeFinalizer(name, COMPLETED)
    else queue.retryLater(name, RETRY_MS)
  }

  /** Undefined when the definition has the condition already. */
  function withStatusCondition(definition: ApiObject, wanted: typeof IN_PROGRESS): ApiObject | undefined {
    const changed = setCondition(definition, wanted, context.now())
    return equalValues(changed['status'], definition['status']) ? undefined : changed
  }

  const removeFinalizer = (name: string, done: typeof IN_PROGRESS): Promise<void> =>
    objects.change(definitions, '', name, old => withoutFinalizer(setCondition(old, done, context.now())), 'status')

  return {
    enqueue(definition) {
      if (isWaitingForCleanup(definition)) queue.add(metaOf(definition).name ?? '')
    },
    idle: () => queue.idle(),
    stop: () => queue.stop(),
  }
}

const isWaitingForCleanup = (definition: ApiObject): boolean =>
  isTerminating(definition) && Boolean(metaOf(definition).finalizers?.includes(CLEANUP_FINALIZER))

function withoutFinalizer(definition: ApiObject): ApiObject {
  const { finalizers: _, ...metadata } = definition.metadata
  const rest = (metaOf(definition).finalizers ?? []).filter(name => name !== CLEANUP_FINALIZER)
  return { ...definition, metadata: rest.length === 0 ? metadata : { ...metadata, finalizers: rest } }
}

const IN_PROGRESS = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
}
const COMPLETED = {
  type: 'Terminating',
  status: 'False',
  reason: 'InstanceDeletionCompleted',
  message: 'removed all instances',
}
const NEVER_ESTABLISHED = {
  type: 'Terminating',
  status: 'False',
  reason: 'NeverEstablished',
  message: 'resource was never established',
}
