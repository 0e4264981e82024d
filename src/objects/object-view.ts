// Objects on their way out: in the version that was asked for, parsed only if someone must look inside.

import { type Awaitable, allOf, andThen, orElse } from '../base/awaitable.js'
import type { Cancellation } from '../base/cancellation.js'
import type { Kind, KindVersion, VersionedKind } from '../kinds/kind.js'
import { apiVersionOf } from '../kinds/kind-names.js'
import { internalError, StatusError } from '../meta/errors/status.js'
import { byName } from '../meta/go/go-text.js'
import { type ApiObject, setMeta } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import type { ValueObject } from '../meta/values/value.js'
import type { Entry } from '../storage/store.js'
import { createConvertedBytes } from './cache/converted-objects.js'
import { createRevisionSet, type RevisionSet } from './cache/revision-set.js'
import type { ObjectEntry } from './object-store.js'
import { decodeStored, encodeStored, isStoredAs, storedHead } from './stored-object.js'

/**
 * An object to be shown: as it lies in the store, where it can be shown so, and as a value for those who must look
 * inside, parsed when they do.
 */
export interface ObjectView {
  /** Set only where its bytes begin as all objects of the version that is asked for do in the store. */
  readonly entry: Entry | undefined
  value(): ApiObject
}

/** An entry of the store in the version of the request; a promise only where others convert it. */
export function viewEntry(
  served: VersionedKind,
  entry: Entry,
  cancellation: Cancellation | undefined,
): Awaitable<ObjectView> {
  return (
    viewWithoutConversion(served, entry) ?? andThen(convertEntries(served, [entry], cancellation), ([first]) => first!)
  )
}

/** Many entries, those that must be converted all at once. */
export function viewEntries(
  served: VersionedKind,
  entries: readonly Entry[],
  cancellation: Cancellation | undefined,
): Awaitable<readonly ObjectView[]> {
  const shown: ObjectView[] = []
  const others: { readonly at: number; readonly entry: Entry }[] = []
  for (const entry of entries) {
    const known = viewWithoutConversion(served, entry)
    if (!known) others.push({ at: shown.length, entry })
    shown.push(known ?? asStored(entry))
  }
  if (others.length === 0) return shown
  const converting = convertEntries(
    served,
    others.map(({ entry }) => entry),
    cancellation,
  )
  return andThen(converting, converted => {
    for (const [i, each] of converted.entries()) shown[others[i]!.at] = each
    return shown
  })
}

/** What an entry holds, in the version of the request, for those who send it to nobody. */
export function readEntry(
  served: VersionedKind,
  entry: Entry,
  cancellation: Cancellation | undefined,
): Awaitable<ApiObject> {
  const { version } = served
  const isAsStored = isInVersion(served, entry) && (!version.upgradeStored || currentIn(version).has(entry.revision))
  if (isAsStored) return decodeStored(entry)
  return andThen(convertObjects(served, [entry], cancellation), ([first]) => first!)
}

/** As it is stored, or as it was shown before; nothing where it must be converted. */
function viewWithoutConversion(served: VersionedKind, entry: Entry): ObjectView | undefined {
  const { version } = served
  const isReady = isInVersion(served, entry)
  if (isReady && (!version.upgradeStored || currentIn(version).has(entry.revision))) return asStored(entry)
  const before = isKindEntry(entry) ? converted.find(version, entry) : undefined
  if (before) return asStored(before)
  // Only where what is stored may be read otherwise is there a reason to look inside, and only once.
  if (!isReady || isStale(entry)) return undefined
  currentIn(version).add(entry.revision)
  return asStored(entry)
}

const converted = createConvertedBytes()

const current = new WeakMap<KindVersion, RevisionSet>()

/** The writes that a version of a kind reads as they are stored; its successor begins anew. */
function currentIn(version: KindVersion): RevisionSet {
  let known = current.get(version)
  if (!known) current.set(version, (known = createRevisionSet()))
  return known
}

/** Whether the entry is stored in the version of the request. */
export const isInVersion = (served: VersionedKind, entry: Entry): boolean => isStoredAs(entry, headOf(served))

export const viewValue = (object: ApiObject): ObjectView => ({ entry: undefined, value: () => object })

const heads = new WeakMap<KindVersion, Buffer>()

/** What an object of that version begins with in the store. */
export function headOf({ kind, version }: VersionedKind): Buffer {
  let head = heads.get(version)
  if (!head) heads.set(version, (head = storedHead(apiVersionOf(kind, version.name), kind.names.kind)))
  return head
}

function asStored(entry: Entry): ObjectView {
  let object: ApiObject | undefined
  return { entry, value: () => (object ??= decodeStored(entry)) }
}

/** Others are entries that were made up for an event, at the revision of another one. */
const isKindEntry = (entry: Entry | ObjectEntry): entry is ObjectEntry => 'attributes' in entry

