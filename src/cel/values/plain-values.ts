// Plain JavaScript in and out: JSON, dates, bytes and Maps, for hosts that have no values of their own.
import { CelError } from '../cel-error.js'
import { WorkBudget } from '../cost/work-budget.js'
import { Duration, EPOCH, laterBy, nanosOf, printSeconds, Timestamp } from './moments.js'
import { checkedInt, Double, Uint } from './numbers.js'
import {
  isList,
  itemsOf,
  ListValue,
  MapValue,
  mapFrom,
  ObjectValue,
  OpaqueValue,
  OptionalValue,
  TypeValue,
  type Value,
} from './values.js'

/**
 * A value of an expression from a value of JavaScript. Whole numbers and bigints are ints, other numbers doubles; a
 * Date is a timestamp, a Uint8Array bytes, and values that are made for expressions already (`new Uint(1n)`) stay what
 * they are. Arrays and objects are not copied: they are looked into where an expression does, and must not change
 * meanwhile.
 */
export function fromPlain(plain: unknown): Value {
  switch (typeof plain) {
    case 'string':
    case 'boolean':
      return plain
    case 'number':
      // Zero has no sign as an int, and numbers beyond 2^53 are no longer exact: both would be another int than meant.
      return Number.isSafeInteger(plain) ? plain + 0 : new Double(plain)
    case 'bigint':
      return checkedInt(plain)
    case 'undefined':
      return null
    case 'object':
      return fromObject(plain)
    default:
      throw new TypeError(`a ${typeof plain} cannot be a value of an expression`)
  }
}

function fromObject(plain: object | null): Value {
  if (plain === null) return null
  if (Array.isArray(plain)) return new PlainList(plain)
  // Almost all are of JSON, and need no further look.
  const prototype: unknown = Object.getPrototypeOf(plain)
  if (prototype === Object.prototype || prototype === null) return new PlainMap(plain as Record<string, unknown>)
  if (isValue(plain)) return plain
  if (plain instanceof Map) return mapFrom(Array.from(plain, ([key, value]) => [fromPlain(key), fromPlain(value)]))
  if (plain instanceof Date) return laterBy(EPOCH, BigInt(plain.getTime()) * MILLION)
  return new PlainMap(plain as Record<string, unknown>)
}

const MILLION = 1_000_000n

const isValue = (plain: object): plain is Exclude<Value, null | boolean | number | bigint | string> =>
  VALUES.some(type => plain instanceof type)

const VALUES = [
  ListValue,
  MapValue,
  ObjectValue,
  OpaqueValue,
  OptionalValue,
  TypeValue,
  Timestamp,
  Duration,
  Uint,
  Double,
  Uint8Array,
  CelError,
]

class PlainList extends ListValue {
  constructor(private readonly items: readonly unknown[]) {
    super()
  }
  get size(): number {
    return this.items.length
  }
  get(index: number): Value {
    return fromPlain(this.items[index])
  }
}

class PlainMap extends MapValue {
  private count: number | undefined
  constructor(private readonly entries: Readonly<Record<string, unknown>>) {
    super()
  }
  get size(): number {
    if (this.count === undefined) {
      this.count = 0
      for (const _ of this.keys()) this.count++
    }
    return this.count
  }
  get(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined
    const found = this.entries[key]
    // Only own properties: all that an object inherits are functions, which are no values, and `__proto__`.
    if (found === undefined || typeof found === 'function') return undefined
    return key === '__proto__' && !Object.hasOwn(this.entries, key) ? undefined : fromPlain(found)
  }
  *keys(): Generator<Value> {
    for (const key of Object.keys(this.entries)) if (this.entries[key] !== undefined) yield key
  }
}

/**
 * The way back: ints as numbers, or as bigints where a number would not be exact; uints as bigints; lists as arrays;
 * maps as objects if all keys are strings and as Maps if not; a timestamp as a Date; a duration as seconds (`5400.5s`);
 * an optional as what it holds or undefined; a type as its name.
 */
export function toPlain(value: Value): unknown {
  // A list that was doubled repeatedly can be endless.
  return plainOf(value, new WorkBudget())
}

function plainOf(value: Value, budget: WorkBudget): unknown {
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value
  if (value instanceof Double || value instanceof Uint) return value.value
  if (isList(value)) return Array.from(itemsOf(value, budget), item => plainOf(item, budget))
  if (value instanceof MapValue) return plainMap(value, budget)
  if (value instanceof Timestamp) return new Date(Number(nanosOf(value) / MILLION))
  if (value instanceof Duration) return printSeconds(value)
  if (value instanceof OptionalValue) return value.value === undefined ? undefined : plainOf(value.value, budget)
  return value instanceof TypeValue ? value.type.name : value
}

function plainMap(map: MapValue, budget: WorkBudget): unknown {
  const entries = Array.from(map.keys(), key => [plainOf(key, budget), plainOf(map.get(key)!, budget)] as const)
  // fromEntries defines properties, so that a key of `__proto__` is one like others.
  return entries.every(([key]) => typeof key === 'string') ? Object.fromEntries(entries) : new Map(entries)
}
