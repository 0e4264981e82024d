// What expressions evaluate to. Plain JavaScript where that is exact (null, booleans, strings, numbers for ints, arrays
// for lists, Uint8Array for bytes), small classes for the rest. Hosts bring lists, maps and objects of their own by
// extending the abstract classes, so that nothing is converted before an expression reads it.
import { CelError, NO_SUCH_OVERLOAD } from '../cel-error.js'
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  ERROR,
  INT,
  listOf,
  mapOf,
  NULL,
  opaqueType,
  STRING,
  TIMESTAMP,
  TYPE,
  UINT,
} from '../check/cel-type.js'
import type { WorkBudget } from '../cost/work-budget.js'
import { Duration, Timestamp } from './moments.js'
import { Double, type Int, intOf, isInt, MAX_INT, Uint } from './numbers.js'

export type Value =
  | null
  | boolean
  | Int
  | Uint
  | Double
  | string
  | Uint8Array
  | Timestamp
  | Duration
  | List
  | MapValue
  | ObjectValue
  | TypeValue
  | OptionalValue
  | OpaqueValue
  | CelError

export type List = readonly Value[] | ListValue

/** A list that is not an array. */
export abstract class ListValue {
  abstract readonly size: number
  abstract get(index: number): Value
  /** True for a list that takes no uint and no double for an index, however whole it is. */
  readonly intIndexOnly?: boolean
  /** Equality that is not element by element, or the error of not being comparable. */
  equals?(other: Value, budget: WorkBudget): boolean | CelError
  /** True for the list that a field holds which was never set. */
  isZero?(): boolean
  /** What `list + other` gives, where that is not concatenation. */
  concat?(other: List, budget: WorkBudget): Value
}

export abstract class MapValue {
  abstract readonly size: number
  /** Undefined where there is no such key, an error where no such key can be. */
  abstract get(key: Value): Value | undefined
  abstract keys(): Iterable<Value>
  equals?(other: Value, budget: WorkBudget): boolean | CelError
  isZero?(): boolean
}

/** An object of a declared type: fields instead of keys. */
export abstract class ObjectValue {
  abstract readonly type: CelType
  /** Undefined where the field is not set. */
  abstract get(field: string): Value | undefined
  abstract equals(other: Value, budget: WorkBudget): boolean
  /** True for the value that its type has without any field set. */
  isZero?(): boolean
}

/** A type as a value. */
export class TypeValue {
  constructor(readonly type: CelType) {}
}

export class OptionalValue {
  constructor(readonly value: Value | undefined) {}
}

export const OPTIONAL_NONE = new OptionalValue(undefined)

/** A value of a library's own type, such as a URL. */
export abstract class OpaqueValue {
  abstract readonly type: CelType
  /** Set if kube-apiserver refuses `a == this`, though it compares `this == a`. */
  readonly isNoRightOperand?: boolean
  abstract equals(other: Value, budget: WorkBudget): boolean
  /** What counts as its size in costs, where it has one. */
  readonly size?: number
}

/** Two lists as one, without copying them. */
export class Concatenation extends ListValue {
  readonly size: number
  private flat: readonly Value[] | undefined
  constructor(
    private readonly left: List,
    private readonly right: List,
    private readonly budget: WorkBudget,
  ) {
    super()
    this.size = sizeOfList(left) + sizeOfList(right)
  }
  get(index: number): Value {
    if (this.flat === undefined && this.size <= FLATTEN_AT_MAX)
      this.flat = [...itemsOf(this.left, this.budget), ...itemsOf(this.right, this.budget)]
    if (this.flat !== undefined) return this.flat[index]!
    const split = sizeOfList(this.left)
    return index < split ? itemAt(this.left, index) : itemAt(this.right, index - split)
  }
}

/** Larger concatenations stay as they are: they may be far larger than memory. */
const FLATTEN_AT_MAX = 10_000

export function concatLists(left: List, right: List, budget: WorkBudget): Value {
  if (left instanceof ListValue && left.concat) return left.concat(right, budget)
  const total = sizeOfList(left) + sizeOfList(right)
  if (sizeOfList(right) === 0) return left
  if (sizeOfList(left) === 0) return right
  return total <= 16 && Array.isArray(left) && Array.isArray(right)
    ? [...left, ...right]
    : new Concatenation(left, right, budget)
}

