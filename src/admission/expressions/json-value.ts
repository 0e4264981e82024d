// JSON of no declared type as CEL values: `object`, `oldObject`, `params` and `request`. A value is read when an
// expression looks at it, and nothing is copied.

import { Double, ListValue, MapValue, type Value } from '../../cel/index.js'
import { getOwn, type Value as Json, type ValueObject, WholeFloat } from '../../meta/values/value.js'

export function celValueOf(json: Json): Value {
  if (json === null || typeof json === 'string' || typeof json === 'boolean' || typeof json === 'bigint') return json
  if (typeof json === 'number') return Number.isInteger(json) ? json : new Double(json)
  if (json instanceof WholeFloat) return new Double(json.value)
  return Array.isArray(json) ? new JsonList(json) : new JsonMap(json)
}

class JsonList extends ListValue {
  constructor(private readonly json: readonly Json[]) {
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
  constructor(private readonly json: ValueObject) {
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
