// Defaulting: what is missing, or null where null is not allowed, gets the default of its schema; then the same below,
// in what was there and in what a default brought. And what must happen before: a null that is neither allowed nor has
// a default is dropped.
import { copyValue, isObject, setOwn, type Value } from '../../meta/values/value.js'
import { partsWith } from '../structure/parts.js'
import { memberSchema, type Schema } from '../structure/structural.js'

/** Fills in, in place. */
export function applyDefaults(value: Value, schema: Schema): void {
  if (!holdsDefaults(schema)) return
  if (Array.isArray(value)) {
    const { items } = schema
    if (items === undefined || !holdsDefaults(items)) return
    for (let i = 0; i < value.length; i++) {
      if (value[i] === null && replacesNull(items)) value[i] = copyValue(items.default!)
      applyDefaults(value[i]!, items)
    }
  } else if (isObject(value)) {
    for (const [key, property] of schema.properties) {
      if (property.default === undefined) continue
      if (!Object.hasOwn(value, key) || (value[key] === null && !property.nullable)) {
        setOwn(value, key, copyValue(property.default))
      }
    }
    const additional = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
    for (const key of Object.keys(value)) {
      const property = schema.properties.get(key)
      if (property === undefined && additional !== undefined && value[key] === null && replacesNull(additional)) {
        setOwn(value, key, copyValue(additional.default!))
      }
      const member = property ?? additional
      if (member !== undefined) applyDefaults(value[key]!, member)
    }
  }
}

/** Drops, in place, the nulls of members whose schema is neither nullable nor has a default. Those of lists stay. */
export function dropNulls(value: Value, schema: Schema): void {
  if (Array.isArray(value)) {
    if (schema.items === undefined) return
    for (const item of value) if (typeof item === 'object' && item !== null) dropNulls(item, schema.items)
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const member = value[key]!
      if (typeof member !== 'object') continue
      const below = memberSchema(schema, key)
      if (below === undefined) continue
      if (member !== null) dropNulls(member, below)
      else if (!below.nullable && below.default === undefined) delete value[key]
    }
  }
}

const replacesNull = (schema: Schema): boolean => !schema.nullable && schema.default !== undefined

/** Whether a default stands in it, or below. */
export const holdsDefaults = partsWith(schema => schema.default !== undefined)
