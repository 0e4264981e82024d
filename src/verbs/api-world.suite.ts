// The API of the built-in kinds on a store in memory, without the network, for tests.

import { builtinKinds } from '../builtin/builtin-kinds.js'
import type { Kind } from '../kinds/kind.js'
import { createRegistry } from '../kinds/registry.js'
import { hasReason } from '../meta/errors/status.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { metaOf, type ObjectMeta, type OwnerReference, withMeta } from '../meta/object/object-meta.js'
import type { DeleteOptions } from '../meta/options/write-options.js'
import type { ValueObject } from '../meta/values/value.js'
import { forResource, type ResourceRequest, systemRequest } from '../request/request.js'
import { type Target } from '../request/target.js'
import { type UserInfo } from '../request/user-info.js'
import { createMemoryStore } from '../storage/memory/memory-store.js'
import { builtinTypes } from '../types/type-table.js'
import { createApiContext } from './api-context.js'
import { MADE } from './pipeline/prepared.js'
import { getObject } from './read/get.js'
import { createObject } from './write/create.js'
import { deleteObject } from './write/delete.js'
import { replace } from './write/update.js'

const user: UserInfo = { name: 'test', uid: '', groups: [], extra: {} }
const requestFor = <O>(target: Target, options: O): ResourceRequest<O> =>
  forResource(systemRequest({ user, userAgent: 'test' }), target, options)
const writeOptions = { dryRun: false, fieldManager: '', fieldValidation: '' } as const

export function createWorld(now: () => number = Date.now) {
  const store = createMemoryStore()
  const registry = createRegistry()
  for (const kind of builtinKinds(builtinTypes())) registry.put(kind)
  const context = createApiContext({ store, now })
  const configMaps = registry.findKind('', 'ConfigMap')!
  const pods = registry.findKind('', 'Pod')!
  const namespaces = registry.findKind('', 'Namespace')!

  const targetOf = (kind: Kind, namespace: string, name: string): Target => ({
    kind,
    version: kind.versions[0]!,
    namespace,
    name,
    subresource: '',
  })

  async function create(kind: Kind, namespace: string, name: string, metadata = {}, rest = {}): Promise<ApiObject> {
    const bytes = Buffer.from(JSON.stringify({ metadata: { name, ...metadata }, ...rest }))
    const body = { bytes, mediaType: 'application/json' }
    const { object } = await createObject(context, requestFor(targetOf(kind, namespace, ''), writeOptions), body)
    return object.value()
  }

  return {
    store,
    registry,
    context,
    namespaces,
    createNamespace: (name: string) => create(namespaces, '', name),
    createConfigMap: (namespace: string, name: string, metadata = {}) => create(configMaps, namespace, name, metadata),
    pods,
    budgets: registry.findKind('policy', 'PodDisruptionBudget')!,
    create,
    createPod: (namespace: string, name: string, spec = {}, metadata = {}) =>
      create(pods, namespace, name, metadata, { spec: { containers: [{ name: 'c', image: 'i' }], ...spec } }),
    delete: (kind: Kind, namespace: string, name: string, options: Partial<DeleteOptions> = {}) =>
      deleteObject(
        context,
        requestFor(targetOf(kind, namespace, name), { dryRun: false, ignoreStoreReadError: false, ...options }),
      ),
    deleteConfigMap(namespace: string, name: string, options: Partial<DeleteOptions> = {}) {
      return this.delete(configMaps, namespace, name, options)
    },
    async find(kind: Kind, namespace: string, name: string): Promise<ApiObject | undefined> {
      try {
        return (
          await getObject(context, requestFor(targetOf(kind, namespace, name), { resourceVersion: '' }))
        ).object.value()
      } catch (error) {
        if (hasReason(error, 'NotFound')) return undefined
        throw error
      }
    },
    findConfigMap(namespace: string, name: string) {
      return this.find(configMaps, namespace, name)
    },
    async setStatus(kind: Kind, namespace: string, name: string, status: ValueObject): Promise<void> {
      const target = { ...targetOf(kind, namespace, name), subresource: 'status' }
      await replace(context, requestFor(target, writeOptions), async old => ({
        object: { ...old!, status: { ...(old!['status'] as ValueObject), ...status } },
        ...MADE,
        isWhatClientSaw: false,
      }))
    },
    async dropFinalizers(namespace: string, name: string): Promise<void> {
      await this.setMeta(namespace, name, { finalizers: [] })
    },
    /** Changes what is given of the metadata of a ConfigMap. */
    async setMeta(namespace: string, name: string, meta: Partial<ObjectMeta>): Promise<void> {
      await replace(context, requestFor(targetOf(configMaps, namespace, name), writeOptions), async old => {
        const object = withMeta(old!, { ...metaOf(old!), ...meta }) as ApiObject
        return { ...MADE, object, isWhatClientSaw: false }
      })
    },
  }
}

export type World = ReturnType<typeof createWorld>

export const ownedBy = (owner: ApiObject, more: Partial<OwnerReference> = {}) => ({
  ownerReferences: [
    { apiVersion: owner.apiVersion, kind: owner.kind, name: metaOf(owner).name!, uid: metaOf(owner).uid!, ...more },
  ],
})
