// Which fields a value sets: what its applier comes to own.
import { isObject, type Value, type ValueObject } from '../meta/value.js'
import { fieldElement } from './field-path.js'
import { EMPTY, type FieldNode, type FieldSet, fieldNode } from './field-set.js'
import { elementsOf } from './list-items.js'
import { formOf, type ListSchema, type MapSchema, memberSchema, settled, type TypedSchema } from './typed-schema.js'

export const fieldsOf = (schema: TypedSchema, value: Value): FieldSet => nodeOf(schema, value).below

/** A member is what is owned as one. */
function nodeOf(schema: TypedSchema, value: Value): FieldNode {
  switch (settled(schema, formOf(schema, value))) {
    case 'scalar':
      return OWNED
    case 'list':
      if (schema.list!.type === 'atomic') return OWNED
      return Array.isArray(value) ? ofItems(schema.list!, value) : NOTHING
    case 'map':
      if (schema.map!.isAtomic) return OWNED
      return isObject(value) ? ofMembers(schema.map!, value) : NOTHING
  }
}

const OWNED = fieldNode(true, EMPTY)
const NOTHING: FieldNode = { isMember: false, below: EMPTY }

function ofItems(list: ListSchema, items: readonly Value[]): FieldNode {
  const set = new Map<string, FieldNode>()
  const elements = elementsOf(list, items)
  for (const [i, element] of elements.entries()) {
    // Items that are there twice are owned as one.
    if (set.has(element)) set.set(element, OWNED)
    else set.set(element, fieldNode(true, nodeOf(list.element, items[i]!).below))
  }
  return { isMember: false, below: set }
}

function ofMembers(map: MapSchema, object: ValueObject): FieldNode {
  const set = new Map<string, FieldNode>()
  for (const name of Object.keys(object)) {
    const value = object[name]!
    const { isMember, below } = nodeOf(memberSchema(map, name), value)
    // A declared field that holds others is there with its type; any other had to be made.
    const isOwned = isMember || isBare(value) || map.field(name) === undefined
    if (isOwned || below.size > 0) set.set(fieldElement(name), fieldNode(isOwned, below))
  }
  return { isMember: false, below: set }
}

const isBare = (value: Value): boolean => value === null || (isObject(value) && Object.keys(value).length === 0)
