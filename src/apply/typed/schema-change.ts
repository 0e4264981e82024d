// Sets of fields that were owned under an older schema, as the one of today has them. A part that has become atomic is
// owned as one by everyone who owned something in it. One that was atomic and no longer is stays owned as it was: its
// owner keeps the part, and none of what is in it.
import { fieldName } from '../paths/field-path.js'
import { EMPTY, type FieldNode, type FieldSet, fieldNode } from '../paths/field-set.js'
import type { TypedSchema } from './typed-schema.js'

/** Under which schema a set has been found to be as it should; most are asked about again and again. */
const current = new WeakMap<FieldSet, TypedSchema>()

export function asOfToday(set: FieldSet, schema: TypedSchema): FieldSet {
  if (current.get(set) === schema) return set
  const result = changed(set, schema)
  current.set(result, schema)
  return result
}

function changed(set: FieldSet, schema: TypedSchema): FieldSet {
  let result: Map<string, FieldNode> | undefined
  for (const [element, node] of set) {
    if (node.below.size === 0) continue
    const inner = schemaAt(schema, element)
    if (inner === undefined) continue
    const next = isAtomic(inner) ? fieldNode(true, EMPTY) : within(node, inner)
    if (next === node) continue
    result ??= new Map(set)
    result.set(element, next)
  }
  return result ?? set
}

function within(node: FieldNode, schema: TypedSchema): FieldNode {
  const below = changed(node.below, schema)
  return below === node.below ? node : fieldNode(node.isMember, below)
}

/** Where nothing is declared there is nothing that could have changed. */
function schemaAt({ map, list }: TypedSchema, element: string): TypedSchema | undefined {
  const name = fieldName(element)
  if (name === undefined) return map ? undefined : list?.element
  return map && !map.isDeduced ? (map.field(name) ?? map.element) : undefined
}

const isAtomic = ({ map, scalar, list }: TypedSchema): boolean => {
  if (map) return map.isAtomic
  return scalar === undefined && list?.type === 'atomic'
}
