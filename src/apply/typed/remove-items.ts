// A value without some of its fields and items.
import { isObject, setOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import { fieldElement } from '../paths/field-path.js'
import { type FieldSet } from '../paths/field-set.js'
import { itemElement } from './list-items.js'
import { formOf, type ListSchema, type MapSchema, memberSchema, settled, type TypedSchema } from './typed-schema.js'

/** An object or list of which nothing is left becomes null: that its owner emptied it is not that it is empty. */
export function removeItems(schema: TypedSchema, value: Value, fields: FieldSet): Value {
  if (fields.size === 0) return value
  switch (settled(schema, formOf(schema, value))) {
    case 'scalar':
      return value
    case 'list':
      return Array.isArray(value) ? fromList(schema.list!, value, fields) : null
    case 'map':
      return isObject(value) ? fromMap(schema.map!, value, fields) : null
  }
}

function fromList(list: ListSchema, items: Value[], fields: FieldSet): Value {
  if (list.type === 'atomic') return items.length === 0 ? null : items
  const result: Value[] = []
  for (const item of items) {
    const element = itemElement(list, item)
    const node = element.ok ? fields.get(element.value) : undefined
    if (node?.isMember) continue
    result.push(node === undefined ? item : removeItems(list.element, item, node.below))
  }
  return result.length === 0 ? null : result
}

function fromMap(map: MapSchema, object: ValueObject, fields: FieldSet): Value {
  const result: ValueObject = {}
  let isThere = false
  for (const name of Object.keys(object)) {
    const node = fields.get(fieldElement(name))
    if (node?.isMember) continue
    const value = object[name]!
    setOwn(result, name, node === undefined ? value : removeItems(memberSchema(map, name), value, node.below))
    isThere = true
  }
  return isThere ? result : null
}
