// The objects of one kind in the store: their keys, their attributes without parsing, views of them in a version, and
// compare-and-set writes of whole objects.

import type { Awaitable } from '../base/awaitable.js'
import type { InternedParts } from '../codec/json.js'
import type { Kind, KindVersion } from '../kinds/kind.js'
import { apiVersionOf } from '../kinds/kind-names.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import { StorageError } from '../storage/storage-error.js'
import type { Entry, Guard, ReadAt, Revision, Store } from '../storage/store.js'
import { createWatchCache, type EntryAttributes, type WatchCache } from '../storage/watch-cache.js'
import { type ConvertedObjects, createConvertedObjects } from './cache/converted-objects.js'
import { createInitialPages, type InitialPages } from './cache/initial-pages.js'
import { createKnownLists, type KnownLists } from './cache/known-lists.js'
import { type ObjectAttributes, type ObjectEntry, type ObjectEvent, selectableFields } from './object-attributes.js'
import { createObjectViews, type ObjectViews, type ReadErrors } from './object-view.js'
import { readStoredMetadata } from './stored-metadata.js'
import { createStoredCodec, isStoredAs, type StoredCodec, storedHead } from './stored-object.js'
import { createWatchChanges, type WatchChanges } from './watch-change.js'

export type { Gathering } from './cache/gatherings.js'
export type { InitialPage } from './cache/initial-pages.js'
export { type KnownList, type ListState } from './cache/known-lists.js'
export { type ListPiece, type PieceForm, replaceItems } from './cache/list-pieces.js'
export type { ObjectAttributes, ObjectEntry, ObjectEvent }

export interface ObjectStore {
  /** Lists of clients, and the objects that they got, for metrics. */
  readonly listCounts: { lists: number; returned: number }
  readonly cache: WatchCache<ObjectAttributes>
  readonly views: ObjectViews
  readonly changes: WatchChanges
  /** The lists of all kinds of the server that are requested again and again. */
  readonly knownLists: KnownLists
  /** What watches have begun with just now. */
  readonly initialPages: InitialPages
  /** The object as the bytes in which it is stored. */
  encode(object: ApiObject): Buffer
  /** Undefined if there is no object, also if the name cannot be that of a key. */
  get(namespace: string, name: string, at?: ReadAt): Awaitable<ObjectEntry | undefined>
  /** The object as this process knows it, if it does (see `WatchCache.getKnown`). */
  getKnown(namespace: string, name: string): ObjectEntry | undefined
  /** The new entry; false if the name is taken. With a guard, it is stored only while the guard holds. */
  create(object: ApiObject, guard?: Guard): Promise<Entry | false>
  /** False if the object is no longer at that revision. `bytes`: the object as `encode` gives it, if that is known. */
  update(object: ApiObject, expected: Revision, bytes?: Buffer, guard?: Guard): Promise<Entry | false>
  delete(namespace: string, name: string, expected: Revision): Promise<Revision | false>
}

/** The keys of a namespace, or of the whole kind. */
export const keyPrefixOf = (kind: Kind, namespace: string): string =>
  namespace === '' ? kind.keyPrefix : `${kind.keyPrefix}${namespace}/`

export interface ObjectKey {
  readonly namespace: string
  readonly name: string
}

/** The namespace and name of the object at a key. */
export function objectKeyOf(kind: Kind, key: string): ObjectKey {
  const path = key.slice(kind.keyPrefix.length)
  const slash = kind.namespaced ? path.indexOf('/') : -1
  return { namespace: path.slice(0, Math.max(slash, 0)), name: path.slice(slash + 1) }
}

const keyOf = (kind: Kind, namespace: string, name: string): string => `${keyPrefixOf(kind, namespace)}${name}`

/** A name that is no valid key (for example one with a slash) is not found, not an error. */
function nothingIfNoKey(error: unknown): undefined {
  const isNoKey = error instanceof StorageError && (error.code === 'invalid-key' || error.code === 'key-too-large')
  if (!isNoKey) throw error
}

/** Shows which fields a version has. */
const NO_OBJECT: ApiObject = { apiVersion: '', kind: '', metadata: {} }

