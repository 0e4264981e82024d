// Stored objects as requests see them: in the version of the request, as bytes where those can be served as they are, and
// parsed only if something must look inside. What is learned about entries is kept by the store that they come from.

import { type Awaitable, allOf, andThen, orElse } from '../base/awaitable.js'
import type { Cancellation } from '../base/cancellation.js'
import type { Kind, KindVersion, VersionedKind } from '../kinds/kind.js'
import { apiVersionOf } from '../kinds/kind-names.js'
import { internalError, StatusError, unclassified } from '../meta/errors/status.js'
import { byName } from '../meta/go/go-text.js'
import { type ApiObject, setMeta } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import type { ValueObject } from '../meta/values/value.js'
import type { Entry } from '../storage/store.js'
import type { ConvertedObjects } from './cache/converted-objects.js'
import { createRevisionSet, type RevisionSet } from './cache/revision-set.js'
import { isStoredAs, type StoredCodec, storedHead } from './stored-object.js'
import { Unreadable } from './unreadable.js'

export interface ObjectView {
  /** The object as bytes, if there are bytes of it in the version of the request. */
  readonly entry: Entry | undefined
  /** The bytes with which `entry` begins: apiVersion, kind, and the opening of metadata. */
  readonly head: Buffer
  value(): ApiObject
}

const NO_HEAD = Buffer.alloc(0)

export const viewValue = (object: ApiObject): ObjectView => ({ entry: undefined, head: NO_HEAD, value: () => object })

/** An object that is written, in the version of the request and in the storage version. */
export interface WrittenObject {
  readonly object: ApiObject
  readonly stored: ApiObject
  /** Reading it from the store gives `object` again. */
  readonly isNormal: boolean
  /** The same of its metadata alone. */
  readonly isMetaNormal?: boolean
}

/** Views of the entries of one store. They are promises only where a webhook converts. */
export interface ObjectViews {
  /** Whether the entry is stored in the version of the request. */
  isInVersion(versioned: VersionedKind, entry: Entry): boolean
  view(versioned: VersionedKind, entry: Entry, cancellation: Cancellation | undefined): Awaitable<ObjectView>
  /** Many entries; those that must be converted are converted together. */
  viewAll(
    versioned: VersionedKind,
    entries: readonly Entry[],
    cancellation: Cancellation | undefined,
  ): Awaitable<readonly ObjectView[]>
  /** The entry as it was before an event, at the revision of that event. */
  viewPrevious(versioned: VersionedKind, previous: Entry, revision: number): Awaitable<ObjectView>
  /** The object of an entry, for callers that do not send it. */
  read(versioned: VersionedKind, entry: Entry, cancellation: Cancellation | undefined): Awaitable<ApiObject>
  /** What was just stored as this entry. May change `stored`. */
  viewStored(
    versioned: VersionedKind,
    written: WrittenObject,
    entry: Entry,
    cancellation: Cancellation | undefined,
  ): Awaitable<ObjectView>
  /** What would be stored as this entry. May change `stored`. */
  viewWritten(
    versioned: VersionedKind,
    written: WrittenObject,
    entry: Entry,
    cancellation: Cancellation | undefined,
  ): Awaitable<ObjectView>
  /** What would be read if `stored` were stored. May change `stored`. */
  readWritten(
    versioned: VersionedKind,
    written: WrittenObject,
    cancellation: Cancellation | undefined,
  ): Awaitable<ApiObject>
}

export interface ReadErrors {
  /**
   * Whether a stored object that cannot be read is answered as an InternalError, as by kube-apiserver with its feature gate
   * AllowUnsafeMalformedObjectDeletion. Without it, the Status has the bare message and no reason.
   */
  readonly wrapsReadErrors: boolean
}

