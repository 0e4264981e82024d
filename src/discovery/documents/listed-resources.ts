// The entries of a kind in discovery: the resource and its subresources.
import { createHash } from 'node:crypto'
import type { Kind, KindVersion } from '../../kinds/kind.js'
import { SUBRESOURCE_VERBS, verbsOfSubresource } from '../../kinds/subresources.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import type { APIResource } from '../../types/type-table.js'

/** An entry of a resource list, with the hash of the storage version. */
export interface ListedResource extends APIResource {
  /** Equal for resources that are stored alike; opaque to clients. */
  readonly storageVersionHash?: string | undefined
}

const cached = new WeakMap<KindVersion, { readonly kind: Kind; readonly resources: readonly ListedResource[] }>()

/** The same entries while the kind is unchanged, so that values derived from them can be cached by them. */
export function resourcesOf(kind: Kind, version: KindVersion): readonly ListedResource[] {
  const known = cached.get(version)
  if (known?.kind === kind) return known.resources
  const resources = listResources(kind, version)
  cached.set(version, { kind, resources })
  return resources
}

function listResources(kind: Kind, version: KindVersion): readonly ListedResource[] {
  const { names, namespaced, verbs } = kind
  const { status, scale, parts = {} } = version.subresources
  const part = { namespaced, kind: names.kind, verbs: SUBRESOURCE_VERBS }
  return [
    {
      name: names.plural,
      singularName: names.singular,
      namespaced,
      kind: names.kind,
      verbs,
      shortNames: names.shortNames,
      categories: names.categories,
      // What is stored can be watched, also while its definition waits for the objects to go.
      storageVersionHash: verbs.includes('watch') ? storageHashOf(kind) : undefined,
    },
    ...(status ? [{ ...part, name: `${names.plural}/status` }] : []),
    ...(scale ? [{ ...part, name: `${names.plural}/scale`, kind: 'Scale', group: 'autoscaling', version: 'v1' }] : []),
    ...Object.keys(parts).flatMap(name => [
      { ...part, name: `${names.plural}/${name}`, verbs: verbsOfSubresource(version, name) },
    ]),
  ]
}

/** An APIResource. Empty members are omitted, except those that clients rely on. */
export function apiResource(resource: ListedResource, hasHashes: boolean): ValueObject {
  const { name, singularName = '', namespaced, group, version, kind, verbs, storageVersionHash } = resource
  return {
    name,
    singularName,
    namespaced,
    ...(group && { group }),
    ...(version && { version }),
    kind,
    verbs: verbs as Value,
    ...named(resource),
    ...(hasHashes && storageVersionHash && { storageVersionHash }),
  }
}

/** Short names and categories. */
export const named = ({ shortNames, categories }: ListedResource): ValueObject => ({
  ...(shortNames?.length && { shortNames: shortNames as Value }),
  ...(categories?.length && { categories: categories as Value }),
})

/** Undefined for a custom kind whose storage version is not served. */
function storageHashOf({ origin, group, names, storageVersion, storedAs, versions }: Kind): string | undefined {
  if (origin === 'custom' && !versions.some(({ name, served }) => served && name === storageVersion)) return undefined
  const apiVersion = HASHED_AS[`${group} ${names.kind}`] ?? storedAs
  const stored = `${apiVersion.includes('/') ? '' : '/'}${apiVersion}/${names.kind}`
  return createHash('sha256').update(stored).digest().subarray(0, 8).toString('base64')
}

/** kube-apiserver stores definitions in v1, with the hash of v1beta1. Clients may have cached it. */
const HASHED_AS: Readonly<Record<string, string>> = {
  'apiextensions.k8s.io CustomResourceDefinition': 'apiextensions.k8s.io/v1beta1',
}
