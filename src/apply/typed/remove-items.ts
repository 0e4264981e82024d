// A value without some of its fields and items.
import { isObject, setOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import { type MergeList, type MergeMap, type MergeType, memberType, resolveShape, shapeOf } from '../../types/merge.js'
import { fieldElement } from '../paths/field-path.js'
import { type FieldSet } from '../paths/field-set.js'
import { itemElement } from './list-items.js'

/** An object or list without remaining parts becomes null, which differs from an empty one. */
export function removeItems(type: MergeType, value: Value, fields: FieldSet): Value {
  if (fields.size === 0) return value
  switch (resolveShape(type, shapeOf(type, value))) {
    case 'scalar':
      return value
    case 'list':
      return Array.isArray(value) ? fromList(type.list!, value, fields) : null
    case 'map':
      return isObject(value) ? fromMap(type.map!, value, fields) : null
  }
}

function fromList(list: MergeList, items: Value[], fields: FieldSet): Value {
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

function fromMap(map: MergeMap, object: ValueObject, fields: FieldSet): Value {
  const result: ValueObject = {}
  let isThere = false
  for (const name of Object.keys(object)) {
    const node = fields.get(fieldElement(name))
    if (node?.isMember) continue
    const value = object[name]!
    setOwn(result, name, node === undefined ? value : removeItems(memberType(map, name), value, node.below))
    isThere = true
  }
  return isThere ? result : null
}
