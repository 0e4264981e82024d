// A JSON value decoded as a Go type and printed by Go's encoder: unknown fields are dropped, zero values omitted or
// added as `omitempty` says, fields are in the order of the struct, quantities and times in canonical form. The result
// is what the server stores and returns. A decoder is a closure that is compiled once for each type, when it is first
// used.
import type { CborMarks } from '../../codec/cbor.js'
import { compareTexts } from '../../meta/go/go-text.js'
import { canonicalBase64 } from '../../meta/values/base64.js'
import { type EmptyValue, fieldsGivenEmpty, markGivenEmpty } from '../../meta/values/given-empty.js'
import {
  isInteger,
  isNumber,
  isObject,
  setOwn,
  type Value,
  type ValueObject,
  WholeFloat,
} from '../../meta/values/value.js'
import { bareName, compiledOnce, type Field, type ScalarKind, type Type } from '../type.js'
import { foreignFieldKey, foreignMapKey, hasIntegerKey, INTEGER_KEY, stringForm } from './cbor-error.js'
import {
  type DecodeState,
  newDecodeState,
  noteDuplicate,
  noteError,
  noteMismatch,
  noteUnknown,
  printPath,
  printStrict,
  type Steps,
  TypedDecodeError,
} from './decode-error.js'
import { goNameOf, goNameOfField } from './go-names.js'
import type { ValueCodec } from './value-codec.js'

export { TypedDecodeError } from './decode-error.js'

export interface TypedObject {
  readonly value: ValueObject
  /** Paths of fields that the type does not have, in the order of the document: `spec.containers[0].comand`. */
  readonly unknown: readonly string[]
  /** `unknown field "…"` and `duplicate field "…"` in the order in which Kubernetes reports them. */
  readonly strict: readonly string[]
}

export interface DecodeTypedOptions {
  /** Paths that the document has more than once. Those inside values that are not decoded do not count. */
  readonly duplicates?: readonly string[]
  /** If the value was decoded from CBOR: the properties that plain values do not have. */
  readonly cbor?: CborMarks | undefined
  /** The value was decoded into a map and encoded again: keys are then sorted, and whole floats are integers. */
  readonly isReencoded?: boolean
}

/** Decodes a value as one of the type. Throws a TypedDecodeError if it is not one. */
export function decodeTyped(
  type: Type,
  value: Value,
  { duplicates, cbor, isReencoded }: DecodeTypedOptions = {},
): TypedObject {
  const source = cbor && { root: value, marks: cbor, goType: goNameOf(type) }
  const state = newDecodeState(duplicates === undefined ? undefined : new Set(duplicates), 0, source, isReencoded)
  const decoded = decodeRoot(codecOf(type), value, state)
  if (state.error !== undefined) throw new TypedDecodeError(state.error)
  const unknown = state.strict.flatMap(({ path, is }) => (is === 'unknown' ? [printPath(path)] : []))
  return { value: decoded as ValueObject, unknown, strict: printStrict(state) }
}

/**
 * Decodes a value that has been decoded before and was changed since, in steps. What cannot be decoded has been refused
 * then, so that no error depends on the order in which the lists are decoded.
 */
export function* decodeAgain(type: Type, value: Value): Generator<undefined, ValueObject> {
  const state = newDecodeState()
  const steps: Steps = (state.steps = { later: [], left: ITEMS_A_STEP })
  const decoded = decodeRoot(codecOf(type), value, state)
  for (let decodeRest = steps.later.pop(); decodeRest !== undefined; decodeRest = steps.later.pop()) {
    if (steps.left <= 0) {
      yield
      steps.left = ITEMS_A_STEP
    }
    decodeRest()
  }
  if (state.error !== undefined) throw new TypedDecodeError(state.error)
  return decoded as ValueObject
}

const ITEMS_A_STEP = 1_000

function decodeRoot(codec: ValueCodec, value: Value, state: DecodeState): Value {
  if (value === null) return codec.zero()
  try {
    return codec.decode(value, state)
  } catch (error) {
    // CBOR decoding reports the first error, whatever its kind.
    if (error instanceof TypedDecodeError && state.cbor && state.error) return null
    throw error
  }
}

