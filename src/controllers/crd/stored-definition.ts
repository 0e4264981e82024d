// Reads a stored definition without its schemas. They are most of its bytes, and of a thousand definitions few are used:
// a schema is decoded from the bytes each time its property is read. The bytes can be compressed until then.

import { promisify } from 'node:util'
import { deflateRaw, inflateRawSync } from 'node:zlib'
import { decodeJson } from '../../codec/json.js'
import { versionsOf } from '../../crd/definition.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { Entry } from '../../storage/store.js'

export function readDefinition(entry: Entry): ApiObject {
  const schemas = schemasIn(entry.value)
  const definition = decodeStored({ ...entry, value: without(entry.value, schemas) })
  const left = versionsOf(definition).flatMap(({ schema }) => (schema?.openAPIV3Schema === null ? [schema] : []))
  // Bytes that another program has written in another layout are decoded completely.
  if (left.length !== schemas.length) return decodeStored(entry)
  for (const [i, { start, end }] of schemas.entries()) {
    const stored = createStoredSchema(entry.value.subarray(start, end))
    const get = (): unknown => decodeJson(stored.bytes).value
    Object.defineProperty(left[i]!, 'openAPIV3Schema', { enumerable: true, get })
    Object.defineProperty(left[i]!, 'written', { enumerable: false, get: () => stored.bytes })
    Object.defineProperty(left[i]!, STORED, { enumerable: false, value: stored })
  }
  return definition
}

/** The bytes of one schema. */
export interface StoredSchema {
  readonly bytes: Buffer
  /** How many bytes it takes as long as it is not compressed. */
  readonly size: number
  /** From now on the bytes are kept compressed, to a tenth or so, and expanded each time they are needed. */
  compress(): Promise<void>
}

/** The schemas of a definition that are decoded when they are read. */
export const storedSchemasOf = (definition: ApiObject): StoredSchema[] =>
  versionsOf(definition).flatMap(({ schema }) => (schema as { [STORED]?: StoredSchema } | undefined)?.[STORED] ?? [])

const STORED = Symbol('the bytes of a schema')

function createStoredSchema(plain: Buffer | undefined): StoredSchema {
  const size = plain?.length ?? 0
  let compressed = NO_BYTES
  return {
    get bytes() {
      return plain ?? inflateRawSync(compressed)
    },
    size,
    async compress() {
      if (!plain) return
      const found = await deflate(plain, FAST)
      // Without the rest of zlib's buffer.
      compressed = Buffer.allocUnsafeSlow(found.length)
      found.copy(compressed)
      plain = undefined
    },
  }
}

const deflate = promisify<Buffer, object, Buffer>(deflateRaw)
const FAST = { level: 1 }
const NO_BYTES = Buffer.alloc(0)

interface Span {
  readonly start: number
  readonly end: number
}

/** Quotes inside a string are escaped, so that these bytes begin the schema of a version, or a part of a schema. */
const BEFORE = Buffer.from('"schema":{"openAPIV3Schema":')
const NULL = Buffer.from('null')

function schemasIn(bytes: Buffer): Span[] {
  const spans: Span[] = []
  for (let at = bytes.indexOf(BEFORE); at !== -1; at = bytes.indexOf(BEFORE, at)) {
    const start = at + BEFORE.length
    at = endOfObject(bytes, start)
    spans.push({ start, end: at })
  }
  return spans
}

function without(bytes: Buffer, spans: readonly Span[]): Buffer {
  const parts: Buffer[] = []
  let from = 0
  for (const { start, end } of spans) {
    parts.push(bytes.subarray(from, start), NULL)
    from = end
  }
  return Buffer.concat([...parts, bytes.subarray(from)])
}

const [OPEN, CLOSE, QUOTE, BACKSLASH] = [...Buffer.from('{}"\\')]

/**
 * The position after the object that opens at `start`; `start` if no object opens there. Most of a schema is strings,
 * which are skipped by `indexOf`.
 */
function endOfObject(bytes: Buffer, start: number): number {
  if (bytes[start] !== OPEN) return start
  const text = bytes.toString('latin1', start)
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const byte = text.charCodeAt(at)
    if (byte === QUOTE) at = endOfText(text, at + 1)
    else if (byte === OPEN) depth++
    else if (byte === CLOSE && --depth === 0) return start + at + 1
  }
  return bytes.length
}

/** The quote that ends a string: one with an even number of backslashes before it. */
function endOfText(text: string, start: number): number {
  for (let at = text.indexOf('"', start); at !== -1; at = text.indexOf('"', at + 1)) {
    let first = at
    while (first > start && text.charCodeAt(first - 1) === BACKSLASH) first--
    if ((at - first) % 2 === 0) return at
  }
  return text.length
}
