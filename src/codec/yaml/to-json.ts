// A short cut for YAML that is JSON, as most clients send it when they apply: what both read alike goes through the
// JSON decoder, which is many times faster. Anything else is left to YAML proper.
import { compareTexts } from '../../meta/go/go-text.js'
import { isObject, setOwn, type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'
import { CodecError } from '../codec-error.js'
import { decodeJson, parseNumber } from '../json/decode.js'

/** Line breaks that only YAML knows, and escapes that only JSON does. */
const READ_DIFFERENTLY = /[\u0085\u2028\u2029\ufeff]|\\(?:\/|u[dD][89a-fA-F])/
/** A YAML key must end within 1,024 characters, in which every character may have been written as `\u0041`. */
const MAX_KEY_LENGTH = 150
const MAX_DEPTH = 200

/** The value that YAML would read, or undefined if that takes a closer look. */
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

/** Keys sorted, and floats that print as integers turned into them; undefined if a key is too long. */
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
