// Objects on their way out: in the version that was asked for, parsed only if someone must look inside.

import type { ApiObject, Kind, KindVersion } from '../kinds/kind.js'
import { apiVersionOf } from '../kinds/kind-names.js'
import type { Entry } from '../storage/store.js'
import type { Served, Shown } from './answer.js'
import type { KindEntry } from './kind-store.js'
import { decodeStored, isStoredAs, storedHead } from './stored-object.js'

/** An entry of the store in the version of the request. */
export function showEntry(served: Served, entry: Entry): Shown | Promise<Shown> {
  // Only where what is stored may be read otherwise is there a reason to look inside.
  const mayBeStale = served.version.read !== undefined
  return isStoredAs(entry, headOf(served)) && !(mayBeStale && isStale(entry))
    ? asStored(entry)
    : convertEntry(served, entry)
}

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

async function convertEntry({ kind, version }: Served, entry: Entry): Promise<Shown> {
  const stored = decodeStored(entry)
  const wanted = apiVersionOf(kind, version.name)
  const object = storedVersion(kind, stored)?.read?.(stored) ?? stored
  return showValue(object.apiVersion === wanted ? object : await kind.convert(object, wanted))
}
