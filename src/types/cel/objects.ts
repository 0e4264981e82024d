// Objects and maps as CEL values. An object has the fields that its type declares, under their escaped names. Its other
// members are hidden, and count only when objects are compared. A map has all its keys.
import {
  type CelError,
  equalOrError,
  MapValue,
  NO_SUCH_OVERLOAD,
  type Value,
  type WorkBudget,
} from '../../cel/index.js'
import { equalValues, getOwn, isObject, type Value as Json, type ValueObject } from '../../meta/values/value.js'
import type { Backed, ValueAdapter } from './lists.js'

export interface ObjectAdapter {
  /** A field by the name that expressions use. */
  fieldNamed(name: string): FieldAdapter | undefined
  /** A field by the name of its property. */
  fieldOf(property: string): FieldAdapter | undefined
}

export interface FieldAdapter {
  readonly name: string
  readonly property: string
  readonly adapter: ValueAdapter
}

abstract class JsonMap extends MapValue implements Backed {
  private members: readonly string[] | undefined
  private kept: Map<string, Value> | undefined

  constructor(readonly json: ValueObject) {
    super()
  }

  get size(): number {
    return this.names().length
  }

  /** The names of all members. Listing them takes long if they are many, so that it is done once. */
  protected names(): readonly string[] {
    this.members ??= Object.keys(this.json)
    return this.members
  }

  get(key: Value): Value | undefined {
    return typeof key === 'string' ? this.find(key) : NO_SUCH_OVERLOAD
  }

  abstract find(key: string): Value | undefined
  /** The value may be null, or of a member that the type does not declare. */
  protected abstract compareMember(member: string, value: Json, other: MapValue, budget: WorkBudget): boolean | CelError

  protected read(adapter: ValueAdapter, member: string, value: Json): Value {
    if (adapter.isPlain) return adapter.read(value)
    this.kept ??= new Map()
    let read = this.kept.get(member)
    if (read === undefined) {
      read = adapter.read(value)
      this.kept.set(member, read)
    }
    return read
  }

  override equals(other: Value, budget: WorkBudget): boolean | CelError {
    if (other === null) return false
    if (!(other instanceof MapValue)) return NO_SUCH_OVERLOAD
    if (other.size !== this.size) return false
    budget.charge(this.size * MEMBER)
    for (const member of this.names()) {
      const same = this.compareMember(member, this.json[member]!, other, budget)
      if (same !== true) return same
    }
    return true
  }
}

export class CelObject extends JsonMap {
  constructor(
    json: ValueObject,
    private readonly adapter: ObjectAdapter,
  ) {
    super(json)
  }

  find(name: string): Value | undefined {
    const field = this.adapter.fieldNamed(name)
    return field && this.readField(field)
  }

  *keys(): Generator<Value> {
    for (const property of this.names()) {
      const field = this.adapter.fieldOf(property)
      if (field !== undefined) yield field.name
    }
  }

  /** A field that is null counts as absent. */
  private readField({ adapter, property }: FieldAdapter): Value | undefined {
    const value = getOwn(this.json, property)
    return value === undefined || value === null ? undefined : this.read(adapter, property, value)
  }

  protected compareMember(property: string, value: Json, other: MapValue, budget: WorkBudget): boolean | CelError {
    const field = this.adapter.fieldOf(property)
    if (field !== undefined) {
      const theirs = other instanceof CelObject ? other.readField(field) : other.get(field.name)
      return theirs === undefined ? false : equalOrError(this.read(field.adapter, property, value), theirs, budget)
    }
    budget.charge(weightOf(value) * MEMBER)
    return other instanceof CelObject && equalValues(value, getOwn(other.json, property))
  }
}

export class CelMap extends JsonMap {
  constructor(
    json: ValueObject,
    private readonly adapter: ValueAdapter,
  ) {
    super(json)
  }

  find(key: string): Value | undefined {
    const value = getOwn(this.json, key)
    return value === undefined ? undefined : this.read(this.adapter, key, value)
  }

  keys(): readonly string[] {
    return this.names()
  }

  protected compareMember(key: string, value: Json, other: MapValue, budget: WorkBudget): boolean | CelError {
    if (this.adapter.isPlain && other instanceof CelMap && isSameScalar(value, getOwn(other.json, key), budget)) {
      return true
    }
    const theirs = other.get(key)
    return theirs === undefined ? false : equalOrError(this.find(key)!, theirs, budget)
  }
}

/** The work of comparing a member, in elements of a list. */
const MEMBER = 4

const isSameScalar = (a: Json, b: Json | undefined, budget: WorkBudget): boolean =>
  typeof a === 'string' ? typeof b === 'string' && budget.equalTexts(a, b) : a === b && typeof a !== 'object'

const weights = new WeakMap<Json & object, number>()

/** How many parts of a value there are to compare; counted once. */
function weightOf(json: Json): number {
  if (typeof json !== 'object' || json === null) return 1
  let weight = weights.get(json)
  if (weight === undefined) {
    weight = count(json)
    weights.set(json, weight)
  }
  return weight
}

/** Without recursion: values may be nested too deep for it. */
function count(root: Json): number {
  let found = 0
  const open: Json[] = [root]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    found += typeof next === 'string' ? 1 + next.length / 256 : 1
    if (Array.isArray(next)) for (const item of next) open.push(item)
    else if (isObject(next)) for (const key of Object.keys(next)) open.push(next[key]!)
  }
  return found
}
