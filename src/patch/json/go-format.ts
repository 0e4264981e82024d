// Values as Go's fmt prints them: errors of strategic merge patches quote the patch in this format.
import { isFloat, isInteger, isObject, type Value, WholeFloat } from '../../meta/values/value.js'

/** `%v`, or `%s`, which marks all values that are not strings. */
export function formatGo(value: Value, verb: 'v' | 's' = 'v', depth = 0): string {
  if (depth > MAX_PRINTED_DEPTH) return '…'
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return `[${value.map(item => formatGo(item, verb, depth + 1)).join(' ')}]`
  if (isObject(value)) {
    const members = Object.keys(value)
      .toSorted()
      .map(key => `${key}:${formatGo(value[key]!, verb, depth + 1)}`)
    return `map[${members.join(' ')}]`
  }
  const text = formatScalar(value)
  if (verb === 'v') return text
  return value === null ? '%!s(<nil>)' : `%!s(${goTypeName(value)}=${text})`
}

/** The name of the type in which Go holds a decoded value, as `%s` of a reflect.Type prints it. */
export function goTypeName(value: Value): string {
  if (value === null) return '%!s(<nil>)'
  if (Array.isArray(value)) return '[]interface {}'
  if (isObject(value)) return 'map[string]interface {}'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  return isFloat(value) ? 'float64' : 'int64'
}

const MAX_PRINTED_DEPTH = 100

function formatScalar(value: null | boolean | number | bigint | WholeFloat): string {
  if (value === null) return '<nil>'
  if (typeof value === 'boolean' || isInteger(value)) return String(value)
  const float = value instanceof WholeFloat ? value.value : value
  const size = Math.abs(float)
  if (size === 0 || (size >= 1e-4 && size < 1e21)) return String(float)
  return float.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
}
