// Which parts of a schema hold something (a default, an embedded resource, a set), so that walks that look for it never
// enter the others. Found out lazily, once for each node.
import type { Schema } from './structural.js'

export type PartFilter = (schema: Schema) => boolean

/** True for schemas that are such, or hold one below them. */
export function partsWith(isSuch: (schema: Schema) => boolean): PartFilter {
  const known = new WeakMap<Schema, boolean>()
  const look = (schema: Schema): boolean => {
    const { items, additionalProperties, properties } = schema
    if (isSuch(schema)) return true
    if (items !== undefined && holds(items)) return true
    if (typeof additionalProperties === 'object' && holds(additionalProperties)) return true
    for (const property of properties.values()) if (holds(property)) return true
    return false
  }
  const holds = (schema: Schema): boolean => {
    // Most nodes hold nothing, and need not be remembered.
    if (isLeaf(schema)) return isSuch(schema)
    let answer = known.get(schema)
    if (answer === undefined) {
      answer = look(schema)
      known.set(schema, answer)
    }
    return answer
  }
  return holds
}

const isLeaf = ({ items, additionalProperties, properties }: Schema): boolean =>
  items === undefined && typeof additionalProperties !== 'object' && properties.size === 0
