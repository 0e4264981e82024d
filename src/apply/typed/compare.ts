// The fields in which two values of one type differ.
import { hasGivenEmpty } from '../../meta/values/given-empty.js'
import {
  equalValues,
  getOwn,
  isNumber,
  isObject,
  type Value,
  type ValueObject,
  WholeFloat,
} from '../../meta/values/value.js'
import {
  type MergeList,
  type MergeMap,
  type MergeType,
  memberType,
  resolveShape,
  type Shape,
  shapeOf,
} from '../../types/merge.js'
import { fieldElement, type PathElement } from '../paths/field-path.js'
import { type FieldSet, recursiveDifference, type SetBuilder, setBuilder } from '../paths/field-set.js'
import { areInStep, elementOf, elementsOf } from './list-items.js'
import { TypedError, undeclared } from './typed-errors.js'
import { checkTyped } from './validate.js'

export interface Comparison {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

/** `after` must be of the type; `before` is checked only where it differs. Throws a TypedError. */
export function compareTyped(type: MergeType, before: Value, after: Value): Comparison {
  const walk: Walk = { path: [], added: setBuilder(), modified: setBuilder(), removed: setBuilder() }
  compareAt(walk, type, before, after)
  return { added: walk.added.build(), modified: walk.modified.build(), removed: walk.removed.build() }
}

/** The comparison without some fields and everything below them. */
export const leavingOut = (comparison: Comparison, fields: FieldSet): Comparison =>
  fields.size === 0
    ? comparison
    : {
        added: recursiveDifference(comparison.added, fields),
        modified: recursiveDifference(comparison.modified, fields),
        removed: recursiveDifference(comparison.removed, fields),
      }

interface Walk {
  readonly path: Step[]
  readonly added: SetBuilder
  readonly modified: SetBuilder
  readonly removed: SetBuilder
}

/** The name of a field, or an item of a list. Most steps lead to no difference, and are never printed. */
type Step = string | ListItem

interface ListItem {
  readonly list: MergeList
  readonly item: Value
}

const printedPath = ({ path }: Walk): PathElement[] =>
  path.map(step => (typeof step === 'string' ? fieldElement(step) : elementOf(step.list, step.item)))

type Side = Value | undefined

function compareAt(walk: Walk, type: MergeType, before: Side, after: Side): void {
  if (before === after) return
  if (before !== undefined && !holdBoth(before, after)) check(walk, type, before)
  const from = before === undefined ? undefined : shapeOf(type, before)
  const to = after === undefined ? undefined : shapeOf(type, after)
  // If the shape changes, the old value is removed in the old shape, and the new one is added in the new shape.
  let isComplete = false
  if (from !== undefined && from !== to && to !== undefined)
    isComplete = compareAs(walk, type, resolveShape(type, from), before, after)
  const isWholeAfter = compareAs(walk, type, resolveShape(type, (to ?? from)!), before, after)
  if (isComplete || isWholeAfter) return
  if (before === undefined) walk.added.insert(printedPath(walk))
  else if (after === undefined) walk.removed.insert(printedPath(walk))
}

/** Whether both have parts that can be compared. */
const holdBoth = (before: Value, after: Side): boolean =>
  Array.isArray(before) ? Array.isArray(after) : isObject(before) && isObject(after)

const check = ({ path }: Walk, type: MergeType, before: Value): void =>
  checkTyped(type, before, { allowDuplicates: true, depth: path.length })

/** True if the values were compared as one. */
function compareAs(walk: Walk, type: MergeType, shape: Shape, before: Side, after: Side): boolean {
  switch (shape) {
    case 'scalar':
      return compareWhole(walk, type, before, after)
    case 'list': {
      const [left, right] = [listOrNone(before), listOrNone(after)]
      if (type.list!.type === 'atomic' || left.length + right.length === 0)
        return compareWhole(walk, type, before, after)
      compareItems(walk, type.list!, left, right)
      return false
    }
    case 'map': {
      const [left, right] = [objectOrNone(before), objectOrNone(after)]
      const names = Object.keys(left)
      const others = Object.keys(right)
      if (type.map!.isAtomic || names.length + others.length === 0) return compareWhole(walk, type, before, after)
      compareMembers(walk, type.map!, left, right, names, others)
      return false
    }
  }
}

const listOrNone = (value: Side): readonly Value[] => (Array.isArray(value) ? value : [])
const objectOrNone = (value: Side): ValueObject => (isObject(value) ? value : NO_MEMBERS)
const NO_MEMBERS: ValueObject = {}

function compareWhole(walk: Walk, type: MergeType, before: Side, after: Side): true {
  if (before === undefined) walk.added.insert(printedPath(walk))
  else if (after === undefined) walk.removed.insert(printedPath(walk))
  else if (!sameValue(before, after) || holdsGivenEmpty(after)) {
    check(walk, type, before)
    walk.modified.insert(printedPath(walk))
  }
  return true
}

/** Go compares atomic lists with reflection, for which an empty list or map in an item is not the same as none. */
const holdsGivenEmpty = (list: Value): boolean => Array.isArray(list) && hasGivenEmpty(list)

/** 1 and 1.0 are the same number. */
export function sameValue(a: Value, b: Value): boolean {
  if (isNumber(a) && isNumber(b)) return plainNumber(a) === plainNumber(b)
  return equalValues(a, b)
}

const plainNumber = (value: number | bigint | WholeFloat): number | bigint =>
  value instanceof WholeFloat ? value.value : value

function compareMembers(
  walk: Walk,
  map: MergeMap,
  before: ValueObject,
  after: ValueObject,
  names: readonly string[],
  others: readonly string[],
): void {
  let shared = 0
  for (const name of names) {
    const left = before[name]
    // An inherited property of JavaScript is not a member.
    if (left !== undefined && left === after[name]) shared++
    else {
      const right = getOwn(after, name)
      if (right !== undefined) shared++
      compareBelow(walk, name, map.field(name) ?? map.element ?? undeclaredMember(), left, right)
    }
  }
  if (shared === others.length) return
  for (const name of others) {
    if (!Object.hasOwn(before, name)) compareBelow(walk, name, memberType(map, name), undefined, after[name])
  }
}

function undeclaredMember(): never {
  throw new TypedError([undeclared()])
}

function compareBelow(walk: Walk, step: Step, type: MergeType, before: Side, after: Side): void {
  walk.path.push(step)
  compareAt(walk, type, before, after)
  walk.path.pop()
}

function compareItems(walk: Walk, list: MergeList, before: readonly Value[], after: readonly Value[]): void {
  // Most lists have not changed, which is found faster without their type.
  if (areAlike(before, after)) return
  if (areInStep(list, before, after)) {
    const { element } = list
    for (let i = 0; i < before.length; i++) {
      const item = before[i]!
      if (item !== after[i]) compareBelow(walk, { list, item }, element, item, after[i])
    }
    return
  }
  const ofLeft = byElement(list, before)
  const ofRight = byElement(list, after)
  for (const [element, items] of ofLeft) compareSame(walk, list, items, ofRight.get(element) ?? [])
  for (const [element, items] of ofRight) if (!ofLeft.has(element)) compareSame(walk, list, [], items)
}

/** True only if all parts are equal; false if that needs a closer comparison. */
function areAlike(a: Value | readonly Value[] | undefined, b: Value | readonly Value[] | undefined): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) if (!areAlike(a[i], b[i])) return false
    return true
  }
  if (!isObject(a as Value) || !isObject(b as Value)) return false
  return haveAlikeMembers(a as ValueObject, b as ValueObject)
}