const isStale = (entry: Entry): boolean => isKindEntry(entry) && entry.attributes.data.isStale

/** An object that is written, in the version of the request and in the storage version. */
export interface WrittenObject {
  readonly object: ApiObject
  readonly stored: ApiObject
  /** Reading it from the store gives `object` again. */
  readonly isNormal: boolean
}

/** What was just stored, as readers see it. May change `stored`. */
export function viewStored(
  served: VersionedKind,
  written: WrittenObject,
  entry: Entry,
  cancellation: Cancellation | undefined,
): Awaitable<ObjectView> {
  return andThen(viewWritten(served, written, entry, cancellation), shown => {
    if (shown.entry && served.version.upgradeStored) currentIn(served.version).add(entry.revision)
    return shown
  })
}

/** What is or would be stored as that entry, as readers see it. May change `stored`. */
export function viewWritten(
  served: VersionedKind,
  { object: written, stored, isNormal }: WrittenObject,
  entry: Entry,
  cancellation: Cancellation | undefined,
): Awaitable<ObjectView> {
  const { kind, version } = served
  const at = (object: ApiObject): ApiObject => asWritten(kind, object, String(entry.revision))
  if (!isInVersion(served, entry)) {
    return andThen(asRead(served, written, stored, cancellation), read => viewValue(at(read)))
  }
  if (isNormal) return { entry, value: () => at(written) }
  const object = version.upgradeStored ? version.upgradeStored(stored).object : written
  const isAsStored = !version.upgradeStored || encodeStored(object, kind.traits.sortedKeys).equals(entry.value)
  return { entry: isAsStored ? entry : undefined, value: () => at(object) }
}

/** What was written, as clients are shown it: at a revision, if it has one, and in the order of its kind. */
export function asWritten({ traits }: Kind, object: ApiObject, resourceVersion: string): ApiObject {
  const meta = resourceVersion === '' ? metaOf(object) : { ...metaOf(object), resourceVersion }
  if (!traits.sortedKeys) return setMeta(object, meta)
  return byName({ ...object, metadata: byName(meta as ValueObject) }) as ApiObject
}

/** What would be written, as a reader is shown it. May change `stored`. */
export function asRead(
  { kind, version }: VersionedKind,
  written: ApiObject,
  stored: ApiObject,
  cancellation: Cancellation | undefined,
): Awaitable<ApiObject> {
  const read = storedVersion(kind, stored)?.upgradeStored
  return read ? kind.convert(read(stored).object, apiVersionOf(kind, version.name), cancellation) : written
}

const storedVersion = (kind: Kind, { apiVersion }: ApiObject): KindVersion | undefined =>
  kind.versions.find(({ name }) => apiVersionOf(kind, name) === apiVersion)

function convertEntries(
  served: VersionedKind,
  entries: readonly Entry[],
  cancellation: Cancellation | undefined,
): Awaitable<readonly ObjectView[]> {
  const done = convertObjects(served, entries, cancellation)
  // What others make of an object they may make otherwise the next time.
  if (done instanceof Promise) return done.then(objects => objects.map(viewValue))
  return done.map((object, i) => viewConverted(served, entries[i]!, object))
}

function convertObjects(
  { kind, version }: VersionedKind,
  entries: readonly Entry[],
  cancellation: Cancellation | undefined,
): Awaitable<readonly ApiObject[]> {
  const convert = (): Awaitable<readonly ApiObject[]> => {
    const objects = entries.map(entry => readStored(kind, entry))
    return convertAll(kind, objects, apiVersionOf(kind, version.name), cancellation)
  }
  return orElse(convert, unreadable)
}

/** What we have converted ourselves is shown as bytes, which serve the next reader too. */
function viewConverted(served: VersionedKind, entry: Entry, object: ApiObject): ObjectView {
  if (!isKindEntry(entry)) return viewValue(object)
  const { key, revision } = entry
  const made = { key, revision, value: encodeStored(object, served.kind.traits.sortedKeys) }
  if (!isInVersion(served, made)) return viewValue(object)
  converted.keep(served.version, made)
  return { entry: made, value: () => object }
}

function readStored(kind: Kind, entry: Entry): ApiObject {
  const stored = decodeStored(entry)
  return storedVersion(kind, stored)?.upgradeStored?.(stored).object ?? stored
}

function convertAll(
  kind: Kind,
  objects: readonly ApiObject[],
  to: string,
  cancellation: Cancellation | undefined,
): Awaitable<readonly ApiObject[]> {
  if (kind.convertAll) return kind.convertAll(objects, to, cancellation)
  return allOf(objects.map(object => (object.apiVersion === to ? object : kind.convert(object, to, cancellation))))
}

/** An object that is there and cannot be shown is our fault, whatever kept us from it. */
function unreadable(error: unknown): never {
  throw error instanceof StatusError && error.status.reason === undefined ? internalError(error.message) : error
}