/** A value of the type with nothing set, as it is printed. */
export const zeroOf = (type: Type): Value => codecOf(type).zero()

const codecOf = compiledOnce((type: Type): ValueCodec => compile(type, goNameOf(type)))

/** The Go name of a type without a name depends on the field that has it. */
const codecOfField = ({ name, type, go }: Field): ValueCodec =>
  type.name === '' ? sharedCodec(type, goNameOfField(type, go!.declaredBy, name)) : codecOf(type)

const sharedCodecs = compiledOnce((_any: Type) => new Map<string, ValueCodec>())

/** Scalars, lists and maps of the same types share a codec among all fields, so that calls to it stay fast. */
function sharedCodec(type: Type, goName: string): ValueCodec {
  const codecs = sharedCodecs(type.types.any)
  const key = `${keyOf(type)} ${goName}`
  let codec = codecs.get(key)
  if (codec === undefined) codecs.set(key, (codec = compile(type, goName)))
  return codec
}

const keyOf = ({ name, kind, element }: Type): string => name || (element ? `${kind} ${keyOf(element)}` : kind)

function compile(type: Type, goName: string): ValueCodec {
  switch (type.kind) {
    case 'list': {
      const item = type.element!
      // The name of a list is `[]` and the name of its items.
      const itemName = goName.startsWith('[]') ? goName.slice(2) : undefined
      return listCodec(item.name === '' ? sharedCodec(item, itemName ?? goNameOf(item)) : codecOf(item), goName)
    }
    case 'map':
      return mapCodec(codecOf(type.element!), goName)
    case 'object':
      return structCodec(type, goName)
    case 'special':
      return type.special!.codec(name => codecOf(type.types.byName(name)))
    case 'any':
      return ANY
    default:
      return compileScalar(type.kind, goName)
  }
}

