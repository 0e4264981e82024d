// Values of the built-in types for tests: whatever the table allows, in the form in which the server keeps it.
import * as fc from 'fast-check'
import { isObject, setOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import type { Field, Type } from '../type.js'

/** The members of a decoded value, without what it remembers of fields that were given empty. */
export function membersOf(value: Value): Value {
  if (Array.isArray(value)) return value.map(membersOf)
  if (!isObject(value)) return value
  const members: ValueObject = {}
  for (const [name, member] of Object.entries(value)) setOwn(members, name, membersOf(member))
  return members
}

/** An object of the type, as plain JSON. Types that contain themselves end after `depth` steps. */
export function typedValue(type: Type, depth = 3): fc.Arbitrary<Value> {
  const special = SPECIAL[type.name]
  if (special !== undefined) return special
  const members: Record<string, fc.Arbitrary<Value>> = {}
  for (const field of type.fields.values()) {
    // Protobuf has apiVersion and kind in the envelope only.
    if (field.go?.declaredBy === 'meta/v1.TypeMeta') continue
    const member = fieldValue(field, depth)
    if (member !== undefined) members[field.name] = member
  }
  return fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<Value>
}

function fieldValue({ type }: Field, depth: number): fc.Arbitrary<Value> | undefined {
  return depth === 0 && !isPlain(type) ? undefined : valueOf(type, depth - 1)
}

const isPlain = ({ kind }: Type): boolean => !['object', 'special', 'list', 'map'].includes(kind)

function valueOf(type: Type, depth: number): fc.Arbitrary<Value> {
  switch (type.kind) {
    case 'string':
      return text
    case 'bool':
      return fc.boolean()
    case 'int32':
      return fc.integer()
    case 'int64':
      return fc.oneof(fc.integer(), fc.bigInt(2n ** 53n, 2n ** 63n - 1n), fc.bigInt(-(2n ** 63n), -(2n ** 53n)))
    case 'float64':
      return fc.double({ noNaN: true, noDefaultInfinity: true }).filter(value => !Number.isInteger(value))
    case 'bytes':
      return fc.uint8Array({ maxLength: 8 }).map(bytes => Buffer.from(bytes).toString('base64'))
    case 'list':
      return fc.array(valueOf(type.element!, depth), { maxLength: 3 })
    case 'map':
      return fc.dictionary(key, valueOf(type.element!, depth), { maxKeys: 3 })
    case 'any':
      return json
    case 'object':
    case 'special':
      return depth < 0 ? fc.constant(null) : typedValue(type, depth)
  }
}

const text = fc.string({ unit: 'grapheme', maxLength: 6 })
const key = fc.oneof(fc.string({ maxLength: 4 }), fc.constant('__proto__'))

const seconds = fc.integer({ min: 1, max: 4_000_000_000 }).map(n => new Date(n * 1000).toISOString().slice(0, 19))

const json = fc
  .jsonValue({ maxDepth: 2, noUnicodeString: false })
  .filter(value => value !== null) as fc.Arbitrary<Value>

const SPECIAL: Readonly<Record<string, fc.Arbitrary<Value>>> = {
  'meta/v1.Time': seconds.map(time => `${time}Z`),
  'meta/v1.MicroTime': fc
    .tuple(seconds, fc.integer({ min: 0, max: 999_999 }))
    .map(([time, micros]) => `${time}.${String(micros).padStart(6, '0')}Z`),
  'api/resource.Quantity': fc.constantFrom('0', '1', '250m', '1536Mi', '-3', '5e3', '12k'),
  'util/intstr.IntOrString': fc.oneof(fc.integer(), text),
  'runtime.RawExtension': fc.constantFrom<Value>({ a: 1 }, { kind: 'X', list: [1, 'b', null] }),
  'meta/v1.FieldsV1': fc.constantFrom<Value>({ 'f:data': { '.': {} } }, {}),
  'apiextensions/v1.JSON': json,
  'apiextensions/v1.JSONSchemaPropsOrArray': fc.constantFrom<Value>({ type: 'string' }, [{ type: 'string' }, {}]),
  'apiextensions/v1.JSONSchemaPropsOrStringArray': fc.constantFrom<Value>({ type: 'string' }, ['a', 'b']),
  'apiextensions/v1.JSONSchemaPropsOrBool': fc.constantFrom<Value>(true, false, { type: 'string' }),
}
