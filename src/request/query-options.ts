// The options of a connect subresource, read from the parameters of a query by the fields of their type.
import { failed, parsed, type Result } from '../base/result.js'
import { badRequest } from '../meta/errors/status.js'
import { parseInt64, parseUint64, quote } from '../meta/go/go-text.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { querySwitch } from '../meta/options/query.js'
import { parseTime } from '../meta/values/time.js'
import type { Value, ValueObject } from '../meta/values/value.js'
import type { Field } from '../types/type.js'
import { builtinTypes } from '../types/type-table.js'

/** Parameters without a field are ignored. Options have no metadata. */
export function optionsOfQuery(apiVersion: string, kind: string, query: URLSearchParams): ApiObject {
  const type = builtinTypes().ofKind(apiVersion, kind)
  if (!type) throw new Error(`${kind} is not among the kinds of ${apiVersion}`)
  const options: ValueObject = { kind, apiVersion }
  for (const field of type.fields.values()) {
    if (field.name in options) continue
    const { omitempty = false, pointer = false } = field.go?.spec ?? {}
    const read = query.has(field.name) ? valueOf(field, query) : parsed(undefined)
    if (!read.ok) throw badRequest(read.error)
    const { value } = read
    if (value === undefined ? !omitempty : pointer || !omitempty || (value !== false && value !== '')) {
      options[field.name] = value ?? null
    }
  }
  return options as unknown as ApiObject
}

/** Of several values, a field that is not a list takes the first. */
function valueOf({ name, type }: Field, query: URLSearchParams): Result<Value | undefined> {
  const text = query.get(name)!
  if (type.kind === 'bool') return parsed(querySwitch(query, name))
  if (type.kind === 'int64') return parseInt64(text)
  if (type.kind === 'special') return text === '' || text === 'null' ? parsed(undefined) : parseTime(text)
  if (type.kind !== 'list') return parsed(text)
  const all = query.getAll(name)
  return type.element?.kind === 'int32' ? portsOf(all) : parsed(all)
}

/** Each value may be several ports, joined by commas. */
function portsOf(texts: readonly string[]): Result<Value> {
  const ports: number[] = []
  for (const text of texts.flatMap(each => each.split(','))) {
    const port = parseUint64(text)
    if (!port.ok) return failed(`cannot convert to []int32: ${port.error}`)
    if (port.value > MAX_PORT) {
      return failed(`cannot convert to []int32: strconv.ParseUint: parsing ${quote(text)}: value out of range`)
    }
    ports.push(Number(port.value))
  }
  return parsed(ports)
}

const MAX_PORT = 65535n
