// Pruning: what the schema does not name is dropped, wherever it stands. Metadata, apiVersion and kind of a resource,
// and of an embedded one, are not this unit's business: they are read as what they are in Go (see coerce.ts).
import { compareTexts } from '../../meta/go/go-text.js'
import { isObject, type Value } from '../../meta/values/value.js'
import type { Schema } from '../structure/structural.js'

/** Drops in place; gives the paths of what went, sorted. */
export function prune(value: Value, schema: Schema, { isResource = false } = {}): string[] {
  const pruned: string[] = []
  walk(value, schema, '', pruned, isResource, false)
  return pruned.length > 1 ? pruned.toSorted(compareTexts) : pruned
}

export const isTypeOrMetadata = (key: string): boolean => key === 'metadata' || key === 'apiVersion' || key === 'kind'

/**
 * `keeping` is set for a part that preserves unknown fields: what is named there is pruned below, the rest stays.
 * Items of a list that preserves are such parts, too.
 */
function walk(
  value: Value,
  schema: Schema,
  path: string,
  pruned: string[],
  isResource: boolean,
  keepItems: boolean,
): void {
  const keeping = keepItems || schema.extensions.preserveUnknownFields === true
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      if (typeof item !== 'object' || item === null) continue
      if (schema.items !== undefined) walk(item, schema.items, `${path}[${i}]`, pruned, false, keeping)
      else if (!keeping) empty(item, `${path}[${i}]`, pruned)
    }
    return
  }
  if (!isObject(value)) return
  const { properties, additionalProperties } = schema
  const resource = isResource || schema.extensions.embeddedResource
  for (const key of Object.keys(value)) {
    if (resource && isTypeOrMetadata(key)) continue
    const property = properties.get(key)
    if (property === undefined && additionalProperties === undefined) {
      if (keeping) continue
      pruned.push(path === '' ? key : `${path}.${key}`)
      delete value[key]
      continue
    }
    const member = value[key]!
    if (typeof member !== 'object' || member === null) continue
    const at = path === '' ? key : `${path}.${key}`
    if (property !== undefined) walk(member, property, at, pruned, false, false)
    else if (typeof additionalProperties === 'object') walk(member, additionalProperties, at, pruned, false, false)
    else empty(member, at, pruned)
  }
}

/** A value that nothing is known of: lists keep their items, objects lose all they hold. May be of any depth. */
function empty(root: Value, at: string, pruned: string[]): void {
  const open: [Value, string][] = [[root, at]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, path] = next
    if (Array.isArray(value)) {
      for (const [i, item] of value.entries()) {
        if (typeof item === 'object' && item !== null) open.push([item, `${path}[${i}]`])
      }
    } else if (isObject(value)) {
      for (const key of Object.keys(value)) {
        pruned.push(`${path}.${key}`)
        delete value[key]
      }
    }
  }
}