function compileScalar(kind: ScalarKind, goName: string): ValueCodec {
  switch (kind) {
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

const COLLECTIONS: ReadonlySet<string> = new Set<Type['kind']>(['list', 'map', 'bytes'])

interface Slot extends ValueCodec {
  readonly name: string
  readonly within: readonly string[]
  readonly pointer: boolean
  readonly omitempty: boolean
  readonly omitzero: boolean
  /** A list, map or bytes, not behind a pointer: Go distinguishes an empty one from none. */
  readonly isCollection: boolean
}

function structCodec(type: Type, goName: string): ValueCodec {
  const struct = bareName(type.name)
  // Types refer to each other and to themselves: fields are compiled for the first value.
  let slots: Slot[] | undefined
  let places: ReadonlyMap<string, number> = new Map()
  /** The indexes of fields that are printed even if they are not set. */
  let always: readonly number[] = []
  const compileFields = (): Slot[] => {
    const fields = [...type.fields.values()]
    places = new Map(fields.map((field, i) => [field.name, i]))
    const all = fields.map(slotOf)
    always = all.flatMap((slot, i) => (isLeftOut(slot) ? [] : [i]))
    return all
  }

  /** `found` has the values that are not empty. Few of the many fields are set; the others are skipped. */
  const print = (found: readonly (Value | undefined)[], set: number[], all: readonly Slot[]): ValueObject => {
    const object: ValueObject = {}
    for (const i of inOrder(always, set)) {
      const slot = all[i]!
      const value = found[i]
      if (value !== undefined) object[slot.name] = value
      else if (!isLeftOut(slot)) object[slot.name] = slot.pointer ? null : slot.absent()
    }
    return object
  }

  const zero = (): Value => print([], [], (slots ??= compileFields()))

  const decode = (value: Value, state: DecodeState): Value => {
    if (!isObject(value)) {
      noteMismatch(state, value, goName, 'struct')
      return zero()
    }
    if (state.cbor !== undefined) noteForeignFields(state, value)
    if (++state.depth > MAX_DEPTH) throw new TypedDecodeError('exceeded max depth')
    const all = (slots ??= compileFields())
    const found: (Value | undefined)[] = []
    const set: number[] = []
    let empty: Record<string, EmptyValue> | undefined
    const { struct: outer, path, goPath } = state
    const depth = goPath.length
    for (const key of keysOf(value, state)) {
      const place = places.get(key)
      if (place === undefined) {
        // An unknown field is reported once, even if it is written twice.
        noteUnknown(state, key)
        continue
      }
      if (state.duplicates !== undefined) noteDuplicate(state, key)
      const member = value[key]!
      // In Go, null leaves a field unset.
      if (member === null) continue
      const slot = all[place]!
      state.struct = struct
      for (const name of slot.within) goPath.push(name)
      goPath.push(key)
      path.push(key)
      const decoded = slot.decode(member, state)
      const isUnset = slot.isCollection ? state.isNoneDecoded : slot.isEmpty(decoded)
      if (slot.pointer ? decoded !== null || !isUnset : !isUnset) found[place] = decoded
      else if (slot.isCollection) (empty ??= {})[key] = emptyOf(decoded)
      set.push(place)
      path.pop()
      goPath.length = depth
    }
    state.struct = outer
    state.depth--
    const printed = print(found, set, all)
    // A value that was decoded before remembers its empty fields.
    const before = fieldsGivenEmpty(value)
    if (empty !== undefined || before !== undefined) markGivenEmpty(printed, { ...before, ...empty })
    return printed
  }

  return { decode, zero, absent: zero, isEmpty: () => false, canBeOmitted: false }
}

const NO_ITEMS = [] as const
const NO_MEMBERS = {} as const

const emptyOf = (decoded: Value): EmptyValue =>
  typeof decoded === 'string' ? '' : Array.isArray(decoded) ? NO_ITEMS : NO_MEMBERS

const keysOf = (value: ValueObject, { isReencoded }: DecodeState): string[] =>
  isReencoded ? Object.keys(value).toSorted(compareTexts) : Object.keys(value)

/** Whether a field that is not set is not printed. */
const isLeftOut = ({ omitzero, omitempty, pointer, canBeOmitted }: Slot): boolean =>
  omitzero || (omitempty && (pointer || canBeOmitted))

/** The indexes of both, each once, in order. Those that are set are mostly in order already. May change `set`. */
function inOrder(always: readonly number[], set: number[]): readonly number[] {
  for (const place of always) if (!set.includes(place)) set.push(place)
  for (let i = 1; i < set.length; i++) {
    const place = set[i]!
    let at = i
    for (; at > 0 && set[at - 1]! > place; at--) set[at] = set[at - 1]!
    set[at] = place
  }
  return set
}

/** Keys that are not strings; only CBOR has them. */
function noteForeignFields(state: DecodeState, value: ValueObject): void {
  const foreign = foreignFieldKey(state.cbor!, state.path, value)
  if (foreign !== undefined) noteError(state, foreign)
  if (hasIntegerKey(state.cbor!, value)) noteUnknown(state, INTEGER_KEY)
}

function slotOf(field: Field): Slot {
  const codec = codecOfField(field)
  const { spec, inlinedFrom, declaredBy } = field.go!
  return {
    ...codec,
    // `items` of a list are printed as [] even if there are none.
    ...(field.name === 'items' && declaredBy.endsWith('List') ? { absent: codec.zero } : {}),
    name: field.name,
    within: inlinedFrom,
    pointer: spec.pointer === true,
    omitempty: spec.omitempty === true,
    omitzero: spec.omitzero === true,
    isCollection: spec.pointer !== true && COLLECTIONS.has(field.type.kind),
  }
}

/** Far deeper than any type that does not contain itself. */
const MAX_DEPTH = 1000

// ---- lists and maps

function listCodec(item: ValueCodec, goName: string): ValueCodec {
  return {
    decode: (value, state) => {
      if (!Array.isArray(value)) {
        noteMismatch(state, value, goName)
        state.isNoneDecoded = true
        return []
      }
      const list: Value[] = []
      decodeItems(item, value, list, state)
      state.isNoneDecoded = list.length === 0
      return list
    },
    zero: () => [],
    // Like protobuf, storage does not distinguish an empty list from none.
    absent: () => null,
    isEmpty: value => Array.isArray(value) && value.length === 0,
    canBeOmitted: true,
  }
}

/** Adds the items that the list does not have yet. Its rest is decoded later if a step ends within it. */
function decodeItems(item: ValueCodec, members: readonly Value[], list: Value[], state: DecodeState): void {
  const { path, steps } = state
  // A loop and not `map`: deeply nested values need as few stack frames as possible.
  for (let i = list.length; i < members.length; i++) {
    const member = members[i]!
    if (member === null) {
      list.push(item.zero())
      continue
    }
    path.push(i)
    list.push(item.decode(member, state))
    path.pop()
    if (steps !== undefined && --steps.left <= 0 && i + 1 < members.length) {
      steps.later.push(() => decodeItems(item, members, list, state))
      return
    }
  }
}

function mapCodec(item: ValueCodec, goName: string): ValueCodec {
  return {
    decode: (value, state) => {
      if (!isObject(value)) {
        noteMismatch(state, value, goName)
        state.isNoneDecoded = true
        return {}
      }
      const { path, cbor } = state
      const foreign = cbor && foreignMapKey(cbor, path, value)
      if (foreign !== undefined) noteError(state, foreign)
      const keys = keysOf(value, state)
      const map: ValueObject = {}
      let isSorted = true
      for (let i = 0; i < keys.length; i++) {
        const key = keys[i]!
        if (state.duplicates !== undefined) noteDuplicate(state, key)
        const member = value[key]!
        path.push(key)
        setOwn(map, key, member === null ? item.zero() : item.decode(member, state))
        path.pop()
        isSorted &&= i === 0 || compareTexts(keys[i - 1]!, key) < 0
      }
      state.isNoneDecoded = keys.length === 0
      return isSorted ? map : sortedByKey(map, keys)
    },
    zero: () => ({}),
    absent: () => null,
    isEmpty: value => isObject(value) && Object.keys(value).length === 0,
    canBeOmitted: true,
  }
}

/** Go prints maps by key. */
function sortedByKey(map: ValueObject, keys: readonly string[]): ValueObject {
  const sorted: ValueObject = {}
  for (const key of keys.toSorted(compareTexts)) setOwn(sorted, key, map[key]!)
  return sorted
}

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
      const number = state.isReencoded && value instanceof WholeFloat ? value.value : value
      if (isInteger(number) && number >= -bound && number < bound) return number
      noteMismatch(state, value, goName, 'integer')
      return 0
    },
    zero: () => 0,
    absent: () => 0,
    isEmpty: value => value === 0,
    canBeOmitted: true,
  }
}

