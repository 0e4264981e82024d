// How controllers read and change objects: through the verbs, with requests of system users.

import { type Awaitable, andThen } from '../base/awaitable.js'
import { encodeJson } from '../codec/json.js'
import type { Kind, KindVersion } from '../kinds/kind.js'
import { type VersionedKind } from '../kinds/kind.js'
import { apiVersionOf, resourceOf } from '../kinds/kind-names.js'
import { hasReason, notFound } from '../meta/errors/status.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import type { DeleteOptions, WriteOptions } from '../meta/options/write-options.js'
import type { ValueObject } from '../meta/values/value.js'
import { type ObjectEntry, type ObjectKey, objectKeyOf } from '../objects/object-store.js'
import type { ObjectViews } from '../objects/object-view.js'
import { decodeStored } from '../objects/stored-object.js'
import { forResource, type ResourceRequest, systemRequest } from '../request/request.js'
import { type Target } from '../request/target.js'
import { type UserInfo } from '../request/user-info.js'
import { type ApiContext } from './api-context.js'
import { MADE } from './pipeline/prepared.js'
import { getObject } from './read/get.js'
import { updateScale } from './subresources/scale.js'
import { applyObject } from './write/apply.js'
import { createFrom } from './write/create.js'
import { removeEntry, remove as removeObject } from './write/delete.js'
import { replace } from './write/update.js'

export interface SystemObjects {
  get(kind: Kind, namespace: string, name: string): Promise<ApiObject | undefined>
  /** Creates the object unless there is one of its name. Its apiVersion and kind may be absent. */
  create(kind: Kind, object: ValueObject & { metadata: ValueObject }): Promise<void>
  /** The same, but returns the new object, and rejects if there is one of its name. */
  createNew(kind: Kind, object: ValueObject & { metadata: ValueObject }): Promise<ApiObject>
  /** Changes the object if it exists; `change` returns undefined to leave it as it is. */
  change(
    kind: Kind,
    namespace: string,
    name: string,
    change: (old: ApiObject) => ApiObject | undefined,
    subresource?: string,
  ): Promise<void>
  /** The same, but returns the object as it is then; undefined if it does not exist. */
  update(
    kind: Kind,
    namespace: string,
    name: string,
    change: (old: ApiObject) => ApiObject | undefined,
    subresource?: string,
  ): Promise<ApiObject | undefined>
  /** Sets the replicas of an object by its Scale. Rejects with the Status of a refusal. */
  scale(kind: Kind, namespace: string, name: string, replicas: number): Promise<void>
  /** Applies the fields of the object by server-side apply, also those that others own; creates it if it does not exist. */
  apply(kind: Kind, configuration: ValueObject & { metadata: ValueObject }, subresource?: string): Promise<void>
  /** Deletes the object if it exists; returns it if it is still terminating. */
  delete(kind: Kind, namespace: string, name: string, options?: Partial<DeleteOptions>): Promise<ApiObject | undefined>
  /** The same for the object of an entry that has just been read. */
  deleteEntry(kind: Kind, entry: ObjectEntry, options?: Partial<DeleteOptions>): Promise<ApiObject | undefined>
}

/** Objects in the storage version. */
export const systemObjects = (context: ApiContext, controller: string, applyManager?: string): SystemObjects =>
  objectsFor(context, ofController(controller, applyManager), inStorageVersion)

/** The same for what kube-apiserver itself writes. */
export const serverObjects = (context: ApiContext): SystemObjects => objectsFor(context, SERVER, inStorageVersion)

/** The same for a component of the cluster that is no controller: its user, its groups, and its name as a manager. */
export const componentObjects = (
  context: ApiContext,
  { user, groups, manager }: { readonly user: string; readonly groups: readonly string[]; readonly manager: string },
): SystemObjects =>
  objectsFor(
    context,
    {
      user: { name: user, uid: '', groups: [...groups, 'system:authenticated'], extra: {} },
      manager,
      applyManager: manager,
    },
    inStorageVersion,
  )

const inStorageVersion: SeenAs = kind => ({ kind, version: storageVersionOf(kind) })

/**
 * Objects in the version in which each is stored, and in which it stays stored. For controllers that use only metadata,
 * and that must work while a conversion webhook does not.
 */
export const objectsAsStored = (context: ApiContext, controller: string): SystemObjects =>
  objectsFor(context, ofController(controller), asStored(context))

export const serverObjectsAsStored = (context: ApiContext): SystemObjects =>
  objectsFor(context, SERVER, asStored(context))

const asStored =
  ({ objectStore }: ApiContext): SeenAs =>
  (kind, namespace, name, seen) => {
    // Kinds that the server converts itself cannot fail to.
    if (!kind.convertAll) return { kind, version: storageVersionOf(kind) }
    return andThen(seen ?? objectStore(kind).get(namespace, name), entry =>
      seenAsStored(kind, objectStore(kind).views, entry),
    )
  }

function seenAsStored(kind: Kind, views: ObjectViews, entry: ObjectEntry | undefined): VersionedKind {
  const version = storageVersionOf(kind)
  if (!entry || views.isInVersion({ kind, version }, entry)) return { kind, version }
  const { apiVersion } = decodeStored(entry)
  const stored = kind.versions.find(each => apiVersionOf(kind, each.name) === apiVersion)
  // A copy of the version, because what is cached by version belongs to objects that are converted.
  return { kind: { ...kind, storedAs: apiVersion, ...UNCONVERTED }, version: { ...(stored ?? version) } }
}

