// Typed clients: thin wrappers of CustomObjectsApi of @kubernetes/client-node. The module imports nothing: the interface of
// what it uses is part of it, so that the types also serve without the package.

import type { TypedKind } from './interfaces.js'

const COMMON = `/** A list of objects. */
export interface KubernetesList<T> {
  apiVersion: string
  kind: string
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number }
  items: T[]
}

/** What is used of CustomObjectsApi of @kubernetes/client-node. */
export interface CustomObjects {
  getNamespacedCustomObject(param: { group: string; version: string; namespace: string; plural: string; name: string }): Promise<unknown>
  listNamespacedCustomObject(param: { group: string; version: string; namespace: string; plural: string; labelSelector?: string; fieldSelector?: string; limit?: number; _continue?: string }): Promise<unknown>
  createNamespacedCustomObject(param: { group: string; version: string; namespace: string; plural: string; body: unknown }): Promise<unknown>
  replaceNamespacedCustomObject(param: { group: string; version: string; namespace: string; plural: string; name: string; body: unknown }): Promise<unknown>
  deleteNamespacedCustomObject(param: { group: string; version: string; namespace: string; plural: string; name: string }): Promise<unknown>
  getClusterCustomObject(param: { group: string; version: string; plural: string; name: string }): Promise<unknown>
  listClusterCustomObject(param: { group: string; version: string; plural: string; labelSelector?: string; fieldSelector?: string; limit?: number; _continue?: string }): Promise<unknown>
  createClusterCustomObject(param: { group: string; version: string; plural: string; body: unknown }): Promise<unknown>
  replaceClusterCustomObject(param: { group: string; version: string; plural: string; name: string; body: unknown }): Promise<unknown>
  deleteClusterCustomObject(param: { group: string; version: string; plural: string; name: string }): Promise<unknown>
}

export interface ListOptions {
  labelSelector?: string
  fieldSelector?: string
  limit?: number
  _continue?: string
}

/** Objects of one kind, in one namespace or of the cluster. */
export interface ResourceClient<T> {
  get(name: string): Promise<T>
  list(options?: ListOptions): Promise<KubernetesList<T>>
  create(object: Omit<T, 'apiVersion' | 'kind'>): Promise<T>
  replace(name: string, object: T): Promise<T>
  delete(name: string): Promise<unknown>
}`

export function printClients(kinds: readonly TypedKind[]): string {
  return [COMMON, ...kinds.map(printClient)].join('\n\n')
}

function printClient({ type, kind, plural, group, version, namespaced }: TypedKind): string {
  const scope = namespaced ? 'Namespaced' : 'Cluster'
  const parameters = namespaced ? 'api: CustomObjects, namespace: string' : 'api: CustomObjects'
  const at = `{ group: '${group}', version: '${version}', plural: '${plural}'${namespaced ? ', namespace' : ''} }`
  const typeMeta = `{ apiVersion: '${group}/${version}', kind: '${kind}', ...object }`
  const name = type.charAt(0).toLowerCase() + type.slice(1)
  return `/** Objects of ${kind} in ${group}/${version}. */
export function ${name}Client(${parameters}): ResourceClient<${type}> {
  const at = ${at}
  return {
    get: async name => (await api.get${scope}CustomObject({ ...at, name })) as ${type},
    list: async (options = {}) => (await api.list${scope}CustomObject({ ...at, ...options })) as KubernetesList<${type}>,
    create: async object => (await api.create${scope}CustomObject({ ...at, body: ${typeMeta} })) as ${type},
    replace: async (name, object) => (await api.replace${scope}CustomObject({ ...at, name, body: object })) as ${type},
    delete: name => api.delete${scope}CustomObject({ ...at, name }),
  }
}`
}
