// `server.client`: requests by apiVersion and kind, typed for built-in kinds and for those that a test declares.
import { UsageError } from '../base/usage-error.js'
import type { Registry } from '../kinds/registry.js'
import { parseGroupVersion } from '../meta/group-version.js'
import { builtinTypes } from '../types/type-table.js'
import { type Fetch, readObject, type Status } from './fetch.js'
import type { Created, Kinds, KubernetesObject, MergePatch, Named, Stored, Subresources, TypedObject } from './kinds.js'
import { type Condition, type WaitOptions, waitUntil } from './wait.js'
import { openWatch, type Watch } from './watch.js'

export interface Client {
  /** Objects of a custom kind: `client.resource<Widget>('example.com/v1', 'Widget')`. */
  resource<T extends TypedObject = never>(apiVersion: T['apiVersion'], kind: T['kind']): ResourceClient<T>
  /** Objects of a kind whose type is not known here. */
  resource<A extends string>(
    apiVersion: A & (A extends keyof Kinds ? never : unknown),
    kind: string,
  ): ResourceClient<KubernetesObject, Record<string, KubernetesObject>>
  /** Objects of a built-in or declared kind: `client.resource('apps/v1', 'Deployment')`. */
  resource<A extends keyof Kinds, K extends keyof Kinds[A]>(
    apiVersion: A,
    kind: K,
  ): ResourceClient<Kinds[A][K] & TypedObject, SubresourcesOf<A, K>>
}

/** Of custom kinds. */
export interface CommonSubresources<T> {
  status: T
  scale: Scale
}

type SubresourcesOf<A extends keyof Kinds, K extends keyof Kinds[A]> = A extends keyof Subresources
  ? K extends keyof Subresources[A]
    ? Subresources[A][K]
    : CommonSubresources<Kinds[A][K]>
  : CommonSubresources<Kinds[A][K]>

export interface Scale {
  apiVersion: 'autoscaling/v1'
  kind: 'Scale'
  metadata: { name?: string; namespace?: string; resourceVersion?: string }
  spec: { replicas?: number }
  status: { replicas: number; selector?: string }
}

/** Objects of one kind. Without a namespace, lists and watches are of all, and single objects are those of `default`. */
export interface ResourceClient<T extends TypedObject, S = CommonSubresources<T>> {
  namespace(namespace: string): ResourceClient<T, S>
  get(name: string, options?: GetOptions): Promise<Stored<T>>
  list(options?: ListOptions): Promise<ObjectList<Stored<T>>>
  /** Resolves when the watch is open. Without a resourceVersion it begins with the objects that are there, as ADDED. */
  watch(options?: WatchOptions): Promise<Watch<Stored<T>>>
  create(object: Created<T>, options?: WriteOptions): Promise<Stored<T>>
  update(object: Named<T>, options?: WriteOptions): Promise<Stored<T>>
  readonly patch: Patch<T>
  /** Server-side apply. A conflict with another field manager is refused, with 409, unless `force` is set. */
  apply(object: Named<T>, options?: ApplyOptions): Promise<Stored<T>>
  /** The object as it is if something still holds it, else the Status of the deletion. */
  delete(name: string, options?: DeleteOptions): Promise<Stored<T> | Status>
  deleteCollection(options?: ListOptions & DeleteOptions): Promise<ObjectList<Stored<T>> | Status>
  /** Resolves with the object as soon as the condition holds; with its last state if it was deleted. */
  waitFor(name: string, condition: Condition<Stored<T>>, options?: WaitOptions): Promise<Stored<T>>
  /** `status`, `scale`, `eviction`, `token`, `binding` … */
  subresource<N extends keyof S & string>(name: N): SubresourceClient<S[N] & TypedObject>
}

/** A subresource of single objects. */
export interface SubresourceClient<T extends TypedObject> {
  get(name: string, options?: GetOptions): Promise<T>
  create(name: string, object?: Partial<T>, options?: WriteOptions): Promise<T>
  update(object: Named<T>, options?: WriteOptions): Promise<T>
  readonly patch: Patch<T>
  apply(object: Named<T>, options?: ApplyOptions): Promise<T>
}

/** A list of operations is a JSON Patch; an object is a merge patch, or a strategic merge patch if `type` says so. */
export interface Patch<T extends TypedObject> {
  (
    name: string,
    patch: readonly JsonPatchOperation[],
    options?: WriteOptions & { readonly type?: 'json' },
  ): Promise<Stored<T>>
  (name: string, patch: object, options: WriteOptions & { readonly type: 'strategic' }): Promise<Stored<T>>
  (name: string, patch: MergePatch<T>, options?: WriteOptions & { readonly type?: 'merge' }): Promise<Stored<T>>
}

export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'copy' | 'move'; readonly path: string; readonly from: string }

export interface GetOptions {
  readonly resourceVersion?: string
}