export const isList = (value: Value): value is List => Array.isArray(value) || value instanceof ListValue

export const sizeOfList = (list: List): number => (list instanceof ListValue ? list.size : list.length)

export const itemAt = (list: List, index: number): Value => (list instanceof ListValue ? list.get(index) : list[index]!)

/** The size of a list whose elements are all about to be visited. A list that was doubled repeatedly can be endless. */
export function visitedSize(list: List, budget: WorkBudget): number {
  const size = sizeOfList(list)
  budget.charge(size)
  return size
}

export function* itemsOf(list: List, budget: WorkBudget): Generator<Value> {
  const size = visitedSize(list, budget)
  for (let i = 0; i < size; i++) yield itemAt(list, i)
}

type Key = Exclude<Value, Uint | Double>

/**
 * A map that an expression made. Keys that are equal numbers are one key, whatever their kind. What is neither a number
 * nor a text nor a boolean is a key that only this very value finds.
 */
export class CelMap extends MapValue {
  private readonly entries = new Map<Key, readonly [Value, Value]>()

  override isZero(): boolean {
    return this.entries.size === 0
  }

  get size(): number {
    return this.entries.size
  }
  get(key: Value): Value | undefined {
    return this.entries.get(normalKey(key))?.[1]
  }
  has(key: Value): boolean {
    return this.entries.has(normalKey(key))
  }
  /** Only while the map is being made. */
  set(key: Value, value: Value): void {
    this.entries.set(normalKey(key), [key, value])
  }
  *keys(): Generator<Value> {
    for (const [key] of this.entries.values()) yield key
  }
}

function normalKey(key: Value): Key {
  if (key instanceof Uint) return key.value <= MAX_INT ? intOf(key.value) : key.value
  // A double that is whole is the same key as the int; another cannot be mistaken for one.
  if (key instanceof Double) return Number.isInteger(key.value) ? intOf(BigInt(key.value)) : key.value
  return key
}

export function mapFrom(entries: Iterable<readonly [Value, Value]>): CelMap {
  const map = new CelMap()
  for (const [key, value] of entries) map.set(key, value)
  return map
}

/** The type of a value as far as the value itself knows it. */
export function typeOfValue(value: Value): CelType {
  switch (typeof value) {
    case 'boolean':
      return BOOL
    case 'number':
    case 'bigint':
      return INT
    case 'string':
      return STRING
    default:
      if (value === null) return NULL
      if (isList(value)) return ANY_LIST
      if (value instanceof MapValue) return ANY_MAP
      if (value instanceof ObjectValue || value instanceof OpaqueValue) return value.type
      if (value instanceof Double) return DOUBLE
      if (value instanceof Uint) return UINT
      if (value instanceof Timestamp) return TIMESTAMP
      if (value instanceof Duration) return DURATION
      if (value instanceof Uint8Array) return BYTES
      if (value instanceof TypeValue) return TYPE
      if (value instanceof OptionalValue) return ANY_OPTIONAL
      return ERROR
  }
}

const ANY_LIST = listOf(DYN)
const ANY_MAP = mapOf(DYN, DYN)
const ANY_OPTIONAL = opaqueType('optional_type', DYN)

export const typeName = (value: Value): string => typeOfValue(value).name

/** The result of `size()`, and 1 for values without a size. Costs are based on it. */
export function costSize(value: Value, budget: WorkBudget): number {
  if (typeof value === 'string') return budget.codePoints(value)
  if (Array.isArray(value)) return value.length
  if (value instanceof ListValue || value instanceof MapValue) return value.size
  if (value instanceof Uint8Array) return value.length
  if (value instanceof OpaqueValue) return value.size ?? 1
  return 1
}

export function sizeOf(value: Value, budget: WorkBudget): Value {
  if (typeof value === 'string') return budget.codePoints(value)
  if (Array.isArray(value)) return value.length
  if (value instanceof ListValue || value instanceof MapValue) return value.size
  return value instanceof Uint8Array ? value.length : NO_SUCH_OVERLOAD
}

