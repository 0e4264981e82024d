// Sets of fields that were owned under an older type, adapted to the current one. A part that has become atomic is
// owned as one by every manager that owned something in it. A part that was atomic and no longer is stays owned as it
// was: its owner keeps the part, and none of the fields in it.

import type { MergeType } from '../../types/merge.js'
import { fieldName } from '../paths/field-path.js'
import { EMPTY, type FieldNode, type FieldSet, fieldNode } from '../paths/field-set.js'

/** The type to which a set was adapted; most sets are checked many times against the same type. */
const current = new WeakMap<FieldSet, MergeType>()

export function underCurrentType(set: FieldSet, type: MergeType): FieldSet {
  if (current.get(set) === type) return set
  const result = changed(set, type)
  current.set(result, type)
  return result
}

function changed(set: FieldSet, type: MergeType): FieldSet {
  let result: Map<string, FieldNode> | undefined
  for (const [element, node] of set) {
    if (node.below.size === 0) continue
    const inner = typeAt(type, element)
    if (inner === undefined) continue
    const next = isAtomic(inner) ? fieldNode(true, EMPTY) : within(node, inner)
    if (next === node) continue
    result ??= new Map(set)
    result.set(element, next)
  }
  return result ?? set
}

function within(node: FieldNode, type: MergeType): FieldNode {
  const below = changed(node.below, type)
  return below === node.below ? node : fieldNode(node.isMember, below)
}

/** Without a declaration nothing can have changed. */
function typeAt({ map, list }: MergeType, element: string): MergeType | undefined {
  const name = fieldName(element)
  if (name === undefined) return map ? undefined : list?.element
  return map && !map.isDeduced ? (map.field(name) ?? map.element) : undefined
}

const isAtomic = ({ map, scalar, list }: MergeType): boolean => {
  if (map) return map.isAtomic
  return scalar === undefined && list?.type === 'atomic'
}
