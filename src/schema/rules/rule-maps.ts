// Objects and maps as rules see them. An object has the fields that its schema tells of, under their escaped names; what
// else it holds is not to be seen, and counts only when objects are compared. A map has all its keys.
import {
  type CelError,
  equalOrError,
  MapValue,
  NO_SUCH_OVERLOAD,
  type Value,
  type WorkBudget,
} from '../../cel/index.js'
import { equalValues, getOwn, isObject, type Value as Json, type ValueObject } from '../../meta/values/value.js'
import type { Backed, ValueForm } from './rule-lists.js'

export interface ObjectForm {
  /** A field by the name that rules have for it. */
  fieldNamed(name: string): FieldForm | undefined
  /** A field by the name of its property. */
  fieldOf(property: string): FieldForm | undefined
}

export interface FieldForm {
  readonly name: string
  readonly property: string
  readonly form: ValueForm
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

  /** The names of all members, which take long to list where they are many. */
  protected names(): readonly string[] {
    this.members ??= Object.keys(this.json)
    return this.members
  }

  get(key: Value): Value | undefined {
    return typeof key === 'string' ? this.find(key) : NO_SUCH_OVERLOAD
  }

  abstract find(key: string): Value | undefined
  /** The value of a member that may be null, or unknown to the schema. */
  protected abstract compareMember(member: string, value: Json, other: MapValue, budget: WorkBudget): boolean | CelError

  protected read(form: ValueForm, member: string, value: Json): Value {
    if (form.isPlain) return form.read(value)
    this.kept ??= new Map()
    let read = this.kept.get(member)
    if (read === undefined) {
      read = form.read(value)
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

export class RuleObject extends JsonMap {
  constructor(
    json: ValueObject,
    private readonly form: ObjectForm,
  ) {
    super(json)
  }

  find(name: string): Value | undefined {
    const field = this.form.fieldNamed(name)
    return field && this.readField(field)
  }

  *keys(): Generator<Value> {
    for (const property of this.names()) {
      const field = this.form.fieldOf(property)
      if (field !== undefined) yield field.name
    }
  }

  /** Null is as if the field were not there. */
  private readField({ form, property }: FieldForm): Value | undefined {
    const value = getOwn(this.json, property)
    return value === undefined || value === null ? undefined : this.read(form, property, value)
  }

  protected compareMember(property: string, value: Json, other: MapValue, budget: WorkBudget): boolean | CelError {
    const field = this.form.fieldOf(property)
    if (field !== undefined) {
      const theirs = other instanceof RuleObject ? other.readField(field) : other.get(field.name)
      return theirs === undefined ? false : equalOrError(this.read(field.form, property, value), theirs, budget)
    }
    budget.charge(weightOf(value) * MEMBER)
    return other instanceof RuleObject && equalValues(value, getOwn(other.json, property))
  }
}

export class RuleMap extends JsonMap {
  constructor(
    json: ValueObject,
    private readonly form: ValueForm,
  ) {
    super(json)
  }

  find(key: string): Value | undefined {
    const value = getOwn(this.json, key)
    return value === undefined ? undefined : this.read(this.form, key, value)
  }

  keys(): readonly string[] {
    return this.names()
  }

  protected compareMember(key: string, value: Json, other: MapValue, budget: WorkBudget): boolean | CelError {
    if (this.form.isPlain && other instanceof RuleMap && isSameScalar(value, getOwn(other.json, key), budget)) {
      return true
    }
    const theirs = other.get(key)
    return theirs === undefined ? false : equalOrError(this.find(key)!, theirs, budget)
  }
}

/** What comparing a member takes, in elements of a list. */
const MEMBER = 4

const isSameScalar = (a: Json, b: Json | undefined, budget: WorkBudget): boolean =>
  typeof a === 'string' ? typeof b === 'string' && budget.equalTexts(a, b) : a === b && typeof a !== 'object'

const weights = new WeakMap<Json & object, number>()

/** How much there is to compare in a value; counted once. */
function weightOf(json: Json): number {
  if (typeof json !== 'object' || json === null) return 1
  let weight = weights.get(json)
  if (weight === undefined) {
    weight = count(json)
    weights.set(json, weight)
  }
  return weight
}

/** Values may be nested deeper than a recursion could follow. */
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
