// Lists as rules see them. Sets and list maps are equal in any order, and adding to one merges: what is there keeps its
// place, what is new comes behind.
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

/** How a JSON value becomes one of the language. */
export interface ValueForm {
  read(value: Json): Value
  /** True where reading costs nothing; what is read otherwise is read once and kept. */
  readonly isPlain: boolean
}

/** A compound value that shows the JSON below it. */
export interface Backed {
  readonly json: Json
}

export class RuleList extends ListValue implements Backed {
  override readonly intIndexOnly = true
  readonly size: number
  private kept: Value[] | undefined

  constructor(
    readonly json: readonly Json[] & Json,
    private readonly form: ValueForm,
  ) {
    super()
    this.size = json.length
  }

  get(index: number): Value {
    if (this.form.isPlain) return this.form.read(this.json[index]!)
    this.kept ??= []
    let value = this.kept[index]
    if (value === undefined) {
      value = this.form.read(this.json[index]!)
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

  /** What tells an item from others: items that are the same item have the same. */
  protected abstract identity(item: Value): unknown

  get size(): number {
    return sizeOfList(this.items)
  }

  get(index: number): Value {
    return itemAt(this.items, index)
  }

  /** Where each item stands. */
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

  /** Both lists as one; an item that both have is the other's. */
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

export class RuleSet extends MergingList {
  protected identity(item: Value): unknown {
    return setIdentity(item)
  }
  override concat(other: List, budget: WorkBudget): Value {
    return new RuleSet(this.merge(other, budget))
  }
}

export class RuleListMap extends MergingList {
  constructor(
    items: List,
    private readonly keyOf: (item: Json) => unknown,
  ) {
    super(items)
  }
  /** Undefined for what cannot be an item; no two of these are the same. */
  protected identity(item: Value): unknown {
    const key = isBacked(item) ? this.keyOf(item.json) : undefined
    return key ?? {}
  }
  override concat(other: List, budget: WorkBudget): Value {
    return new RuleListMap(this.merge(other, budget), this.keyOf)
  }
}

export const isBacked = (value: Value): value is Value & Backed =>
  typeof value === 'object' && value !== null && 'json' in value

/** Scalars are themselves; what is an object in JavaScript is told apart by a text that no string can be taken for. */
function setIdentity(item: Value): unknown {
  if (typeof item !== 'object' || item === null) return item
  if (item instanceof Double) return `\u0000${item.value}`
  if (item instanceof Duration) return `\u0000${item.nanos}ns`
  if (item instanceof Timestamp) return `\u0000${item.seconds}.${item.nanos}s`
  if (item instanceof Uint8Array) return `\u0000b${Buffer.from(item).toString('latin1')}`
  return isBacked(item) ? `\u0000${encodeJson(item.json, { sortKeys: true })}` : item
}
