// A namespace that is to go takes everything in it along. It is held by the finalizer in its spec until nothing is left;
// meanwhile its conditions tell what is.

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
import { emptyFolder } from './delete-contents.js'

const FINALIZER = 'kubernetes'
/** How soon what cannot be deleted at all is tried again. */
const TRY_AGAIN_MS = 250
/** What waits for others is looked at when something happens to it, and now and then all the same. */
const LOOK_AGAIN_MS = 10_000
/** What happens to it at about the same time is looked at together. */
const GATHER_MS = 20

export async function startNamespaceController(
  context: ApiContext,
  registry: Registry,
  namespaces: Kind,
  env: ControllerEnv,
): Promise<Controller> {
  const objects = objectsAsStored(context, 'namespace-controller')
  const queue = createControllerQueue('namespace', env, empty)
  /** Ends the wait of a namespace for what is left in it. */
  const waiting = new Map<string, () => void>()
  const following = startInformer(context.objectStore(namespaces).cache, namespaces.keyPrefix, {
    entry: entry => consider(decodeStored(entry)),
    event: ({ entry }) => (entry ? consider(decodeStored(entry)) : undefined),
  })

  function consider(namespace: ApiObject): void {
    const { name = '', deletionTimestamp } = metaOf(namespace)
    if (deletionTimestamp !== undefined) queue.add(name)
  }

  /** Deletes what is in the namespace; lets go of it when nothing is left. */
  async function empty(name: string): Promise<void> {
    waiting.get(name)?.()
    const namespace = await objects.get(namespaces, '', name)
    if (!namespace || metaOf(namespace).deletionTimestamp === undefined) return
    if (!finalizersOf(namespace).includes(FINALIZER)) return
    const revision = await context.objectStore(namespaces).cache.revision()
    const left: Remaining = {
      resources: new Map(),
      finalizers: new Map(),
      failures: [],
      nextEnd: Number.POSITIVE_INFINITY,
    }
    const kindsLeft: Kind[] = []
    for (const kind of registry.all()) {
      if (!kind.namespaced || !kind.verbs.includes('delete')) continue
      try {
        if (!(await deleteAll(kind, name, left))) kindsLeft.push(kind)
      } catch (error) {
        // One kind that cannot be emptied does not keep the others.
        left.failures.push(messageOf(error))
      }
    }
    if (kindsLeft.length === 0 && left.failures.length === 0) {
      await objects.change(namespaces, '', name, letGo, 'finalize')
      return
    }
    await objects.change(namespaces, '', name, old => withConditions(old, left, context.now()), 'status')
    waitFor(name, kindsLeft, revision, left)
  }

  /** Has the namespace looked at again when something has happened to what is left, after that revision, or in time. */
  function waitFor(name: string, kinds: readonly Kind[], revision: Revision, left: Remaining): void {
    const patience = left.failures.length > 0 ? TRY_AGAIN_MS : Math.min(left.nextEnd - context.now(), LOOK_AGAIN_MS)
    let timer = lookIn(Math.max(patience, GATHER_MS))
    function lookIn(ms: number): NodeJS.Timeout {
      return setTimeout(() => queue.add(name), ms).unref()
    }
    const stopWaiting = (): void => {
      waiting.delete(name)
      clearTimeout(timer)
      for (const watch of watches) watch.close()
    }
    const wake = (ms: number): void => {
      if (waiting.get(name) !== stopWaiting) return
      for (const watch of watches) watch.close()
      clearTimeout(timer)
      timer = lookIn(ms)
    }
    waiting.set(name, stopWaiting)
    const watches = kinds.map(kind =>
      context.objectStore(kind).cache.watch(keyPrefixOf(kind, name), revision, {
        // Who has gone may have been the last; whatever else happens is only to be told.
        event: ({ entry }) => wake(entry ? TRY_AGAIN_MS : GATHER_MS),
        end: () => wake(TRY_AGAIN_MS),
      }),
    )
  }

  const deleteAll = (kind: Kind, namespace: string, left: Remaining): Promise<boolean> =>
    emptyFolder(context, objects, kind, keyPrefixOf(kind, namespace), object => note(left, kind, object))

  await whenRead('namespace', env, following.started)
  return {
    idle: () => queue.idle(),
    stop() {
      following.stop()
      queue.stop()
      for (const stopWaiting of waiting.values()) stopWaiting()
    },
  }
}

/** What is still in a namespace: how many objects of which resource, held by which finalizers, and what went wrong. */
interface Remaining {
  readonly resources: Map<string, number>
  readonly finalizers: Map<string, number>
  readonly failures: string[]
  /** When the first of those is over that were given time to end; never, where none was. */
  nextEnd: number
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function note(left: Remaining, kind: Kind, object: ApiObject): void {
  const { resources, finalizers } = left
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = metaOf(object)
  if (deletionTimestamp !== undefined && deletionGracePeriodSeconds > 0) {
    left.nextEnd = Math.min(left.nextEnd, millisOf(deletionTimestamp))
  }
  const resource = `${kind.names.plural}.${kind.group}`
  resources.set(resource, (resources.get(resource) ?? 0) + 1)
  for (const finalizer of metaOf(object).finalizers ?? [])
    finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1)
}

const specOf = (namespace: ApiObject): ValueObject => (isObject(namespace['spec']) ? namespace['spec'] : {})

function finalizersOf(namespace: ApiObject): readonly Value[] {
  const finalizers = getOwn(specOf(namespace), 'finalizers')
  return Array.isArray(finalizers) ? finalizers : []
}

function letGo(namespace: ApiObject): ApiObject {
  const finalizers = finalizersOf(namespace).filter(finalizer => finalizer !== FINALIZER)
  const { finalizers: _, ...spec } = specOf(namespace)
  return { ...namespace, spec: finalizers.length === 0 ? spec : { ...spec, finalizers } }
}

function withConditions(namespace: ApiObject, left: Remaining, now: number): ApiObject | undefined {
  const status: ValueObject = isObject(namespace['status']) ? namespace['status'] : {}
  const before = Array.isArray(status['conditions']) ? (status['conditions'] as ValueObject[]) : []
  const wanted = conditionsFor(left)
  const isTold = wanted.every(([type, state, , message]) =>
    before.some(each => each['type'] === type && each['status'] === state && each['message'] === message),
  )
  if (isTold) return undefined
  const ours = wanted.map(([type, state, reason, message]) => {
    const old = before.find(each => each['type'] === type && each['status'] === state)
    return { type, status: state, lastTransitionTime: old?.['lastTransitionTime'] ?? printTime(now), reason, message }
  })
  const others = before.filter(each => !wanted.some(([type]) => type === each['type']))
  return { ...namespace, status: { ...status, conditions: [...others, ...ours] } }
}

function conditionsFor({ resources, finalizers, failures }: Remaining): [string, string, string, string][] {
  const list = (counts: Map<string, number>, join: string) =>
    [...counts]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, count]) => `${name} ${join} ${count} resource instances`)
      .join(', ')
  return [
    ['NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered', 'All resources successfully discovered'],
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
