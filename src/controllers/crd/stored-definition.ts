// A stored definition, read but for its schemas. They are most of its bytes, and of a thousand definitions few are ever
// used: whoever asks for a schema has it read from the bytes then, each time anew.

import { decodeJson } from '../../codec/json.js'
import { versionsOf } from '../../crd/definition.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { Entry } from '../../storage/store.js'

export function readDefinition(entry: Entry): ApiObject {
  const schemas = schemasIn(entry.value)
  const definition = decodeStored({ ...entry, value: without(entry.value, schemas) })
  const left = versionsOf(definition).flatMap(({ schema }) => (schema?.openAPIV3Schema === null ? [schema] : []))
  // Bytes that are laid out in another way than ours are read as any others.
  if (left.length !== schemas.length) return decodeStored(entry)
  for (const [i, { start, end }] of schemas.entries()) {
    const bytes = entry.value.subarray(start, end)
    Object.defineProperty(left[i]!, 'openAPIV3Schema', { enumerable: true, get: () => decodeJson(bytes).value })
    Object.defineProperty(left[i]!, 'written', { enumerable: false, value: bytes })
  }
  return definition
}

interface Span {
  readonly start: number
  readonly end: number
}

/** Quotes within a text have a backslash before them: what looks like this is a schema of a version, or within one. */
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
 * Behind the brace that closes what opens at `start`; `start` where nothing opens. Most of a schema is text: that is
 * skipped by a search, which strings do fastest.
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

/** Where the quote is that ends a text: one with no backslash before it, or with an even number of them. */
function endOfText(text: string, start: number): number {
  for (let at = text.indexOf('"', start); at !== -1; at = text.indexOf('"', at + 1)) {
    let first = at
    while (first > start && text.charCodeAt(first - 1) === BACKSLASH) first--
    if ((at - first) % 2 === 0) return at
  }
  return text.length
}
