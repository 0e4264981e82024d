// The objects of one kind in the store: where each is kept, what is known of it without parsing, and compare-and-set
// writes of whole objects.

import type { Awaitable } from '../base/awaitable.js'
import type { Kind, KindVersion } from '../kinds/kind.js'
import { apiVersionOf } from '../kinds/kind-names.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import { StorageError } from '../storage/storage-error.js'
import type { Entry, ReadAt, Revision, Store } from '../storage/store.js'
import {
  type CachedEntry,
  type CachedEvent,
  createWatchCache,
  type EntryAttributes,
  type WatchCache,
} from '../storage/watch-cache.js'
import { decodeStored, encodeStored } from './stored-object.js'

/** What selectors ask for. */
export interface ObjectAttributes {
  readonly labels: Readonly<Record<string, string>>
  readonly fields: Readonly<Record<string, string>>
  /** It was asked to go. */
  readonly isTerminating: boolean
  /** It was stored under earlier rules of its kind, and would not be stored like that today. */
  readonly isStale: boolean
}

export type ObjectEntry = CachedEntry<ObjectAttributes>
export type ObjectEvent = CachedEvent<ObjectAttributes>

export interface ObjectStore {
  readonly cache: WatchCache<ObjectAttributes>
  /** Undefined where nothing is, or where nothing can be because the name is none. */
  get(namespace: string, name: string, at?: ReadAt): Awaitable<ObjectEntry | undefined>
  /** What is stored now; false when the name is taken. */
  create(object: ApiObject): Promise<Entry | false>
  /** False when the object is no longer at that revision. `bytes`: the object as it is stored, where that is known. */
  update(object: ApiObject, expected: Revision, bytes?: Buffer): Promise<Entry | false>
  delete(namespace: string, name: string, expected: Revision): Promise<Revision | false>
}

/** The folder of a namespace, or of the whole kind. */
export const keyPrefixOf = (kind: Kind, namespace: string): string =>
  namespace === '' ? kind.keyPrefix : `${kind.keyPrefix}${namespace}/`

export interface ObjectKey {
  readonly namespace: string
  readonly name: string
}

/** Where the object at a key is to be found by its names. */
export function objectKeyOf(kind: Kind, key: string): ObjectKey {
  const path = key.slice(kind.keyPrefix.length)
  const slash = kind.namespaced ? path.indexOf('/') : -1
  return { namespace: path.slice(0, Math.max(slash, 0)), name: path.slice(slash + 1) }
}

const keyOf = (kind: Kind, namespace: string, name: string): string => `${keyPrefixOf(kind, namespace)}${name}`

/** What cannot be read at all is left to those who ask for it. */
function isStale({ traits }: Kind, version: KindVersion | undefined, object: ApiObject, value: Buffer): boolean {
  if (!version?.upgradeStored) return false
  try {
    return !encodeStored(version.upgradeStored(object).object, traits.sortedKeys).equals(value)
  } catch {
    return true
  }
}

/** What field selectors find in an object of that version. */
export function selectableFields(version: KindVersion | undefined, object: ApiObject): Record<string, string> {
  const { name = '', namespace = '' } = metaOf(object)
  return { ...version?.fields(object), 'metadata.name': name, 'metadata.namespace': namespace }
}

/** At a key that can be none, nothing is. */
function nothingIfNoKey(error: unknown): undefined {
  const isNoKey = error instanceof StorageError && (error.code === 'invalid-key' || error.code === 'key-too-large')
  if (!isNoKey) throw error
}

export function createObjectStore(store: Store, kind: Kind): ObjectStore {
  const versions = new Map<string, KindVersion>(
    kind.versions.map(version => [apiVersionOf(kind, version.name), version]),
  )
  const cache = createWatchCache<ObjectAttributes>(store, kind.keyPrefix, { getAttributes })

  function getAttributes(key: string, value: Buffer): EntryAttributes<ObjectAttributes> {
    const object = decodeStored({ key, value, revision: 0 })
    const version = versions.get(object.apiVersion)
    const fields = selectableFields(version, object)
    const { labels = {}, deletionTimestamp } = metaOf(object)
    const isTerminating = deletionTimestamp !== undefined
    return {
      indexedFields: fields,
      data: { labels, fields, isTerminating, isStale: isStale(kind, version, object, value) },
    }
  }

  const keyOfObject = (object: ApiObject): string => {
    const { namespace = '', name = '' } = metaOf(object)
    return keyOf(kind, namespace, name)
  }

  return {
    cache,
    get(namespace, name, at) {
      const key = keyOf(kind, namespace, name)
      if (!cache.getNow) return cache.get(key, at).catch(nothingIfNoKey)
      try {
        return cache.getNow(key, at)
      } catch (error) {
        return nothingIfNoKey(error)
      }
    },
    async create(object) {
      const [key, value] = [keyOfObject(object), encodeStored(object, kind.traits.sortedKeys)]
      const result = await cache.create(key, value)
      return result.done && { key, value, revision: result.revision }
    },
    async update(object, expected, value = encodeStored(object, kind.traits.sortedKeys)) {
      const key = keyOfObject(object)
      const result = await cache.update(key, value, expected)
      return result.done && { key, value, revision: result.revision }
    },
    async delete(namespace, name, expected) {
      const result = await cache.delete(keyOf(kind, namespace, name), expected)
      return result.done && result.revision
    },
  }
}
