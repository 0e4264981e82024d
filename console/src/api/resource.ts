// What a resource type is to the console, and the paths of its objects.
import type {
  OwnerReference,
  ManagedFieldsEntry as ServerManagedFields,
  ObjectMeta as ServerMeta,
} from '../../../src/meta/object/object-meta.js'

export type { OwnerReference }

export interface Resource {
  readonly group: string
  readonly version: string
  /** The plural name, as in paths. */
  readonly name: string
  readonly kind: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  readonly verbs: readonly string[]
  readonly subresources: readonly string[]
  /** All versions of the group in which the resource is served, the preferred one first. */
  readonly versions: readonly string[]
}

/** Of an object that the server has sent: it has a name, and its numbers are numbers of JSON. */
export interface ObjectMeta extends Omit<ServerMeta, 'name' | 'generation' | 'managedFields'> {
  readonly name: string
  readonly generation?: number
  readonly managedFields?: readonly ManagedFieldsEntry[]
}

export interface ManagedFieldsEntry extends Omit<ServerManagedFields, 'operation' | 'fieldsV1'> {
  readonly operation?: 'Apply' | 'Update'
  readonly fieldsV1?: FieldsV1
}

export interface FieldsV1 {
  readonly [part: string]: FieldsV1
}

export interface ApiObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ObjectMeta
  readonly [member: string]: unknown
}

export const groupVersion = ({ group, version }: { group: string; version: string }): string =>
  group === '' ? version : `${group}/${version}`

/** `apps/v1` as its two parts; the core group is ''. */
export function splitGroupVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/')
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

/** `/api/v1` or `/apis/apps/v1`. */
export const versionPath = ({ group, version }: { group: string; version: string }): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`

/** The path of a collection: of one namespace, or of all with ''. */
export function collectionPath(resource: Resource, namespace: string): string {
  const within = resource.namespaced && namespace !== '' ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${versionPath(resource)}${within}/${resource.name}`
}

export const objectPath = (resource: Resource, namespace: string, name: string): string =>
  `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`

/** `deployments.apps`, which names a resource in one word. */
export const resourceId = ({ group, name }: { group: string; name: string }): string =>
  group === '' ? name : `${name}.${group}`
