// Which fields a value sets: what its applier comes to own.
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { fieldElement } from '../paths/field-path.js'
import { below, EMPTY, type FieldNode, type FieldSet, fieldNode } from '../paths/field-set.js'
import { elementOf } from './list-items.js'
import { formOf, type ListSchema, type MapSchema, memberSchema, settled, type TypedSchema } from './typed-schema.js'

/** Most fields are those that were applied before: the parts of `before` that are the same are given back as they are. */
export const fieldsOf = (schema: TypedSchema, value: Value, before: FieldSet = EMPTY): FieldSet =>
  nodeOf(schema, value, before).below

/** A member is what is owned as one. */
function nodeOf(schema: TypedSchema, value: Value, before: FieldSet): FieldNode {
  switch (settled(schema, formOf(schema, value))) {
    case 'scalar':
      return OWNED
    case 'list':
      if (schema.list!.type === 'atomic') return OWNED
      return Array.isArray(value) ? ofItems(schema.list!, value, before) : NOTHING
    case 'map':
      if (schema.map!.isAtomic) return OWNED
      return isObject(value) ? ofMembers(schema.map!, value, before) : NOTHING
  }
}

const OWNED = fieldNode(true, EMPTY)
const NOTHING: FieldNode = { isMember: false, below: EMPTY }

function ofItems(list: ListSchema, items: readonly Value[], before: FieldSet): FieldNode {
  const set = new Map<string, FieldNode>()
  for (const item of items) {
    const element = elementOf(list, item)
    // Items that are there twice are owned as one.
    if (set.has(element)) set.set(element, OWNED)
    else add(set, element, true, nodeOf(list.element, item, below(before, element)).below, before)
  }
  return { isMember: false, below: asBefore(set, before) }
}

function ofMembers(map: MapSchema, object: ValueObject, before: FieldSet): FieldNode {
  const set = new Map<string, FieldNode>()
  for (const name of Object.keys(object)) {
    const value = object[name]!
    const element = fieldElement(name)
    const inner = nodeOf(memberSchema(map, name), value, below(before, element))
    // A declared field that holds others is there with its type; any other had to be made.
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
  const known = before.get(element)
  const isKnown = known !== undefined && known.isMember === isMember && known.below === deeper
  set.set(element, isKnown ? known : fieldNode(isMember, deeper))
}

function asBefore(set: FieldSet, before: FieldSet): FieldSet {
  if (set.size !== before.size) return set
  for (const [element, node] of set) if (before.get(element) !== node) return set
  return before
}

const isBare = (value: Value): boolean => value === null || (isObject(value) && Object.keys(value).length === 0)
