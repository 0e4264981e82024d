// The fields that a value sets, which its applier owns.
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { type MergeList, type MergeMap, type MergeType, memberType, resolveShape, shapeOf } from '../../types/merge.js'
import { fieldElement } from '../paths/field-path.js'
import { below, EMPTY, type FieldNode, type FieldSet, fieldNode } from '../paths/field-set.js'
import { elementOf } from './list-items.js'

/** Most fields were applied before: parts that are equal to those of `before` are returned as they are. */
export const fieldsOf = (type: MergeType, value: Value, before: FieldSet = EMPTY): FieldSet =>
  nodeOf(type, value, before).below

/** `isMember`: the value is owned as one. */
function nodeOf(type: MergeType, value: Value, before: FieldSet): FieldNode {
  switch (resolveShape(type, shapeOf(type, value))) {
    case 'scalar':
      return OWNED
    case 'list':
      if (type.list!.type === 'atomic') return OWNED
      return Array.isArray(value) ? ofItems(type.list!, value, before) : NOTHING
    case 'map':
      if (type.map!.isAtomic) return OWNED
      return isObject(value) ? ofMembers(type.map!, value, before) : NOTHING
  }
}

const OWNED = fieldNode(true, EMPTY)
const NOTHING: FieldNode = { isMember: false, below: EMPTY }

function ofItems(list: MergeList, items: readonly Value[], before: FieldSet): FieldNode {
  const set = new Map<string, FieldNode>()
  for (const item of items) {
    const element = elementOf(list, item)
    // Duplicate items are owned as one.
    if (set.has(element)) set.set(element, OWNED)
    else add(set, element, true, nodeOf(list.element, item, below(before, element)).below, before)
  }
  return { isMember: false, below: asBefore(set, before) }
}

function ofMembers(map: MergeMap, object: ValueObject, before: FieldSet): FieldNode {
  const set = new Map<string, FieldNode>()
  for (const name of Object.keys(object)) {
    const value = object[name]!
    const element = fieldElement(name)
    const inner = nodeOf(memberType(map, name), value, below(before, element))
    // A declared field that holds others exists by its type; any other field had to be created.
    const isOwned = inner.isMember || isBare(value) || map.field(name) === undefined
    if (isOwned || inner.below.size > 0) add(set, element, isOwned, inner.below, before)
  }
  return { isMember: false, below: asBefore(set, before) }
}

function add(
  set: Map<string, FieldNode>,
  element: string,
  isMember: boolean,
  deeper: FieldSet,
  before: FieldSet,
): void {
  const cached = before.get(element)
  const isKnown = cached !== undefined && cached.isMember === isMember && cached.below === deeper
  set.set(element, isKnown ? cached : fieldNode(isMember, deeper))
}

function asBefore(set: FieldSet, before: FieldSet): FieldSet {
  if (set.size !== before.size) return set
  for (const [element, node] of set) if (before.get(element) !== node) return set
  return before
}

const isBare = (value: Value): boolean => value === null || (isObject(value) && Object.keys(value).length === 0)
