// A definition that is to go takes its objects along. It is held by its finalizer until none is left; those that are
// held by finalizers of their own are waited for.

import { setCondition } from '../../crd/conditions.js'
import { CLEANUP_FINALIZER, isTerminating, isTrue } from '../../crd/definition.js'
import type { Kind } from '../../kinds/kind.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { type ApiContext } from '../../verbs/api-context.js'
import { objectsAsStored } from '../../verbs/system-writes.js'
import { type ControllerEnv, createControllerQueue } from '../common/controller.js'
import { emptyFolder } from '../namespace/delete-contents.js'

export interface Cleanup {
  /** Begins to clean up if the definition is to go. */
  consider(definition: ApiObject): void
  idle(): Promise<void>
  stop(): void
}

/** How soon a definition is looked at again whose objects wait for others. */
const LOOK_AGAIN_MS = 200

/** `kindOf` gives what is served because of a definition. */
export function createCleanup(
  context: ApiContext,
  definitions: Kind,
  kindOf: (name: string) => Kind | undefined,
  env: ControllerEnv,
): Cleanup {
  const objects = objectsAsStored(context, 'kube-apiserver')
  const queue = createControllerQueue('crd_finalizer', env, clean)

  async function clean(name: string): Promise<void> {
    const definition = await objects.get(definitions, '', name)
    if (!definition || !isWaitingForCleanup(definition)) return
    if (!isTrue(definition, 'Established')) return letGo(name, NEVER_ESTABLISHED)
    await objects.change(definitions, '', name, old => condition(old, IN_PROGRESS), 'status')
    const kind = kindOf(name)
    const isEmpty = !kind || (await emptyFolder(context, objects, kind, kind.keyPrefix, () => {}))
    if (isEmpty) await letGo(name, COMPLETED)
    else queue.addLater(name, LOOK_AGAIN_MS)
  }

  /** Undefined when it says so already. */
  function condition(definition: ApiObject, wanted: typeof IN_PROGRESS): ApiObject | undefined {
    const changed = setCondition(definition, wanted, context.now())
    return JSON.stringify(changed['status']) === JSON.stringify(definition['status']) ? undefined : changed
  }

  const letGo = (name: string, done: typeof IN_PROGRESS): Promise<void> =>
    objects.change(definitions, '', name, old => withoutFinalizer(setCondition(old, done, context.now())), 'status')

  return {
    consider(definition) {
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
  const others = (metaOf(definition).finalizers ?? []).filter(name => name !== CLEANUP_FINALIZER)
  return { ...definition, metadata: others.length === 0 ? metadata : { ...metadata, finalizers: others } }
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
