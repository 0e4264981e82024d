// JSON of no declared type as CEL values: `object`, `oldObject`, `params` and `request` of admission. A value is read when
// an expression looks at it, and nothing is copied.

import { Double, type DynamicLayout, ListValue, MapValue, type Value } from '../../cel/index.js'
import { getOwn, isObject, type Value as Json, type ValueObject, WholeFloat } from '../../meta/values/value.js'

export function celValueOf(json: Json): Value {
  if (json === null || typeof json === 'string' || typeof json === 'boolean' || typeof json === 'bigint') return json
  if (typeof json === 'number') return Number.isInteger(json) ? json : new Double(json)
  if (json instanceof WholeFloat) return new Double(json.value)
  return Array.isArray(json) ? new JsonList(json) : new JsonMap(json)
}

class JsonList extends ListValue {
  constructor(readonly json: readonly Json[]) {
    super()
  }
  get size(): number {
    return this.json.length
  }
  get(index: number): Value {
    return celValueOf(this.json[index]!)
  }
}

class JsonMap extends MapValue {
  private keysOf: readonly string[] | undefined
  constructor(readonly json: ValueObject) {
    super()
  }
  get size(): number {
    return (this.keysOf ??= Object.keys(this.json)).length
  }
  get(key: Value): Value | undefined {
    const found = typeof key === 'string' ? getOwn(this.json, key) : undefined
    return found === undefined ? undefined : celValueOf(found)
  }
  keys(): Iterable<Value> {
    return (this.keysOf ??= Object.keys(this.json))
  }
}

/** Expressions that are evaluated often read the JSON itself. */
export const DYNAMIC_JSON: DynamicLayout = {
  kind: 'dynamic',
  isMap: (raw: Json) => isObject(raw),
  behind: value =>
    value instanceof JsonMap || value instanceof JsonList ? value.json : value === null ? value : undefined,
  view: celValueOf,
}
