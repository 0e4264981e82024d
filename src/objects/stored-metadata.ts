// What selectors need of an object's metadata, read from the stored bytes without decoding the rest of the object.
import { decodeJson } from '../codec/json.js'

export interface StoredMetadata {
  readonly labels: Readonly<Record<string, string>>
  readonly isTerminating: boolean
}

const NO_LABELS: Readonly<Record<string, string>> = {}
const LABELS = Buffer.from('labels')
const DELETION = Buffer.from('deletionTimestamp')

const [QUOTE, COMMA, OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN, CLOSE] = [0x22, 0x2c, 0x5b, 0x5c, 0x5d, 0x7b, 0x7d]

/** `start`: where the first member of the metadata begins. Undefined if the bytes are not as this server writes them. */
export function readStoredMetadata(value: Buffer, start: number): StoredMetadata | undefined {
  let labels = NO_LABELS
  let isTerminating = false
  for (let at = start; value[at] !== CLOSE; ) {
    if (value[at] === COMMA && at > start) at++
    if (value[at] !== QUOTE) return undefined
    const name = at + 1
    const nameEnd = endOfString(value, at) - 1
    const begin = nameEnd + 2 // after the quote and the colon
    const end = endOfValue(value, begin)
    if (end <= begin || end >= value.length) return undefined
    if (isName(value, name, nameEnd, LABELS)) labels = decodeLabels(value.subarray(begin, end))
    else if (isName(value, name, nameEnd, DELETION)) isTerminating = true
    at = end
  }
  return { labels, isTerminating }
}

const isName = (value: Buffer, start: number, end: number, name: Buffer): boolean =>
  end - start === name.length && name.compare(value, start, end) === 0

const decodeLabels = (bytes: Buffer): Readonly<Record<string, string>> =>
  decodeJson(bytes).value as Record<string, string>

/** The index after the closing quote of the string that begins here. */
function endOfString(value: Buffer, start: number): number {
  for (let at = start + 1; at < value.length; at++) {
    const byte = value[at]
    if (byte === QUOTE) return at + 1
    if (byte === BACKSLASH) at++
  }
  return value.length
}

/** The index after the value that begins here. */
function endOfValue(value: Buffer, start: number): number {
  let depth = 0
  for (let at = start; at < value.length; at++) {
    const byte = value[at]
    if (byte === QUOTE) {
      at = endOfString(value, at) - 1
      if (depth === 0) return at + 1
    } else if (byte === OPEN || byte === OPEN_LIST) depth++
    else if (byte === CLOSE || byte === CLOSE_LIST) {
      if (depth === 0) return at // the end of a number, of true, false or null
      if (--depth === 0) return at + 1
    } else if (byte === COMMA && depth === 0) return at
  }
  return value.length
}
