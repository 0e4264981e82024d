// What Go's decoder makes of a JSON value for a given type, and what Go's encoder would print of it: unknown fields
// gone, zero values dropped or filled in as `omitempty` has it, fields in the order of the struct, quantities and
// times in their one spelling. The result is what the server stores and shows.
// A decoder is a closure that is compiled once for each type, when the type is first met.
import { compareTexts } from '../meta/go-text.js'
import { isInteger, isNumber, isObject, setOwn, type Value, type ValueObject, WholeFloat } from '../meta/value.js'
import { canonicalBase64 } from './base64.js'
import {
  type DecodeState,
  newDecodeState,
  noteDuplicate,
  noteFault,
  noteMismatch,
  noteUnknown,
  printFault,
  printStrict,
  spellNumber,
  TypedDecodeError,
} from './decode-fault.js'
import { goType, goTypeOf } from './go-types.js'
import { selfEncoded } from './self-encoded.js'
import { bareName, type Field, type TypeRef, type TypeTable } from './type-table.js'
import type { ValueCodec } from './value-codec.js'

export { TypedDecodeError } from './decode-fault.js'

export interface TypedObject {
  readonly value: ValueObject
  /** Paths of fields that the type does not have, in the order of the document: `spec.containers[0].comand`. */
  readonly unknown: readonly string[]
  /** `unknown field "…"` and `duplicate field "…"` in the order in which Kubernetes reports them. */
  readonly strict: readonly string[]
}

export interface DecodeTypedOptions {
  /** Paths that the document holds more than once. Those within values that are not looked into do not count. */
  readonly duplicates?: readonly string[]
}

/** Reads a value as the type of that name. Throws a TypedDecodeError if it is not one. */
export function decodeTyped(
  table: TypeTable,
  typeName: string,
  value: Value,
  { duplicates }: DecodeTypedOptions = {},
): TypedObject {
  const state = newDecodeState(duplicates === undefined ? undefined : new Set(duplicates))
  const codec = codecOf(table, { is: 'type', name: typeName })
  const decoded = value === null ? codec.zero() : codec.decode(value, state)
  if (state.fault !== undefined) throw new TypedDecodeError(printFault(state.fault))
  const unknown = state.strict.flatMap(({ path, is }) => (is === 'unknown' ? [path] : []))
  return { value: decoded as ValueObject, unknown, strict: printStrict(state) }
}

/** An object of the type with nothing set, as it is printed. */
export const zeroOf = (table: TypeTable, typeName: string): Value =>
  codecOf(table, { is: 'type', name: typeName }).zero()

const compiled = new WeakMap<TypeTable, Map<string, ValueCodec>>()

function codecOf(table: TypeTable, type: TypeRef, goName = goType(type)): ValueCodec {
  let codecs = compiled.get(table)
  if (codecs === undefined) compiled.set(table, (codecs = new Map<string, ValueCodec>()))
  const key = type.is === 'type' ? type.name : `${JSON.stringify(type)} ${goName}`
  let codec = codecs.get(key)
  if (codec === undefined) codecs.set(key, (codec = compile(table, type, goName)))
  return codec
}

function compile(table: TypeTable, type: TypeRef, goName: string): ValueCodec {
  switch (type.is) {
    case 'list': {
      // The name of a list is its own with the name of its items behind the brackets.
      const item = codecOf(table, type.of, goName.startsWith('[]') ? goName.slice(2) : undefined)
      return listCodec(item, goName)
    }
    case 'map':
      return mapCodec(codecOf(table, type.of), goName)
    case 'type':
      return (
        selfEncoded(type.name, name => codecOf(table, { is: 'type', name })) ?? structCodec(table, type.name, goName)
      )
    case 'string':
      return scalar<string>('', goName, value => (typeof value === 'string' ? value : undefined))
    case 'bool':
      return scalar<boolean>(false, goName, value => (typeof value === 'boolean' ? value : undefined))
    case 'int32':
      return integerCodec(goName, 2n ** 31n)
    case 'int64':
      return integerCodec(goName, 2n ** 63n)
    case 'float64':
      return scalar<number>(0, goName, value =>
        value instanceof WholeFloat ? value.value : isNumber(value) ? Number(value) : undefined,
      )
    case 'bytes':
      return bytesCodec(goName)
  }
}

// ---- structs

interface Slot extends ValueCodec {
  readonly name: string
  readonly within: readonly string[]
  readonly pointer: boolean
  readonly omitempty: boolean
  readonly omitzero: boolean
}