/** What `==` gives: a host's list or map, or a value of a library, may refuse to be compared with another value. */
export function equalOrError(a: Value, b: Value, budget: WorkBudget): boolean | CelError {
  if ((a instanceof ListValue || a instanceof MapValue) && a.equals) return a.equals(b, budget)
  // In cel-go only null can be compared with every value.
  if (a instanceof OpaqueValue && b !== null) {
    if (!(b instanceof OpaqueValue) || a.type.name !== b.type.name || b.isNoRightOperand) return NO_SUCH_OVERLOAD
  }
  if (a instanceof OptionalValue && b instanceof OptionalValue && a.value !== undefined && b.value !== undefined) {
    return equalOrError(a.value, b.value, budget)
  }
  return equal(a, b, budget)
}

export function equal(a: Value, b: Value, budget: WorkBudget): boolean {
  if (typeof a === 'string') return typeof b === 'string' && budget.equalTexts(a, b)
  if (typeof a === 'number' || typeof a === 'boolean' || a === null) {
    if (typeof a === typeof b || typeof a !== 'number') return a === b
  }
  if (isInt(a) || a instanceof Double || a instanceof Uint) {
    return (isInt(b) || b instanceof Double || b instanceof Uint) && compareAnyNumbers(a, b) === 0
  }
  if ((a instanceof ListValue || a instanceof MapValue) && a.equals) return a.equals(b, budget) === true
  if (isList(a)) return isList(b) && equalLists(a, b, budget)
  if (a instanceof MapValue) return b instanceof MapValue && equalMaps(a, b, budget)
  if (a instanceof Timestamp) return b instanceof Timestamp && a.seconds === b.seconds && a.nanos === b.nanos
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos
  if (a instanceof Uint8Array) return b instanceof Uint8Array && equalBytes(a, b, budget)
  if (a instanceof TypeValue) return b instanceof TypeValue && a.type.name === b.type.name
  if (a instanceof OptionalValue) {
    if (!(b instanceof OptionalValue)) return false
    return a.value === undefined || b.value === undefined ? a.value === b.value : equal(a.value, b.value, budget)
  }
  return a instanceof ObjectValue || a instanceof OpaqueValue ? a.equals(b, budget) : false
}

function equalBytes(a: Uint8Array, b: Uint8Array, budget: WorkBudget): boolean {
  if (a.length !== b.length) return false
  budget.chargeReading(a.length)
  return Buffer.compare(a, b) === 0
}

/** As in cel-go, items that cannot be compared count as equal. */
function equalLists(a: List, b: List, budget: WorkBudget): boolean {
  if (sizeOfList(a) !== sizeOfList(b)) return false
  budget.charge(4)
  const size = visitedSize(a, budget)
  for (let i = 0; i < size; i++) if (equalOrError(itemAt(a, i), itemAt(b, i), budget) === false) return false
  return true
}

function equalMaps(a: MapValue, b: MapValue, budget: WorkBudget): boolean {
  if (a.size !== b.size) return false
  // Looking up a key is more work than visiting an element.
  budget.charge(a.size * 10)
  for (const key of a.keys()) {
    const other = b.get(key)
    if (other === undefined || other instanceof CelError || equalOrError(a.get(key)!, other, budget) === false)
      return false
  }
  return true
}

/** Negative, 0, positive, or NaN where one of the two is not a number. */
export function compareAnyNumbers(a: Int | Uint | Double, b: Int | Uint | Double): number {
  if (a instanceof Double) return compareDouble(a.value, b)
  if (b instanceof Double) return -compareDouble(b.value, a)
  const x = a instanceof Uint ? a.value : a
  const y = b instanceof Uint ? b.value : b
  return x < y ? -1 : x > y ? 1 : 0
}

/** An int is compared with a double as the double nearest to it. */
function compareDouble(a: number, b: Int | Uint | Double): number {
  const other = b instanceof Double ? b.value : Number(b instanceof Uint ? b.value : b)
  return a < other ? -1 : a > other ? 1 : a === other ? 0 : Number.NaN
}