export function createObjectViews(
  codec: StoredCodec,
  converted: ConvertedObjects,
  { wrapsReadErrors }: ReadErrors,
): ObjectViews {
  const heads = new WeakMap<KindVersion, Buffer>()
  /** The writes that a version reads as they are stored. A version that replaces it starts anew. */
  const current = new WeakMap<KindVersion, RevisionSet>()

  function headOf({ kind, version }: VersionedKind): Buffer {
    let head = heads.get(version)
    if (!head) heads.set(version, (head = storedHead(apiVersionOf(kind, version.name), kind.names.kind)))
    return head
  }

  function currentIn(version: KindVersion): RevisionSet {
    let revisions = current.get(version)
    if (!revisions) current.set(version, (revisions = createRevisionSet()))
    return revisions
  }

  /** A stored object that cannot be read is an error of the server, whatever the reason. */
  function unreadable(error: unknown): never {
    if (!(error instanceof StatusError)) throw error
    const { reason, details } = error.status
    const { cause } = error
    if (cause instanceof Unreadable && wrapsReadErrors) {
      throw new StatusError(internalError(cause.corruptObject).status, { cause })
    }
    if (cause instanceof Unreadable && !cause.isTransformable) throw error
    if (wrapsReadErrors) throw reason === undefined ? internalError(error.message) : error
    throw reason === 'InternalError' ? unclassified(details?.causes?.[0]?.message ?? error.message) : error
  }

  function orUnreadable<T>(read: () => T): T {
    try {
      return read()
    } catch (error) {
      return unreadable(error)
    }
  }

  const isInVersion = (versioned: VersionedKind, entry: Entry): boolean => isStoredAs(entry, headOf(versioned))

  const isCurrent = ({ version }: VersionedKind, { revision }: Entry): boolean =>
    !version.upgradeStored || currentIn(version).has(revision)

  function asStored(versioned: VersionedKind, entry: Entry): ObjectView {
    let object: ApiObject | undefined
    return { entry, head: headOf(versioned), value: () => (object ??= codec.decode(entry)) }
  }

  const encode = ({ kind }: VersionedKind, object: ApiObject): Buffer => codec.encode(object, kind.traits.sortedKeys)

  /** Undefined if the entry must be converted to another version. */
  function viewAtOnce(versioned: VersionedKind, entry: Entry): ObjectView | undefined {
    const isStored = isInVersion(versioned, entry)
    if (isStored && isCurrent(versioned, entry)) return asStored(versioned, entry)
    const before = converted.find(versioned.version, entry)
    if (before) return asStored(versioned, before)
    return isStored ? viewUpgraded(versioned, entry) : undefined
  }

  /** An entry in the version of the request that was written under earlier rules, or of which that is not known. */
  function viewUpgraded(versioned: VersionedKind, entry: Entry): ObjectView {
    const { object, changed } = orUnreadable(() => versioned.version.upgradeStored!(codec.decode(entry)))
    if (changed) return viewConverted(versioned, entry, object)
    currentIn(versioned.version).add(entry.revision)
    return asStored(versioned, entry)
  }

  /** What this server converts itself is kept as bytes for the next reader. */
  function viewConverted(versioned: VersionedKind, { key, revision }: Entry, object: ApiObject): ObjectView {
    const entry = { key, revision, value: encode(versioned, object) }
    if (!isInVersion(versioned, entry)) return viewValue(object)
    converted.keep(versioned.version, entry)
    return { entry, head: headOf(versioned), value: () => object }
  }

  function convertEntries(
    versioned: VersionedKind,
    entries: readonly Entry[],
    cancellation: Cancellation | undefined,
  ): Awaitable<readonly ObjectView[]> {
    const done = convertObjects(versioned, entries, cancellation)
    // A webhook may convert the same object differently the next time.
    if (done instanceof Promise) return done.then(objects => objects.map(viewValue))
    return done.map((object, i) => viewConverted(versioned, entries[i]!, object))
  }

  const convertObjects = (
    { kind, version }: VersionedKind,
    entries: readonly Entry[],
    cancellation: Cancellation | undefined,
  ): Awaitable<readonly ApiObject[]> =>
    orElse(() => {
      const objects = entries.map(entry => upgrade(kind, codec.decode(entry)))
      return convertAll(kind, objects, apiVersionOf(kind, version.name), cancellation)
    }, unreadable)

  const views: ObjectViews = {
    isInVersion,

    view: (versioned, entry, cancellation) =>
      viewAtOnce(versioned, entry) ?? andThen(convertEntries(versioned, [entry], cancellation), ([view]) => view!),

    viewAll(versioned, entries, cancellation) {
      const all: (ObjectView | undefined)[] = entries.map(entry => viewAtOnce(versioned, entry))
      if (!all.includes(undefined)) return all as ObjectView[]
      const rest = entries.filter((_, i) => all[i] === undefined)
      return andThen(convertEntries(versioned, rest, cancellation), viewed => {
        const next = viewed.values()
        return all.map(view => view ?? next.next().value!)
      })
    },

    viewPrevious(versioned, previous, revision) {
      const entry = viewAtOnce(versioned, previous)?.entry
      if (entry) return asStored(versioned, { ...entry, revision })
      return andThen(convertObjects(versioned, [{ ...previous, revision }], undefined), ([object]) =>
        viewValue(object!),
      )
    },

    read(versioned, entry, cancellation) {
      if (isInVersion(versioned, entry) && isCurrent(versioned, entry)) return codec.decode(entry)
      return andThen(convertObjects(versioned, [entry], cancellation), ([object]) => object!)
    },

    viewStored: (versioned, written, entry, cancellation) =>
      andThen(views.viewWritten(versioned, written, entry, cancellation), view => {
        if (view.entry && versioned.version.upgradeStored) currentIn(versioned.version).add(entry.revision)
        return view
      }),

    viewWritten(versioned, written, entry, cancellation) {
      const { kind, version } = versioned
      const at = (object: ApiObject): ApiObject => asWritten(kind, object, String(entry.revision))
      if (!isInVersion(versioned, entry)) {
        return andThen(views.readWritten(versioned, written, cancellation), object => viewValue(at(object)))
      }
      const head = headOf(versioned)
      const { object, stored, isNormal, isMetaNormal } = written
      if (isNormal || !version.upgradeStored) return { entry, head, value: () => at(object) }
      const upgraded = version.upgradeStored(stored, isMetaNormal)
      if (upgraded.changed) return viewValue(at(upgraded.object))
      return { entry, head, value: () => at(upgraded.object) }
    },

    readWritten({ kind, version }, { object, stored, isNormal }, cancellation) {
      const upgradeStored = storedVersion(kind, stored)?.upgradeStored
      if (isNormal || !upgradeStored) return object
      return kind.convert(upgradeStored(stored).object, apiVersionOf(kind, version.name), cancellation)
    },
  }
  return views
}

/** A written object as clients see it: at a revision, if it has one, and in the order of its kind. */
export function asWritten({ traits }: Kind, object: ApiObject, resourceVersion: string): ApiObject {
  const meta = resourceVersion === '' ? metaOf(object) : { ...metaOf(object), resourceVersion }
  if (!traits.sortedKeys) return setMeta(object, meta)
  return byName({ ...object, metadata: byName(meta as ValueObject) }) as ApiObject
}

const storedVersion = (kind: Kind, { apiVersion }: ApiObject): KindVersion | undefined =>
  kind.versions.find(({ name }) => apiVersionOf(kind, name) === apiVersion)

const upgrade = (kind: Kind, stored: ApiObject): ApiObject =>
  storedVersion(kind, stored)?.upgradeStored?.(stored).object ?? stored

function convertAll(
  kind: Kind,
  objects: readonly ApiObject[],
  to: string,
  cancellation: Cancellation | undefined,
): Awaitable<readonly ApiObject[]> {
  if (kind.convertAll) return kind.convertAll(objects, to, cancellation)
  return allOf(objects.map(object => (object.apiVersion === to ? object : kind.convert(object, to, cancellation))))
}