export interface ListOptions extends GetOptions {
  /** `app=web,tier!=db`, or `{ app: 'web' }`. */
  readonly labelSelector?: string | Readonly<Record<string, string>>
  readonly fieldSelector?: string | Readonly<Record<string, string>>
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  readonly timeoutSeconds?: number
}

export interface WatchOptions extends ListOptions {
  readonly allowWatchBookmarks?: boolean
  readonly sendInitialEvents?: boolean
  readonly signal?: AbortSignal
}

export interface WriteOptions {
  readonly dryRun?: boolean
  readonly fieldManager?: string
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
}

export interface ApplyOptions extends WriteOptions {
  readonly force?: boolean
}

export interface DeleteOptions {
  readonly dryRun?: boolean
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

export interface ObjectList<T> {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly resourceVersion: string
    readonly continue?: string
    readonly remainingItemCount?: number
  }
  readonly items: T[]
}

export const FIELD_MANAGER = 'binnacle-testing'

/** `registry` is asked for custom kinds. */
export function createClient(fetch: Fetch, registry: () => Promise<Registry>): Client {
  const resource = (apiVersion: string, kind: string): ResourceClient<KubernetesObject> =>
    createResourceClient({ fetch, apiVersion, kind, find: () => findResource(apiVersion, kind, registry) })
  return { resource }
}

interface FoundResource {
  readonly root: string
  readonly plural: string
  readonly namespaced: boolean
}

/** Where the objects of a kind are. Throws a UsageError if the server has no such kind. */
export async function findResource(
  apiVersion: string,
  kind: string,
  registry: () => Promise<Registry>,
): Promise<FoundResource> {
  const parsed = parseGroupVersion(apiVersion)
  if (!parsed.ok) throw new UsageError(`apiVersion: ${JSON.stringify(apiVersion)}: ${parsed.error}`)
  const { group, version } = parsed.value
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const builtin = builtinTypes()
    .resources(apiVersion)
    .find(each => each.kind === kind && !each.name.includes('/'))
  if (builtin) return { root, plural: builtin.name, namespaced: builtin.namespaced }
  const custom = (await registry()).findKind(group, kind)
  if (!custom) throw new UsageError(`the server has no kind ${kind} in ${apiVersion}; apply its definition first`)
  return { root, plural: custom.names.plural, namespaced: custom.namespaced }
}

/** The path of the objects of a namespace; of all namespaces, or of the cluster, without one. */
export const collectionPath = ({ root, plural }: FoundResource, namespace: string | undefined): string =>
  namespace === undefined ? `${root}/${plural}` : `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`

interface Setting {
  readonly fetch: Fetch
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly find: () => Promise<FoundResource>
}

function createResourceClient(setting: Setting): ResourceClient<KubernetesObject> {
  const { apiVersion, kind } = setting
  const all = async (): Promise<string> => {
    const found = await setting.find()
    checkNamespace(setting, found)
    return collectionPath(found, setting.namespace)
  }
  const send = createSender(setting)
  return {
    namespace: namespace => createResourceClient({ ...setting, namespace }),
    get: (name, options) => send('GET', { name }, options),
    async list(options) {
      const list = await send<ObjectList<Stored<KubernetesObject>>>('GET', { path: await all() }, options)
      // The items of built-in lists have neither.
      for (const item of list.items) Object.assign(item, { apiVersion, kind })
      return list
    },
    async watch({ signal, ...options } = {}) {
      return openWatch(setting.fetch, `${await all()}${queryOf({ ...options, watch: true })}`, signal)
    },
    create: (object, options) =>
      send('POST', { namespace: namespaceIn(object) }, options, { apiVersion, kind, ...object }),
    update: (object, options) => send('PUT', placeOf(object), options, { apiVersion, kind, ...object }),
    patch: createPatch(send),
    apply: (object, options) => sendApply(send, placeOf(object), { apiVersion, kind, ...object }, options),
    delete: (name, options) => send('DELETE', { name }, {}, deleteOptions(options)),
    async deleteCollection({ dryRun, gracePeriodSeconds, propagationPolicy, preconditions, ...options } = {}) {
      const found = await setting.find()
      if (found.namespaced && setting.namespace === undefined) {
        throw new UsageError(`deleteCollection deletes within one namespace: resource(…, '${kind}').namespace('…')`)
      }
      const body = deleteOptions({
        ...(dryRun !== undefined && { dryRun }),
        ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
        ...(propagationPolicy !== undefined && { propagationPolicy }),
        ...(preconditions !== undefined && { preconditions }),
      })
      return send('DELETE', { path: await all() }, options, body)
    },
    async waitFor(name, condition, options) {
      const found = await setting.find()
      checkNamespace(setting, found)
      const collection = collectionPath(found, found.namespaced ? (setting.namespace ?? 'default') : undefined)
      return (await waitUntil(setting.fetch, { collection, kind, name }, condition, options))!
    },
    subresource: name => createSubresourceClient(setting, name) as never,
  }
}

