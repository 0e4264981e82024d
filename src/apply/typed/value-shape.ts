// The shape of a value: the names of its members and the kinds of its scalars, as far as they decide which fields it sets.
// Objects that are created one after the other often have the same shape, and so own the same fields.

import { isObject, type Value, WholeFloat } from '../../meta/values/value.js'
import { type MergeType, memberType, resolveShape, shapeOf } from '../../types/merge.js'

export type ValueShape = ScalarShape | ListShape | MapShape

interface ScalarShape {
  readonly kind: 'scalar'
  readonly scalar: string
}

/** `isEmpty`: undefined if the list or map is owned as one, whatever it contains. */
interface ListShape {
  readonly kind: 'list'
  readonly isEmpty: true | undefined
}

interface MapShape {
  readonly kind: 'map'
  readonly names: readonly string[] | undefined
  readonly members: readonly ValueShape[]
}

/** Undefined if the value has more than so many members, or items of a list that are owned one by one. */
export function valueShapeOf(type: MergeType, value: Value, limit = { members: 200 }): ValueShape | undefined {
  if (Array.isArray(value)) {
    const isWhole = resolveShape(type, shapeOf(type, value)) !== 'list' || type.list!.type === 'atomic'
    return isWhole || value.length === 0 ? { kind: 'list', isEmpty: isWhole ? undefined : true } : undefined
  }
  if (!isObject(value)) return { kind: 'scalar', scalar: scalarKind(value) }
  if (resolveShape(type, shapeOf(type, value)) !== 'map' || type.map!.isAtomic) {
    return { kind: 'map', names: undefined, members: [] }
  }
  const names = Object.keys(value)
  const members: ValueShape[] = []
  for (const name of names) {
    const shape = limit.members-- > 0 ? valueShapeOf(memberType(type.map!, name), value[name]!, limit) : undefined
    if (shape === undefined) return undefined
    members.push(shape)
  }
  return { kind: 'map', names, members }
}

export function hasShape(shape: ValueShape, value: Value): boolean {
  switch (shape.kind) {
    case 'scalar':
      return (
        (typeof value !== 'object' || value === null || value instanceof WholeFloat) &&
        scalarKind(value) === shape.scalar
      )
    case 'list':
      return Array.isArray(value) && (shape.isEmpty === undefined || value.length === 0)
    case 'map': {
      if (!isObject(value)) return false
      const { names, members } = shape
      if (names === undefined) return true
      const given = Object.keys(value)
      if (given.length !== names.length) return false
      for (let i = 0; i < names.length; i++) {
        const name = names[i]!
        if (given[i] !== name || !hasShape(members[i]!, value[name]!)) return false
      }
      return true
    }
  }
}

const scalarKind = (value: Value): string =>
  value === null ? 'null' : typeof value === 'object' ? 'float' : typeof value
