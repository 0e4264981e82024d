// A shortcut for YAML that is also JSON, which most clients send for apply: if both formats read it alike, it goes
// through the JSON decoder, which is many times faster. Other input is decoded as YAML.
import { compareTexts } from '../../meta/go/go-text.js'
import { isObject, setOwn, type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'
import { CodecError } from '../codec-error.js'
import { decodeJson, parseNumber } from '../json/decode.js'

/** Line breaks that only YAML has, escapes that only JSON has, and a colon on another line than its key, likewise. */
const READ_DIFFERENTLY = /[\u0085\u2028\u2029\ufeff]|\\(?:\/|u[dD][89a-fA-F])|"[ \t]*[\r\n]\s*:/
/** A YAML key must end within 1,024 characters; each character may be written as a six-character escape. */
const MAX_KEY_LENGTH = 150
const MAX_DEPTH = 200

/** The value that the YAML decoder would return, or undefined if the shortcut does not apply. */
export function readYamlAsJson(bytes: Uint8Array, text: string): Value | undefined {
  if (!text.startsWith('{') || READ_DIFFERENTLY.test(text)) return undefined
  try {
    const { value, duplicates } = decodeJson(bytes, { maxDepth: MAX_DEPTH })
    return duplicates.length === 0 ? asYaml(value) : undefined
  } catch (error) {
    if (error instanceof CodecError) return undefined
    throw error
  }
}

/** Sorts keys, and converts floats that print as integers; undefined if a key is too long. */
function asYaml(value: Value): Value | undefined {
  if (value instanceof WholeFloat) return parseNumber(String(value.value))
  if (Array.isArray(value)) {
    const list: Value[] = []
    for (const item of value) {
      const read = asYaml(item)
      if (read === undefined) return undefined
      list.push(read)
    }
    return list
  }
  if (!isObject(value)) return value
  const object: ValueObject = {}
  for (const key of Object.keys(value).toSorted(compareTexts)) {
    const read = key.length > MAX_KEY_LENGTH ? undefined : asYaml(value[key]!)
    if (read === undefined) return undefined
    setOwn(object, key, read)
  }
  return object
}
