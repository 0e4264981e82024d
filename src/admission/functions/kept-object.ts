// An object of a recorded call. Bytes cost the garbage collector nothing; a thousand objects would cost each request more than
// the call of a function does.

import { decodeJson, encodeJson } from '../../codec/json.js'
import { type ApiObject, setMeta } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { copyForFunction } from './copy.js'

/** The object of the server, or its JSON; undefined if there is none. */
export type KeptObject = ApiObject | EncodedObject | undefined

export class EncodedObject {
  private constructor(
    readonly bytes: Buffer,
    /** Bytes of the store are without it. */
    readonly resourceVersion: string | undefined,
  ) {}

  static of(object: ApiObject): EncodedObject {
    return new EncodedObject(Buffer.from(encodeJson(object)), undefined)
  }

  /** `bytes`: the object as it is stored. */
  static stored(object: ApiObject, bytes: Buffer): EncodedObject {
    return new EncodedObject(bytes, metaOf(object).resourceVersion)
  }
}

/** The bytes that are kept. */
export const keptSize = (kept: KeptObject): number => (kept instanceof EncodedObject ? kept.bytes.length : 0)

/** Whether nothing is left to encode. */
export const isEncoded = (kept: KeptObject): kept is EncodedObject | undefined =>
  kept === undefined || kept instanceof EncodedObject

export const encoded = (kept: KeptObject): EncodedObject | undefined =>
  isEncoded(kept) ? kept : EncodedObject.of(kept)

/** A copy that a program may change. */
export function readKept(kept: KeptObject): ApiObject | undefined {
  if (!(kept instanceof EncodedObject)) return kept && copyForFunction(kept)
  const object = decodeJson(kept.bytes, { floatMinusZero: true }).value as ApiObject
  const { resourceVersion } = kept
  return resourceVersion === undefined ? object : setMeta(object, { ...metaOf(object), resourceVersion })
}
