// Objects on their way out: in the version that was asked for, parsed only if someone must look inside.

import type { ApiObject, Converted, Kind, KindVersion } from '../kinds/kind.js'
import { apiVersionOf } from '../kinds/kind-names.js'
import { internalError, StatusError } from '../meta/status.js'
import type { Entry } from '../storage/store.js'
import type { Served, Shown } from './answer.js'
import type { KindEntry } from './kind-store.js'
import { decodeStored, isStoredAs, storedHead } from './stored-object.js'

/** An entry of the store in the version of the request; a promise only where others convert it. */
export function showEntry(served: Served, entry: Entry): Shown | Promise<Shown> {
  if (isShownAsStored(served, entry)) return asStored(entry)
  const shown = convertEntries(served, [entry])
  return shown instanceof Promise ? shown.then(([first]) => first!) : shown[0]!
}

/** Many entries, those that must be converted all at once. */
export function showEntries(served: Served, entries: readonly Entry[]): readonly Shown[] | Promise<readonly Shown[]> {
  const shown: Shown[] = []
  const others: { readonly at: number; readonly entry: Entry }[] = []
  for (const entry of entries) {
    if (!isShownAsStored(served, entry)) others.push({ at: shown.length, entry })
    shown.push(asStored(entry))
  }
  if (others.length === 0) return shown
  const put = (converted: readonly Shown[]): readonly Shown[] => {
    for (const [i, each] of converted.entries()) shown[others[i]!.at] = each
    return shown
  }
  const converted = convertEntries(
    served,
    others.map(({ entry }) => entry),
  )
  return converted instanceof Promise ? converted.then(put) : put(converted)
}

/** Only where what is stored may be read otherwise is there a reason to look inside. */
const isShownAsStored = (served: Served, entry: Entry): boolean =>
  isInVersion(served, entry) && !(served.version.read !== undefined && isStale(entry))

/** Whether the entry is stored in the version of the request. */
export const isInVersion = (served: Served, entry: Entry): boolean => isStoredAs(entry, headOf(served))

export const showValue = (object: ApiObject): Shown => ({ entry: undefined, value: () => object })

const heads = new WeakMap<KindVersion, Buffer>()

/** What an object of that version begins with in the store. */
export function headOf({ kind, version }: Served): Buffer {
  let head = heads.get(version)
  if (!head) heads.set(version, (head = storedHead(apiVersionOf(kind, version.name), kind.names.kind)))
  return head
}

function asStored(entry: Entry): Shown {
  let object: ApiObject | undefined
  return { entry, value: () => (object ??= decodeStored(entry)) }
}

const isStale = (entry: Entry | KindEntry): boolean => 'facts' in entry && entry.facts.data.isStale

/** What was just written, as a reader is shown it. May change what was stored. */
export function asRead(
  { kind, version }: Served,
  written: ApiObject,
  stored: ApiObject,
): ApiObject | Promise<ApiObject> {
  const read = storedVersion(kind, stored)?.read
  return read ? kind.convert(read(stored), apiVersionOf(kind, version.name)) : written
}

const storedVersion = (kind: Kind, { apiVersion }: ApiObject): KindVersion | undefined =>
  kind.versions.find(({ name }) => apiVersionOf(kind, name) === apiVersion)

function convertEntries(
  { kind, version }: Served,
  entries: readonly Entry[],
): readonly Shown[] | Promise<readonly Shown[]> {
  const wanted = apiVersionOf(kind, version.name)
  const show = (converted: readonly ApiObject[]): readonly Shown[] => converted.map(showValue)
  try {
    const converted = convertAll(
      kind,
      entries.map(entry => readEntry(kind, entry)),
      wanted,
    )
    return converted instanceof Promise ? converted.then(show, unreadable) : show(converted)
  } catch (error) {
    return unreadable(error)
  }
}

function readEntry(kind: Kind, entry: Entry): ApiObject {
  const stored = decodeStored(entry)
  return storedVersion(kind, stored)?.read?.(stored) ?? stored
}

function convertAll(kind: Kind, objects: readonly ApiObject[], to: string): Converted {
  if (objects.every(({ apiVersion }) => apiVersion === to)) return objects
  if (kind.convertAll) return kind.convertAll(objects, to)
  const converted = objects.map(object => (object.apiVersion === to ? object : kind.convert(object, to)))
  return converted.some(each => each instanceof Promise)
    ? Promise.all(converted.map(async each => each))
    : (converted as readonly ApiObject[])
}

/** An object that is there and cannot be shown is our fault, whatever kept us from it. */
function unreadable(error: unknown): never {
  throw error instanceof StatusError && error.status.reason === undefined ? internalError(error.message) : error
}