function bytesCodec(goName: string): ValueCodec {
  const read = (value: Value, state: DecodeState): string | undefined => {
    if (Array.isArray(value)) return bytesOfList(value, state)
    const form = typeof value === 'string' && state.cbor ? stringForm(state.cbor, state.path) : undefined
    if (typeof value !== 'string' || form === 'text') {
      noteMismatch(state, value, goName)
      return undefined
    }
    if (form !== undefined) return form.base64
    const bytes = canonicalBase64(value)
    if (bytes.ok) return bytes.value
    noteError(state, state.cbor ? `cbor: failed to decode base64 from byte string: ${bytes.error}` : bytes.error)
    return undefined
  }
  return {
    decode: (value, state) => {
      const bytes = read(value, state)
      state.isNoneDecoded = bytes === undefined || bytes === ''
      return bytes ?? ''
    },
    zero: () => '',
    absent: () => null,
    isEmpty: value => value === '',
    canBeOmitted: true,
  }
}

/** Go also accepts a list of numbers. */
function bytesOfList(list: readonly Value[], state: DecodeState): string {
  const bytes = list.map(item => {
    if (isInteger(item) && item >= 0 && item < 256) return Number(item)
    if (item !== null) noteMismatch(state, item, 'uint8', 'integer')
    return 0
  })
  return Buffer.from(bytes).toString('base64')
}

// ---- values of no known type

const ANY: ValueCodec = {
  decode: value => value,
  zero: () => null,
  absent: () => null,
  isEmpty: value => value === null,
  canBeOmitted: true,
}
