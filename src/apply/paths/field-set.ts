// Sets of paths into an object, as a tree: each step may be a member itself, and may have members below. Sets are
// immutable. An operation that changes nothing returns the same set, and other results share their unchanged parts.

import type { MergeType } from '../../types/merge.js'
import { type FieldPath, fieldName, isKeyElement, type PathElement, sortElements } from './field-path.js'

/** Every node is a member or has members below. */
export type FieldSet = ReadonlyMap<PathElement, FieldNode>

export interface FieldNode {
  readonly isMember: boolean
  readonly below: FieldSet
}

export const EMPTY: FieldSet = new Map()

export const isEmpty = (set: FieldSet): boolean => set.size === 0

const LEAF: FieldNode = { isMember: true, below: EMPTY }

export const fieldNode = (isMember: boolean, below: FieldSet): FieldNode =>
  isMember && below.size === 0 ? LEAF : { isMember, below }

export function fieldSet(...paths: readonly FieldPath[]): FieldSet {
  const builder = setBuilder()
  for (const path of paths) builder.insert(path)
  return builder.build()
}

/** Collects paths into a set that is built at the end. */
export interface SetBuilder {
  insert(path: FieldPath): void
  build(): FieldSet
}

export function setBuilder(): SetBuilder {
  interface Open {
    isMember: boolean
    below: FieldSet
  }
  const root: Map<PathElement, Open> = new Map()
  /** Most members have nothing below them, and need no map for it. */
  const opened = (node: Open): Map<PathElement, Open> => {
    if (node.below === EMPTY) node.below = new Map()
    return node.below as Map<PathElement, Open>
  }
  return {
    insert(path) {
      let node: Open | undefined
      for (const element of path) {
        const level: Map<PathElement, Open> = node === undefined ? root : opened(node)
        node = level.get(element)
        if (node === undefined) {
          node = { isMember: false, below: EMPTY }
          level.set(element, node)
        }
      }
      if (node) node.isMember = true
    },
    build: () => root,
  }
}

export function hasPath(set: FieldSet, path: FieldPath): boolean {
  let node: FieldNode | undefined
  let level = set
  for (const element of path) {
    node = level.get(element)
    if (node === undefined) return false
    level = node.below
  }
  return node?.isMember ?? false
}

export const below = (set: FieldSet, element: PathElement): FieldSet => set.get(element)?.below ?? EMPTY

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || b.size === 0) return a
  if (a.size === 0) return b
  let result: Map<PathElement, FieldNode> | undefined
  for (const [element, right] of b) {
    const left = a.get(element)
    const node = left === undefined ? right : joined(left, right)
    if (node === left) continue
    result ??= new Map(a)
    result.set(element, node)
  }
  return result ?? a
}

/** The union of many sets: pairs, then pairs of pairs, so that the time is not the square of their number. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  let level = sets
  while (level.length > 1) {
    const next: FieldSet[] = []
    for (let i = 0; i < level.length; i += 2) next.push(union(level[i]!, level[i + 1] ?? EMPTY))
    level = next
  }
  return level[0] ?? EMPTY
}

function joined(left: FieldNode, right: FieldNode): FieldNode {
  const deeper = union(left.below, right.below)
  if (deeper === left.below && (left.isMember || !right.isMember)) return left
  return fieldNode(left.isMember || right.isMember, deeper)
}

/** The members of `a` that are not members of `b`; members below a member of `b` stay. */
export const difference = (a: FieldSet, b: FieldSet): FieldSet => without(a, b, false)

/** The members of `a` that are neither members of `b` nor below one. */
export const recursiveDifference = (a: FieldSet, b: FieldSet): FieldSet => without(a, b, true)

function without(a: FieldSet, b: FieldSet, withAllBelow: boolean): FieldSet {
  if (a.size === 0 || b.size === 0) return a
  let result: Map<PathElement, FieldNode> | undefined
  for (const [element, right] of b) {
    const left = a.get(element)
    if (left === undefined) continue
    const gone = right.isMember && withAllBelow
    const deeper = gone ? EMPTY : without(left.below, right.below, withAllBelow)
    const isMember = left.isMember && !right.isMember
    if (!gone && deeper === left.below && isMember === left.isMember) continue
    result ??= new Map(a)
    if (isMember || deeper.size > 0) result.set(element, fieldNode(isMember, deeper))
    else result.delete(element)
  }
  return result ?? a
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || a.size === 0) return a
  if (b.size === 0) return EMPTY
  const result = new Map<PathElement, FieldNode>()
  let isSame = true
  for (const [element, left] of a) {
    const right = b.get(element)
    const deeper = right === undefined ? EMPTY : intersection(left.below, right.below)
    const isMember = left.isMember && right !== undefined && right.isMember
    if (deeper !== left.below || isMember !== left.isMember) isSame = false
    if (isMember || deeper.size > 0) result.set(element, fieldNode(isMember, deeper))
  }
  return isSame ? a : result
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  if (a.size !== b.size) return false
  for (const [element, left] of a) {
    const right = b.get(element)
    if (right === undefined || left.isMember !== right.isMember || !equalSets(left.below, right.below)) return false
  }
  return true
}

/** The members that have no members below. */
export function leaves(set: FieldSet): FieldSet {
  const result = new Map<PathElement, FieldNode>()
  for (const [element, node] of set) {
    result.set(element, node.below.size === 0 ? node : fieldNode(false, leaves(node.below)))
  }
  return result
}

/** All members in order: at each level its own members come before those below. */
export function* pathsOf(set: FieldSet, within: FieldPath = []): Generator<FieldPath> {
  const elements = sortElements(set.keys())
  for (const element of elements) if (set.get(element)!.isMember) yield [...within, element]
  for (const element of elements) {
    const deeper = set.get(element)!.below
    if (deeper.size > 0) yield* pathsOf(deeper, [...within, element])
  }
}

/**
 * The set with every declared field on the way to a member as a member too. Declared fields exist by their type and are
 * not owned on their own, so that a manager that removes all members below one removes it as well.
 */
export function withDeclaredFields(set: FieldSet, type: MergeType | undefined): FieldSet {
  let result: Map<PathElement, FieldNode> | undefined
  for (const [element, node] of set) {
    if (node.below.size === 0) continue
    const name = fieldName(element)
    const declared = name === undefined ? undefined : type?.map?.field(name)
    const inner =
      name === undefined ? (isKeyElement(element) ? type?.list?.element : undefined) : (declared ?? type?.map?.element)
    const deeper = withDeclaredFields(node.below, inner)
    const isMember = node.isMember || declared !== undefined
    if (deeper === node.below && isMember === node.isMember) continue
    result ??= new Map(set)
    result.set(element, fieldNode(isMember, deeper))
  }
  return result ?? set
}