function createSubresourceClient(setting: Setting, subresource: string): SubresourceClient<KubernetesObject> {
  const send = createSender(setting, subresource)
  /** The kind of a subresource can be another than that of the object. */
  const typeMeta = async (): Promise<{ apiVersion: string; kind: string }> => {
    const { plural } = await setting.find()
    const found = builtinTypes()
      .resources(setting.apiVersion)
      .find(({ name }) => name === `${plural}/${subresource}`)
    if (subresource === 'scale') return { apiVersion: 'autoscaling/v1', kind: 'Scale' }
    if (found?.version === undefined) return { apiVersion: setting.apiVersion, kind: found?.kind ?? setting.kind }
    return { apiVersion: found.group ? `${found.group}/${found.version}` : found.version, kind: found.kind }
  }
  return {
    get: (name, options) => send('GET', { name }, options),
    create: async (name, object, options) =>
      send('POST', { name }, options, { ...(await typeMeta()), ...object, metadata: { name, ...object?.metadata } }),
    update: async (object, options) => send('PUT', placeOf(object), options, { ...(await typeMeta()), ...object }),
    patch: createPatch(send),
    apply: async (object, options) => sendApply(send, placeOf(object), { ...(await typeMeta()), ...object }, options),
  }
}

/** Of an object, or of the objects at a path. */
interface Place {
  readonly name?: string
  readonly namespace?: string | undefined
  readonly path?: string
}

type Send = <T = Stored<KubernetesObject>>(
  method: string,
  place: Place,
  query?: object,
  body?: object,
  contentType?: string,
) => Promise<T>

function createSender(setting: Setting, subresource?: string): Send {
  return async (method, place, query = {}, body, contentType = 'application/json') => {
    let { path } = place
    if (path === undefined) {
      const found = await setting.find()
      checkNamespace(setting, found)
      const namespace = found.namespaced ? (setting.namespace ?? place.namespace ?? 'default') : undefined
      const name = place.name === undefined ? '' : `/${encodeURIComponent(place.name)}`
      path = `${collectionPath(found, namespace)}${name}${subresource === undefined ? '' : `/${subresource}`}`
    }
    const content = body && { body: JSON.stringify(body), headers: { 'content-type': contentType } }
    return (await readObject(await setting.fetch(`${path}${queryOf(query)}`, { method, ...content }))) as never
  }
}

function checkNamespace({ kind, namespace }: Setting, { namespaced }: FoundResource): void {
  if (namespace !== undefined && !namespaced) {
    throw new UsageError(
      `objects of kind ${kind} are in no namespace: leave out namespace(${JSON.stringify(namespace)})`,
    )
  }
}

const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const

function createPatch(send: Send): Patch<KubernetesObject> {
  return (name: string, patch: object, options: WriteOptions & { readonly type?: keyof typeof PATCH_TYPES } = {}) => {
    const { type = Array.isArray(patch) ? 'json' : 'merge', ...rest } = options
    if (!Object.hasOwn(PATCH_TYPES, type))
      throw new UsageError(`type: ${JSON.stringify(type)}: it must be "json", "merge" or "strategic"`)
    return send('PATCH', { name }, rest, patch, PATCH_TYPES[type])
  }
}

const sendApply = (
  send: Send,
  place: Place,
  object: object,
  options?: ApplyOptions,
): Promise<Stored<KubernetesObject>> =>
  send('PATCH', place, { fieldManager: FIELD_MANAGER, ...options }, object, 'application/apply-patch+yaml')

const deleteOptions = ({ dryRun, ...options }: DeleteOptions = {}): object => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  ...options,
  ...(dryRun === true && { dryRun: ['All'] }),
})

const namespaceIn = ({ metadata }: { readonly metadata?: { readonly namespace?: string } }): string | undefined =>
  metadata?.namespace

function placeOf(object: { readonly metadata?: object }): Place {
  const { name } = (object.metadata ?? {}) as { readonly name?: unknown }
  if (typeof name !== 'string' || name === '') throw new UsageError('the object needs metadata.name')
  return { name, namespace: namespaceIn(object) }
}

/** The query of a request; `dryRun` and selectors have forms of their own. */
function queryOf(options: object): string {
  const query = new URLSearchParams()
  type Option = string | number | boolean | Readonly<Record<string, string>> | undefined
  for (const [name, value] of Object.entries(options) as [string, Option][]) {
    if (value === undefined || (name === 'dryRun' && value === false)) continue
    if (name === 'dryRun') query.set(name, 'All')
    else if (typeof value === 'object') query.set(name, selectorOf(value))
    else query.set(name, String(value))
  }
  return query.size === 0 ? '' : `?${query.toString()}`
}

const selectorOf = (equal: Readonly<Record<string, string>>): string =>
  Object.entries(equal)
    .map(([key, value]) => `${key}=${value}`)
    .join(',')