const UNCONVERTED: Pick<Kind, 'convert' | 'convertAll'> = { convert: object => object, convertAll: objects => objects }

const storageVersionOf = (kind: Kind): KindVersion => kind.versions.find(({ name }) => name === kind.storageVersion)!

type SeenAs = (kind: Kind, namespace: string, name: string, entry?: ObjectEntry) => Awaitable<VersionedKind>

/** The user that writes, and the managers of the fields that it updates and applies. */
interface Writer {
  readonly user: UserInfo
  readonly manager: string
  readonly applyManager: string
}

const SERVER: Writer = {
  user: { name: 'system:apiserver', uid: '', groups: ['system:masters', 'system:authenticated'], extra: {} },
  manager: 'kube-apiserver',
  applyManager: 'kube-apiserver',
}

/** A controller that updates objects is known by its program, and one that applies fields by its own name. */
const ofController = (controller: string, applyManager = controller): Writer => ({
  user: {
    name: `system:serviceaccount:kube-system:${controller}`,
    uid: '',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
    extra: {},
  },
  manager: 'kube-controller-manager',
  applyManager,
})

function objectsFor(context: ApiContext, { user, manager, applyManager }: Writer, seenAs: SeenAs): SystemObjects {
  const requestFor = <O>(target: Target, options: O): ResourceRequest<O> =>
    forResource(systemRequest({ user, userAgent: manager, receivedAt: context.now() }), target, options)
  const targetOf = (kind: Kind, namespace: string, name: string, entry?: ObjectEntry): Awaitable<Target> =>
    andThen(seenAs(kind, namespace, name, entry), served => ({ ...served, namespace, name, subresource: '' }))

  async function remove(
    kind: Kind,
    { namespace, name }: ObjectKey,
    options: Partial<DeleteOptions>,
    entry?: ObjectEntry,
  ): Promise<ApiObject | undefined> {
    const target = await targetOf(kind, namespace, name, entry)
    const all = { dryRun: false, ignoreStoreReadError: false, ...options }
    const request = requestFor(target, all)
    if (entry) return unlessGone(() => removeEntry(context, request, entry))
    const removed = await unlessGone(() => removeObject(context, request))
    return removed?.isGone === false ? removed.object : undefined
  }

  const objects: SystemObjects = {
    async get(kind, namespace, name) {
      const target = await targetOf(kind, namespace, name)
      return unlessGone(async () =>
        (await getObject(context, requestFor(target, { resourceVersion: '' }))).object.value(),
      )
    },
    async create(kind, object) {
      try {
        await objects.createNew(kind, object)
      } catch (error) {
        if (!hasReason(error, 'AlreadyExists')) throw error
      }
    },
    async createNew(kind, object) {
      const version = storageVersionOf(kind)
      const namespace = metaOf(object).namespace ?? ''
      const target: Target = { kind, version, namespace, name: '', subresource: '' }
      const typed = { apiVersion: apiVersionOf(kind, version.name), kind: kind.names.kind, ...object }
      return (await createFrom(context, requestFor(target, optionsOf(manager)), typed, MADE)).value()
    },
    async change(kind, namespace, name, change, subresource) {
      await objects.update(kind, namespace, name, change, subresource)
    },
    async update(kind, namespace, name, change, subresource) {
      const target: Target = { ...(await targetOf(kind, namespace, name)), subresource: subresource ?? '' }
      let current: ApiObject | undefined
      const changed = await unlessGone(() =>
        replace(context, requestFor(target, optionsOf(manager)), async old => {
          if (!old) throw notFound(resourceOf(kind), name)
          current = old
          const object = change(old)
          return object && { ...MADE, object, isWhatClientSaw: false }
        }),
      )
      return changed ? changed.object.value() : current
    },
    async scale(kind, namespace, name, replicas) {
      const target: Target = { ...(await targetOf(kind, namespace, name)), subresource: 'scale' }
      const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name, namespace }, spec: { replicas } }
      const body = { bytes: Buffer.from(encodeJson(scale)), mediaType: '' }
      await updateScale(context, requestFor(target, optionsOf(manager)), body)
    },
    async apply(kind, configuration, subresource) {
      const version = storageVersionOf(kind)
      const { namespace = '', name = '' } = metaOf(configuration)
      const target: Target = { kind, version, namespace, name, subresource: subresource ?? '' }
      const typed = { apiVersion: apiVersionOf(kind, version.name), kind: kind.names.kind, ...configuration }
      const options = { ...optionsOf(applyManager), force: true }
      await applyObject(context, requestFor(target, options), { bytes: Buffer.from(encodeJson(typed)), mediaType: '' })
    },
    delete: (kind, namespace, name, options = {}) => remove(kind, { namespace, name }, options),
    deleteEntry: (kind, entry, options = {}) => remove(kind, objectKeyOf(kind, entry.key), options, entry),
  }
  return objects
}

const optionsOf = (fieldManager: string): WriteOptions => ({
  dryRun: false,
  fieldManager,
  fieldValidation: 'Ignore',
})

async function unlessGone<T>(action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action()
  } catch (error) {
    // The object is gone, or another one of its name has been created since.
    if (hasReason(error, 'NotFound') || hasReason(error, 'Conflict')) return undefined
    throw error
  }
}
