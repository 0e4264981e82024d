// Lists as CEL values. Sets and list maps are equal in any order. Adding to one merges: items that it has keep their
// places, new ones come after them.
import {
  type CelError,
  Double,
  Duration,
  equalOrError,
  isList,
  itemAt,
  itemsOf,
  type List,
  ListValue,
  NO_SUCH_OVERLOAD,
  sizeOfList,
  Timestamp,
  type Value,
  type WorkBudget,
} from '../../cel/index.js'
import { encodeJson } from '../../codec/json.js'
import type { Value as Json } from '../../meta/values/value.js'

/** How JSON values of one type become CEL values. */
export interface ValueAdapter {
  read(value: Json): Value
  /** Reading costs nothing. Other values are read once and kept. */
  readonly isPlain: boolean
}

/** A compound value that is a view of JSON. */
export interface Backed {
  readonly json: Json
}

export class CelList extends ListValue implements Backed {
  override readonly intIndexOnly = true
  readonly size: number
  private kept: Value[] | undefined

  constructor(
    readonly json: readonly Json[] & Json,
    private readonly adapter: ValueAdapter,
  ) {
    super()
    this.size = json.length
  }

  get(index: number): Value {
    if (this.adapter.isPlain) return this.adapter.read(this.json[index]!)
    this.kept ??= []
    let value = this.kept[index]
    if (value === undefined) {
      value = this.adapter.read(this.json[index]!)
      this.kept[index] = value
    }
    return value
  }

  override equals(other: Value, budget: WorkBudget): boolean | CelError {
    if (other === null) return false
    if (!isList(other)) return NO_SUCH_OVERLOAD
    if (sizeOfList(other) !== this.size) return false
    budget.charge(this.size)
    for (let i = 0; i < this.size; i++) {
      const same = equalOrError(this.get(i), itemAt(other, i), budget)
      if (same !== true) return same
    }
    return true
  }
}

/** A list in which items have an identity. */
export abstract class MergingList extends ListValue {
  override readonly intIndexOnly = true
  private known: ReadonlyMap<unknown, number> | undefined

  constructor(readonly items: List) {
    super()
  }

  /** Equal for items that are the same item. */
  protected abstract identity(item: Value): unknown

  get size(): number {
    return sizeOfList(this.items)
  }

  get(index: number): Value {
    return itemAt(this.items, index)
  }

  /** The index of each item, by its identity. */
  protected places(budget: WorkBudget): ReadonlyMap<unknown, number> {
    if (this.known === undefined) {
      const places = new Map<unknown, number>()
      budget.charge(this.size)
      for (let i = 0; i < this.size; i++) places.set(this.identity(this.get(i)), i)
      this.known = places
    }
    return this.known
  }

  override equals(other: Value, budget: WorkBudget): boolean | CelError {
    if (other === null) return false
    if (!isList(other)) return NO_SUCH_OVERLOAD
    if (sizeOfList(other) !== this.size) return false
    const places = this.places(budget)
    for (const item of itemsOf(other, budget)) {
      const place = places.get(this.identity(item))
      if (place === undefined) return false
      const same = equalOrError(this.get(place), item, budget)
      if (same !== true) return same
    }
    return true
  }

  /** Both lists as one. Of an item that both have, the other list's is taken. */
  protected merge(other: List, budget: WorkBudget): readonly Value[] {
    // The items and their places are copied.
    budget.charge(this.size * 8)
    const merged = [...itemsOf(this.items, budget)]
    const places = new Map(this.places(budget))
    for (const item of itemsOf(other, budget)) {
      const identity = this.identity(item)
      const place = places.get(identity)
      if (place === undefined) places.set(identity, merged.push(item) - 1)
      else merged[place] = item
    }
    return merged
  }
}

export class CelSet extends MergingList {
  protected identity(item: Value): unknown {
    return setIdentity(item)
  }
  override concat(other: List, budget: WorkBudget): Value {
    return new CelSet(this.merge(other, budget))
  }
}

export class CelListMap extends MergingList {
  constructor(
    items: List,
    private readonly keyOf: (item: Json) => unknown,
  ) {
    super(items)
  }
  /** A new object for a value that can be no item: no two of these are the same. */
  protected identity(item: Value): unknown {
    const key = isBacked(item) ? this.keyOf(item.json) : undefined
    return key ?? {}
  }
  override concat(other: List, budget: WorkBudget): Value {
    return new CelListMap(this.merge(other, budget), this.keyOf)
  }
}

export const isBacked = (value: Value): value is Value & Backed =>
  typeof value === 'object' && value !== null && 'json' in value

/** Scalars are their own identity. Values that are objects in JavaScript get a text that no string can be equal to. */
function setIdentity(item: Value): unknown {
  if (typeof item !== 'object' || item === null) return item
  if (item instanceof Double) return `\u0000${item.value}`
  if (item instanceof Duration) return `\u0000${item.nanos}ns`
  if (item instanceof Timestamp) return `\u0000${item.seconds}.${item.nanos}s`
  if (item instanceof Uint8Array) return `\u0000b${Buffer.from(item).toString('latin1')}`
  return isBacked(item) ? `\u0000${encodeJson(item.json, { sortKeys: true })}` : item
}
