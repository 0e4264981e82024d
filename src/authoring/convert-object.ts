// Converts one object as the server does for a stored one. A manifest is not stored: it keeps the metadata that it has.

import type { Kind } from '../kinds/kind.js'
import { type ApiObject, setMeta } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'

export async function convertObject(kind: Kind, object: ApiObject, to: string): Promise<ApiObject> {
  const converted = await kind.convert(object, to)
  if (metaOf(object).generation !== undefined) return converted
  // The server gives a stored object without a generation the first one.
  const { generation: _, ...meta } = metaOf(converted)
  return setMeta(converted, meta)
}
