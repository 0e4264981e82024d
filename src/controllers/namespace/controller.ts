// The namespace controller: deletes the contents of a namespace that is being deleted, pods first, and removes the
// finalizer of its spec when nothing is left. Until then its conditions list what remains.

import type { Kind } from '../../kinds/kind.js'
import type { Registry } from '../../kinds/registry.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { millisOf, printTime } from '../../meta/values/time.js'
import { getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { startInformer } from '../../objects/informer.js'
import { keyPrefixOf } from '../../objects/object-store.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { Revision } from '../../storage/store.js'
import { type ApiContext } from '../../verbs/api-context.js'
import { objectsAsStored } from '../../verbs/system-writes.js'
import { type Controller, type ControllerEnv, createControllerQueue, whenRead } from '../common/controller.js'
import { deletePrefix } from './delete-contents.js'

const FINALIZER = 'kubernetes'
/** The delay after a deletion has failed. */
const RETRY_MS = 250
/** The delay until extension servers are asked again. */
const REMOTE_RETRY_MS = 1_000
/** Remaining objects are watched; if no event comes, the namespace is tried again after this time. */
const RESYNC_MS = 10_000
/** Events within this time lead to one try. */
const BATCH_MS = 20

export async function startNamespaceController(
  context: ApiContext,
  registry: Registry,
  namespaces: Kind,
  env: ControllerEnv,
  remote?: RemoteContents,
): Promise<Controller> {
  const objects = objectsAsStored(context, 'namespace-controller')
  const queue = createControllerQueue('namespace', env, reconcile)
  /** Stops the watches of what remains in a namespace, by its name. */
  const waiting = new Map<string, () => void>()
  const informer = startInformer(
    context.objectStore(namespaces).cache,
    namespaces.keyPrefix,
    {
      entry: entry => enqueue(decodeStored(entry)),
      event: ({ entry }) => (entry ? enqueue(decodeStored(entry)) : undefined),
    },
    env.log,
  )

  function enqueue(namespace: ApiObject): void {
    const { name = '', deletionTimestamp } = metaOf(namespace)
    if (deletionTimestamp !== undefined) queue.add(name)
  }

  async function reconcile(name: string): Promise<void> {
    waiting.get(name)?.()
    const namespace = await objects.get(namespaces, '', name)
    if (!namespace || metaOf(namespace).deletionTimestamp === undefined) return
    if (!finalizersOf(namespace).includes(FINALIZER)) return
    const revision = await context.objectStore(namespaces).cache.revision()
    const remaining: Remaining = {
      kinds: [],
      resources: new Map(),
      finalizers: new Map(),
      failures: [],
      undiscovered: [],
      isElsewhere: false,
      nextEnd: Number.POSITIVE_INFINITY,
    }
    await deleteContents(name, remaining)
    await remote?.deleteAll(name, {
      failures: remaining.failures,
      undiscovered: remaining.undiscovered,
      add(resource, object) {
        remaining.isElsewhere = true
        countObject(remaining, resource, object)
      },
    })
    if (remaining.kinds.length === 0 && !isUnfinished(remaining)) {
      await objects.change(namespaces, '', name, withoutFinalizer, 'finalize')
      return
    }
    await objects.change(namespaces, '', name, old => withConditions(old, remaining, context.now()), 'status')
    waitFor(name, revision, remaining)
  }

  /** Deletes the pods, and the rest when no pods are left: pods may need the rest until they have ended. */
  async function deleteContents(namespace: string, remaining: Remaining): Promise<void> {
    const kinds = [...registry.all()].filter(kind => kind.namespaced && kind.verbs.includes('delete'))
    const isPods = (kind: Kind): boolean => kind.group === '' && kind.names.kind === 'Pod'
    await deleteAll(kinds.filter(isPods), namespace, remaining)
    if (remaining.kinds.length === 0)
      await deleteAll(
        kinds.filter(kind => !isPods(kind)),
        namespace,
        remaining,
      )
  }

  async function deleteAll(kinds: readonly Kind[], namespace: string, remaining: Remaining): Promise<void> {
    for (const kind of kinds) {
      try {
        const isEmpty = await deletePrefix(context, objects, kind, keyPrefixOf(kind, namespace), object =>
          countRemaining(remaining, kind, object),
        )
        if (!isEmpty) remaining.kinds.push(kind)
      } catch (error) {
        // The other kinds are deleted all the same.
        remaining.failures.push(messageOf(error))
      }
    }
  }

  /** Puts the namespace back into the queue at the next event of a remaining object after the revision, or in time. */
  function waitFor(name: string, revision: Revision, remaining: Remaining): void {
    const left = remaining.nextEnd - context.now()
    let timer = enqueueIn(retryDelay(remaining, left))
    const cancelEnd = left > 0 && left < Infinity ? env.clock.after(left, () => queue.add(name)) : undefined
    function enqueueIn(ms: number): NodeJS.Timeout {
      return setTimeout(() => queue.add(name), ms).unref()
    }
    const stopWaiting = (): void => {
      waiting.delete(name)
      clearTimeout(timer)
      cancelEnd?.()
      for (const watch of watches) watch.close()
    }
    const wake = (ms: number): void => {
      if (waiting.get(name) !== stopWaiting) return
      for (const watch of watches) watch.close()
      clearTimeout(timer)
      timer = enqueueIn(ms)
    }
    waiting.set(name, stopWaiting)
    const watches = remaining.kinds.map(kind =>
      context.objectStore(kind).cache.watch(keyPrefixOf(kind, name), revision, {
        // A deleted object may have been the last one; a changed one only changes the conditions.
        event: ({ entry }) => wake(entry ? RETRY_MS : BATCH_MS),
        end: () => wake(RETRY_MS),
      }),
    )
  }

  await whenRead(informer.started)
  return {
    idle: () => queue.idle(),
    stop() {
      informer.stop()
      queue.stop()
      for (const stopWaiting of waiting.values()) stopWaiting()
    },
  }
}

/** What is still in a namespace: the number of objects by resource and by finalizer, and the errors. */
interface Remaining {
  readonly kinds: Kind[]
  readonly resources: Map<string, number>
  readonly finalizers: Map<string, number>
  readonly failures: string[]
  /** Group versions of extension servers whose resources are not known. */
  readonly undiscovered: string[]
  /** Whether extension servers have objects in the namespace. */
  isElsewhere: boolean
  /** When the earliest grace period of a remaining object ends; Infinity if none has one. */
  nextEnd: number
}

/** What cannot be watched: it is tried again soon. */
const isUnfinished = ({ failures, undiscovered, isElsewhere }: Remaining): boolean =>
  failures.length > 0 || undiscovered.length > 0 || isElsewhere

/** When the namespace is tried again if no event comes; `left` is the time until the next grace period ends. */
function retryDelay(remaining: Remaining, left: number): number {
  if (remaining.failures.length > 0) return RETRY_MS
  if (isUnfinished(remaining)) return REMOTE_RETRY_MS
  return left > 0 ? RESYNC_MS : BATCH_MS
}

/** The objects of extension servers in a namespace. */
export interface RemoteContents {
  deleteAll(namespace: string, remaining: RemoteRemaining): Promise<void>
}

export interface RemoteRemaining {
  readonly failures: string[]
  readonly undiscovered: string[]
  /** `resource` with its group: `widgets.example.com`. */
  add(resource: string, object: ValueObject): void
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const countRemaining = (remaining: Remaining, kind: Kind, object: ApiObject): void =>
  countObject(remaining, `${kind.names.plural}.${kind.group}`, object)

function countObject(remaining: Remaining, resource: string, object: ValueObject): void {
  const { resources, finalizers } = remaining
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = metaOf(object)
  if (deletionTimestamp !== undefined && deletionGracePeriodSeconds > 0) {
    remaining.nextEnd = Math.min(remaining.nextEnd, millisOf(deletionTimestamp))
  }
  resources.set(resource, (resources.get(resource) ?? 0) + 1)
  for (const finalizer of metaOf(object).finalizers ?? [])
    finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1)
}

const specOf = (namespace: ApiObject): ValueObject => (isObject(namespace['spec']) ? namespace['spec'] : {})

function finalizersOf(namespace: ApiObject): readonly Value[] {
  const finalizers = getOwn(specOf(namespace), 'finalizers')
  return Array.isArray(finalizers) ? finalizers : []
}

function withoutFinalizer(namespace: ApiObject): ApiObject {
  const finalizers = finalizersOf(namespace).filter(finalizer => finalizer !== FINALIZER)
  const { finalizers: _, ...spec } = specOf(namespace)
  return { ...namespace, spec: finalizers.length === 0 ? spec : { ...spec, finalizers } }
}

function withConditions(namespace: ApiObject, remaining: Remaining, now: number): ApiObject | undefined {
  const status: ValueObject = isObject(namespace['status']) ? namespace['status'] : {}
  const before = Array.isArray(status['conditions']) ? (status['conditions'] as ValueObject[]) : []
  const wanted = conditionsFor(remaining)
  const isCurrent = wanted.every(([type, state, , message]) =>
    before.some(each => each['type'] === type && each['status'] === state && each['message'] === message),
  )
  if (isCurrent) return undefined
  const ours = wanted.map(([type, state, reason, message]) => {
    const old = before.find(each => each['type'] === type && each['status'] === state)
    return { type, status: state, lastTransitionTime: old?.['lastTransitionTime'] ?? printTime(now), reason, message }
  })
  const rest = before.filter(each => !wanted.some(([type]) => type === each['type']))
  return { ...namespace, status: { ...status, conditions: [...rest, ...ours] } }
}

function discoveryFailure(groups: readonly string[]): string {
  const reasons = groups.toSorted().map(each => `${each}: stale GroupVersion discovery: ${each}`)
  return (
    `Discovery failed for some groups, ${groups.length} failing: ` +
    `unable to retrieve the complete list of server APIs: ${reasons.join(', ')}`
  )
}

function conditionsFor(remaining: Remaining): [string, string, string, string][] {
  const { resources, finalizers, failures, undiscovered } = remaining
  const list = (counts: Map<string, number>, join: string) =>
    [...counts]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, count]) => `${name} ${join} ${count} resource instances`)
      .join(', ')
  return [
    undiscovered.length === 0
      ? ['NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered', 'All resources successfully discovered']
      : ['NamespaceDeletionDiscoveryFailure', 'True', 'DiscoveryFailed', discoveryFailure(undiscovered)],
    [
      'NamespaceDeletionGroupVersionParsingFailure',
      'False',
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ],
    failures.length === 0
      ? [
          'NamespaceDeletionContentFailure',
          'False',
          'ContentDeleted',
          'All content successfully deleted, may be waiting on finalization',
        ]
      : [
          'NamespaceDeletionContentFailure',
          'True',
          'ContentDeletionFailed',
          `Failed to delete all resource types, ${failures.length} remaining: ${failures.toSorted().join(', ')}`,
        ],
    resources.size === 0
      ? ['NamespaceContentRemaining', 'False', 'ContentRemoved', 'All content successfully removed']
      : [
          'NamespaceContentRemaining',
          'True',
          'SomeResourcesRemain',
          `Some resources are remaining: ${list(resources, 'has')}`,
        ],
    finalizers.size === 0
      ? [
          'NamespaceFinalizersRemaining',
          'False',
          'ContentHasNoFinalizers',
          'All content-preserving finalizers finished',
        ]
      : [
          'NamespaceFinalizersRemaining',
          'True',
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${list(finalizers, 'in')}`,
        ],
  ]
}
