// JSON as CEL values of their declared types. A value is read when an expression looks at it, and nothing is copied. A
// value that is not of its type is an error of the expression that looks at it.
import { CelError, Double, type Value } from '../../cel/index.js'
import { goTypeOf } from '../../meta/go/go-text.js'
import { isInteger, isNumber, isObject, type Value as Json, WholeFloat } from '../../meta/values/value.js'
import { type DeclaredType, fieldOf } from './declared-types.js'
import { formatReader } from './formatted-strings.js'
import { listMapKey } from './list-map-key.js'
import { CelList, CelListMap, CelSet, type ValueAdapter } from './lists.js'
import { CelMap, CelObject, type FieldAdapter, type ObjectAdapter } from './objects.js'

/** Reads JSON as values of the type. */
export const celReader = (declared: DeclaredType): ((json: Json) => Value) => adapterOf(declared).read

const adapters = new WeakMap<DeclaredType, ValueAdapter>()

function adapterOf(declared: DeclaredType): ValueAdapter {
  let adapter = adapters.get(declared)
  if (adapter === undefined) {
    adapter = makeAdapter(declared)
    adapters.set(declared, adapter)
  }
  return adapter
}

function makeAdapter(declared: DeclaredType): ValueAdapter {
  const { kind, type } = declared
  const { nullable } = type
  const read = readerOf(declared)
  return {
    isPlain: kind === 'string' || kind === 'int' || kind === 'double' || kind === 'bool' || kind === 'dyn',
    read: json => (json === null ? (nullable ? null : NOT_NULLABLE) : read(json)),
  }
}

type Reader = (json: Json) => Value

function readerOf(declared: DeclaredType): Reader {
  switch (declared.kind) {
    case 'dyn':
      return json => (typeof json === 'string' || isInteger(json) ? json : NEITHER)
    case 'int':
      return json => (isInteger(json) ? json : unexpected('int', json))
    case 'double':
      return json => (isNumber(json) ? new Double(floatOf(json)) : unexpected('float', json))
    case 'bool':
      return json => (typeof json === 'boolean' ? json : unexpected('bool', json))
    case 'string':
      return json => (typeof json === 'string' ? json : unexpected('string', json))
    case 'bytes':
    case 'duration':
    case 'timestamp': {
      const read = formatReader(formatOf(declared))!
      return json => (typeof json === 'string' ? read(json) : unexpected('string', json))
    }
    case 'list':
      return listReader(declared)
    case 'map': {
      const adapter = adapterOf(declared.element!)
      return json => (isObject(json) ? new CelMap(json, adapter) : NO_MAP)
    }
    case 'object':
      return objectReader(declared)
  }
}

/** Built-in types have no formats, but the same types have one in OpenAPI. */
const formatOf = ({ kind, type }: DeclaredType): string =>
  type.constraints.format || (kind === 'bytes' ? 'byte' : 'date-time')

function listReader({ type, element }: DeclaredType): Reader {
  const adapter = adapterOf(element!)
  const { list: listType, keys } = type.merge
  const { declaredFields } = type.element!
  const defaultOf = (key: string): Json | undefined => declaredFields.get(key)?.default
  const keyOf = (item: Json): unknown => listMapKey(item, keys, defaultOf)
  return json => {
    if (!Array.isArray(json)) return NO_LIST
    const list = new CelList(json, adapter)
    if (listType === 'set') return new CelSet(list)
    return listType === 'map' ? new CelListMap(list, keyOf) : list
  }
}

function objectReader(declared: DeclaredType): Reader {
  const adapter = objectAdapter(declared)
  return json => (isObject(json) ? new CelObject(json, adapter) : NO_MAP)
}

function objectAdapter(declared: DeclaredType): ObjectAdapter {
  // Types have many fields, and expressions look at few of them.
  const known = new Map<string, FieldAdapter>()
  let names: ReadonlyMap<string, string> | undefined
  return {
    fieldNamed(name) {
      let field = known.get(name)
      if (field !== undefined) return field
      const found = fieldOf(declared, name)
      if (found === undefined) return undefined
      field = { name, property: found.property, adapter: adapterOf(found.declared) }
      known.set(name, field)
      return field
    },
    fieldOf(property) {
      names ??= new Map([...declared.fields].map(([name, field]) => [field.property, name]))
      const name = names.get(property)
      return name === undefined ? undefined : this.fieldNamed(name)
    },
  }
}

const floatOf = (json: number | bigint | WholeFloat): number => (json instanceof WholeFloat ? json.value : Number(json))

// ---- values of a wrong type

const NOT_NULLABLE = new CelError('invalid data, got null for schema with nullable=false')
const NEITHER = new CelError('invalid data, expected XIntOrString value to be either a string or integer')
const NO_MAP = new CelError('invalid data, expected a map for the provided schema with type=object')
const NO_LIST = new CelError('invalid data, expected an array for the provided schema with type=array')

const unexpected = (wanted: string, json: Json): CelError =>
  new CelError(`invalid data, expected ${wanted}, got ${goTypeOf(json)}`)
