// Objects on their way out: in the version that was asked for, parsed only if someone must look inside.
import type { ApiObject } from '../kinds/kind.js'
import type { Entry } from '../storage/store.js'
import type { Served, Shown } from './answer.js'
import { decodeStored } from './stored-object.js'

/** An entry of the store in the version of the request. */
export function showEntry(served: Served, entry: Entry): Shown | Promise<Shown> {
  // An object in the version that is asked for needs no conversion, whatever version is stored by now.
  if (served.kind.versions.length === 1) return asStored(entry)
  return convertEntry(served, entry)
}

export const showValue = (object: ApiObject): Shown => ({ entry: undefined, value: () => object })

function asStored(entry: Entry): Shown {
  let object: ApiObject | undefined
  return { entry, value: () => (object ??= decodeStored(entry)) }
}

async function convertEntry({ kind, version }: Served, entry: Entry): Promise<Shown> {
  const object = decodeStored(entry)
  const stored = object.apiVersion.slice(object.apiVersion.indexOf('/') + 1)
  if (stored === version.name) return { entry, value: () => object }
  return showValue(await kind.convert(object, stored, version.name))
}
