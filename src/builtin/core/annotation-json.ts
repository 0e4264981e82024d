// Lists that annotations hold as JSON. kube-apiserver decodes them as its internal types, whose fields have no JSON names:
// members are matched by the names of the Go fields, in any case.
import { decodeJson } from '../../codec/json.js'
import { jsonTypeOf } from '../../meta/go/go-text.js'
import { isNumber, isObject, type Value, type ValueObject } from '../../meta/values/value.js'

/** A Go struct: the JSON name and Go type of each of its fields, by their Go names. */
export interface GoStruct {
  readonly name: string
  readonly fields: Readonly<Record<string, { readonly json: string; readonly type: string }>>
}

/** The items with the JSON names of their fields, or the error of Go's decoder. */
export function decodeAnnotatedList(text: string, struct: GoStruct): ValueObject[] | string {
  let list: Value
  try {
    list = decodeJson(Buffer.from(text)).value
  } catch (error) {
    return (error as Error).message
  }
  if (list === null) return []
  if (!Array.isArray(list)) return mismatch(list, `value of type []core.${struct.name}`)
  const items: ValueObject[] = []
  for (const item of list) {
    const decoded = decodeStruct(item, struct)
    if (typeof decoded === 'string') return decoded
    items.push(decoded)
  }
  return items
}

function decodeStruct(value: Value, { name, fields }: GoStruct): ValueObject | string {
  if (value === null) return {}
  if (!isObject(value)) return mismatch(value, `value of type core.${name}`)
  const decoded: ValueObject = {}
  for (const [key, member] of Object.entries(value)) {
    const goName = Object.keys(fields).find(field => field.toLowerCase() === key.toLowerCase())
    if (goName === undefined || member === null) continue
    const { json, type } = fields[goName]!
    const fits = type === 'int64' ? isNumber(member) : typeof member === 'string'
    if (!fits) return mismatch(member, `struct field ${name}.${goName} of type ${type}`)
    decoded[json] = member
  }
  return decoded
}

const mismatch = (value: Value, target: string): string =>
  `json: cannot unmarshal ${jsonTypeOf(value)} into Go ${target}`

export const TOLERATION: GoStruct = {
  name: 'Toleration',
  fields: {
    Key: { json: 'key', type: 'string' },
    Operator: { json: 'operator', type: 'core.TolerationOperator' },
    Value: { json: 'value', type: 'string' },
    Effect: { json: 'effect', type: 'core.TaintEffect' },
    TolerationSeconds: { json: 'tolerationSeconds', type: 'int64' },
  },
}

export const TAINT: GoStruct = {
  name: 'Taint',
  fields: {
    Key: { json: 'key', type: 'string' },
    Value: { json: 'value', type: 'string' },
    Effect: { json: 'effect', type: 'core.TaintEffect' },
    TimeAdded: { json: 'timeAdded', type: 'metav1.Time' },
  },
}