/** What the stores of all kinds of a server share. */
export interface SharedByStores extends ReadErrors {
  readonly codec: StoredCodec
  readonly converted: ConvertedObjects
  readonly knownLists: KnownLists
}

export const createSharedByStores = (errors: ReadErrors, parts?: InternedParts): SharedByStores => ({
  ...errors,
  codec: createStoredCodec(parts),
  converted: createConvertedObjects(),
  knownLists: createKnownLists(),
})

export function createObjectStore(
  store: Store,
  kind: Kind,
  shared = createSharedByStores({ wrapsReadErrors: true }),
): ObjectStore {
  const { codec } = shared
  const versions = new Map<string, KindVersion>(
    kind.versions.map(version => [apiVersionOf(kind, version.name), version]),
  )
  const cache = createWatchCache<ObjectAttributes>(store, kind.keyPrefix, { getAttributes })

  const heads = [...versions.keys()].map(apiVersion => storedHead(apiVersion, kind.names.kind))
  const hasOwnFields = kind.versions.some(version => Object.keys(version.fields(NO_OBJECT)).length > 0)

  function getAttributes(key: string, value: Buffer): EntryAttributes<ObjectAttributes> {
    return (hasOwnFields ? undefined : attributesOfMetadata(key, value)) ?? attributesOfObject(key, value)
  }

  function attributesOfMetadata(key: string, value: Buffer): EntryAttributes<ObjectAttributes> | undefined {
    const head = heads.find(each => isStoredAs({ value }, each))
    const metadata = head && readStoredMetadata(value, head.length)
    if (!metadata) return undefined
    const { namespace, name } = objectKeyOf(kind, key)
    const fields = { 'metadata.name': name, 'metadata.namespace': namespace }
    return { indexedFields: fields, labels: metadata.labels, data: { ...metadata, fields } }
  }

  function attributesOfObject(key: string, value: Buffer): EntryAttributes<ObjectAttributes> {
    const object = codec.decode({ key, value, revision: 0 })
    const version = versions.get(object.apiVersion)
    const fields = selectableFields(version, object)
    const { labels = {}, deletionTimestamp } = metaOf(object)
    return {
      indexedFields: fieldsOfStorageVersion(object, fields),
      labels,
      data: { labels, fields, isTerminating: deletionTimestamp !== undefined },
    }
  }

  /** Events are indexed by the fields of the storage version, in whichever version an object was stored. */
  function fieldsOfStorageVersion(object: ApiObject, fields: Record<string, string>): Record<string, string> {
    if (object.apiVersion === kind.storedAs || kind.hasExternalConversion) return fields
    const converted = kind.convert(object, kind.storedAs)
    return converted instanceof Promise ? fields : selectableFields(versions.get(kind.storedAs), converted)
  }

  const encode = (object: ApiObject): Buffer => codec.encode(object, kind.traits.sortedKeys)

  const keyOfObject = (object: ApiObject): string => {
    const { namespace = '', name = '' } = metaOf(object)
    return keyOf(kind, namespace, name)
  }

  const views = createObjectViews(codec, shared.converted, shared)

  return {
    listCounts: { lists: 0, returned: 0 },
    cache,
    views,
    changes: createWatchChanges(views),
    knownLists: shared.knownLists,
    initialPages: createInitialPages(),
    encode,
    get(namespace, name, at) {
      const key = keyOf(kind, namespace, name)
      if (!cache.getNow) return cache.get(key, at).catch(nothingIfNoKey)
      try {
        return cache.getNow(key, at)
      } catch (error) {
        return nothingIfNoKey(error)
      }
    },
    getKnown: (namespace, name) => cache.getKnown(keyOf(kind, namespace, name)),
    async create(object, guard) {
      const [key, value] = [keyOfObject(object), encode(object)]
      const result = await cache.create(key, value, guard)
      return result.done && { key, value, revision: result.revision }
    },
    async update(object, expected, value = encode(object), guard) {
      const key = keyOfObject(object)
      const result = await cache.update(key, value, expected, guard)
      return result.done && { key, value, revision: result.revision }
    },
    async delete(namespace, name, expected) {
      const result = await cache.delete(keyOf(kind, namespace, name), expected)
      return result.done && result.revision
    },
  }
}