function haveAlikeMembers(a: ValueObject, b: ValueObject): boolean {
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  for (const name of names) {
    const left = a[name]
    if (left === undefined || (left !== b[name] && !areAlike(left, getOwn(b, name)))) return false
  }
  return true
}

function byElement(list: MergeList, items: readonly Value[]): Map<PathElement, Value[]> {
  const result = new Map<PathElement, Value[]>()
  for (const [i, element] of elementsOf(list, items).entries()) {
    const same = result.get(element)
    if (same === undefined) result.set(element, [items[i]!])
    else same.push(items[i]!)
  }
  return result
}

/** Duplicate items cannot be matched with each other, so that they are compared as one value. */
function compareSame(walk: Walk, list: MergeList, before: Value[], after: Value[]): void {
  const [wasTwice, isTwice] = [before.length > 1, after.length > 1]
  const step: ListItem = { list, item: (before[0] ?? after[0])! }
  if (!wasTwice && !isTwice) return compareBelow(walk, step, list.element, before[0], after[0])
  const path = [...printedPath(walk), elementOf(list, step.item)]
  if (wasTwice && isTwice) {
    if (!equalValues(before, after)) walk.modified.insert(path)
  } else if (wasTwice) {
    if (after.length > 0) compareBelow(walk, step, list.element, undefined, after[0])
    walk.removed.insert(path)
  } else {
    if (before.length > 0) compareBelow(walk, step, list.element, before[0], undefined)
    walk.added.insert(path)
  }
}