function structCodec(table: TypeTable, typeName: string, goName: string): ValueCodec {
  const struct = bareName(typeName)
  // Types refer to each other and to themselves: fields are compiled when the first value comes.
  let slots: Slot[] | undefined
  let places: ReadonlyMap<string, number> = new Map()
  const compileFields = (): Slot[] => {
    const { fields } = table.type(typeName)
    places = new Map(fields.map((field, i) => [field.name, i]))
    return fields.map(field => slotOf(table, field))
  }

  const print = (found: readonly (Value | undefined)[], all: readonly Slot[]): ValueObject => {
    const object: ValueObject = {}
    for (let i = 0; i < all.length; i++) {
      const slot = all[i]!
      const value = found[i]
      if (value !== undefined && (slot.pointer || !slot.isEmpty(value))) object[slot.name] = value
      else if (!(slot.omitzero || (slot.omitempty && (slot.pointer || slot.canBeOmitted)))) {
        object[slot.name] = slot.pointer ? null : slot.absent()
      }
    }
    return object
  }

  const zero = (): Value => print([], (slots ??= compileFields()))

  const decode = (value: Value, state: DecodeState): Value => {
    if (!isObject(value)) {
      noteMismatch(state, value, goName)
      return zero()
    }
    if (++state.depth > MAX_DEPTH) throw new TypedDecodeError('exceeded max depth')
    const all = (slots ??= compileFields())
    const found: (Value | undefined)[] = []
    const { struct: outer, path, goPath } = state
    const depth = goPath.length
    for (const key of Object.keys(value)) {
      if (state.duplicates !== undefined) noteDuplicate(state, key)
      const place = places.get(key)
      if (place === undefined) {
        noteUnknown(state, key)
        continue
      }
      const member = value[key]!
      // To Go, null leaves a field as it is: not set.
      if (member === null) continue
      const slot = all[place]!
      state.struct = struct
      for (const name of slot.within) goPath.push(name)
      goPath.push(key)
      path.push(key)
      found[place] = slot.decode(member, state)
      path.pop()
      goPath.length = depth
    }
    state.struct = outer
    state.depth--
    return print(found, all)
  }

  return { decode, zero, absent: zero, isEmpty: () => false, canBeOmitted: false }
}

function slotOf(table: TypeTable, { name, type, facts, within, declaredBy }: Field): Slot {
  const codec = codecOf(table, type, goTypeOf(type, declaredBy, name))
  return {
    ...codec,
    // A list of objects has items even if there are none.
    ...(name === 'items' && declaredBy.endsWith('List') ? { absent: codec.zero } : {}),
    name,
    within,
    pointer: facts.pointer === true,
    omitempty: facts.omitempty === true,
    omitzero: facts.omitzero === true,
  }
}

/** Far beyond what any type reaches that does not contain itself. */
const MAX_DEPTH = 1000

// ---- lists and maps

function listCodec(item: ValueCodec, goName: string): ValueCodec {
  return {
    decode: (value, state) => {
      if (!Array.isArray(value)) {
        noteMismatch(state, value, goName)
        return []
      }
      const { path } = state
      return value.map((member, i) => {
        if (member === null) return item.zero()
        path.push(i)
        const read = item.decode(member, state)
        path.pop()
        return read
      })
    },
    zero: () => [],
    // What is stored tells an empty list from none as little as protobuf does.
    absent: () => null,
    isEmpty: value => Array.isArray(value) && value.length === 0,
    canBeOmitted: true,
  }
}

function mapCodec(item: ValueCodec, goName: string): ValueCodec {
  return {
    decode: (value, state) => {
      if (!isObject(value)) {
        noteMismatch(state, value, goName)
        return {}
      }
      const { path } = state
      const entries = Object.keys(value).map((key): [string, Value] => {
        if (state.duplicates !== undefined) noteDuplicate(state, key)
        const member = value[key]!
        path.push(key)
        const read = member === null ? item.zero() : item.decode(member, state)
        path.pop()
        return [key, read]
      })
      const map: ValueObject = {}
      for (const [key, member] of sortedByKey(entries)) setOwn(map, key, member)
      return map
    },
    zero: () => ({}),
    absent: () => null,
    isEmpty: value => isObject(value) && Object.keys(value).length === 0,
    canBeOmitted: true,
  }
}

/** Go prints maps by key. */
const sortedByKey = (entries: [string, Value][]): [string, Value][] =>
  entries.length > 1 ? entries.toSorted(([a], [b]) => compareTexts(a, b)) : entries

// ---- scalars

function scalar<T extends string | boolean | number>(
  zero: T,
  goName: string,
  read: (value: Value) => T | undefined,
): ValueCodec {
  return {
    decode: (value, state) => {
      const scalarValue = read(value)
      if (scalarValue === undefined) noteMismatch(state, value, goName)
      return scalarValue ?? zero
    },
    zero: () => zero,
    absent: () => zero,
    isEmpty: value => value === zero,
    canBeOmitted: true,
  }
}

function integerCodec(goName: string, bound: bigint): ValueCodec {
  return {
    decode: (value, state) => {
      if (isInteger(value) && value >= -bound && value < bound) return value
      noteMismatch(state, value, goName, isNumber(value) ? `number ${spellNumber(value)}` : undefined)
      return 0
    },
    zero: () => 0,
    absent: () => 0,
    isEmpty: value => value === 0,
    canBeOmitted: true,
  }
}

function bytesCodec(goName: string): ValueCodec {
  return {
    decode: (value, state) => {
      if (Array.isArray(value)) return bytesOfList(value, state)
      if (typeof value !== 'string') {
        noteMismatch(state, value, goName)
        return ''
      }
      const read = canonicalBase64(value)
      if (!read.ok) noteFault(state, read.error)
      return read.ok ? read.value : ''
    },
    zero: () => '',
    absent: () => null,
    isEmpty: value => value === '',
    canBeOmitted: true,
  }
}

/** Go also takes bytes one by one. */
function bytesOfList(list: readonly Value[], state: DecodeState): string {
  const bytes = list.map(item => {
    if (isInteger(item) && item >= 0 && item < 256) return Number(item)
    if (item !== null) noteMismatch(state, item, 'uint8', isNumber(item) ? `number ${spellNumber(item)}` : undefined)
    return 0
  })
  return Buffer.from(bytes).toString('base64')
}
