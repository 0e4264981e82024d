// Walks over values without recursion: values may be 10,000 levels deep, and a patch may make them deeper, so that
// every walk keeps its own stack.
import { compareTexts } from '../../meta/go/go-text.js'
import { setOwn, type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'

/** The depth up to which the decoders accept values. */
export const MAX_DEPTH = 10_000

/** A scalar that a client spelled differently from the server: `1.0`, `"<b>"`. */
export class Spelled {
  constructor(
    readonly value: Leaf,
    readonly text: string,
  ) {}
}

export type Leaf = null | boolean | string | number | bigint | WholeFloat

/** A value in which scalars may have a spelling. Every Value is a Tree. */
export type Tree = Leaf | Spelled | Tree[] | TreeObject

export interface TreeObject {
  [key: string]: Tree
}

export const isTreeObject = (tree: Tree | undefined): tree is TreeObject =>
  typeof tree === 'object' &&
  tree !== null &&
  !Array.isArray(tree) &&
  !(tree instanceof WholeFloat) &&
  !(tree instanceof Spelled)

export interface CopyOptions {
  /** Leaves out a member of an object or an item of a list. */
  omit?: (part: Tree, of: 'object' | 'list') => boolean
  /** The scalar in the copy. */
  leaf?: (leaf: Leaf | Spelled) => Leaf | Spelled
  /** The objects whose members are in the order of their names in the copy. */
  sorted?: ReadonlySet<unknown>
}

/** A deep copy. */
export function copyTree(tree: Tree, { omit, leaf, sorted }: CopyOptions = {}): Tree {
  const pending: [from: Tree[] | TreeObject, to: Tree[] | TreeObject][] = []
  const begin = (part: Tree): Tree => {
    if (!Array.isArray(part) && !isTreeObject(part)) return leaf === undefined ? part : leaf(part)
    const copy = Array.isArray(part) ? [] : {}
    pending.push([part, copy])
    return copy
  }
  const root = begin(tree)
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [from, to] = next
    if (Array.isArray(from)) {
      for (const item of from) if (!omit?.(item, 'list')) (to as Tree[]).push(begin(item))
    } else {
      const keys = Object.keys(from)
      for (const key of sorted?.has(from) ? keys.toSorted(compareTexts) : keys) {
        const member = from[key]!
        if (!omit?.(member, 'object')) setMember(to as TreeObject, key, begin(member))
      }
    }
  }
  return root
}

/** A copy of the tree as a value, without spellings. */
export const materialize = (tree: Tree): Value =>
  copyTree(tree, { leaf: leaf => (leaf instanceof Spelled ? leaf.value : leaf) }) as Value

/**
 * A copy in the order of kube-apiserver's text. What a patch opens is a map there, which is printed in the order of its names;
 * what it does not reach stays text.
 */
export const inItsOrder = <T extends Tree>(tree: T, opened: ReadonlySet<unknown> | undefined): T =>
  opened === undefined ? tree : (copyTree(tree, { sorted: opened }) as T)

export const copyOf = <T extends Value>(value: T): T => copyTree(value) as T

/** A copy that has one member in common with the object. */
export function copySharing(object: ValueObject, shared: string | undefined): ValueObject {
  const copy: ValueObject = {}
  for (const key of Object.keys(object)) setOwn(copy, key, key === shared ? object[key]! : copyOf(object[key]!))
  return copy
}

/** Adds all objects in the tree to the set. */
export function addObjects(tree: Tree, found: Set<unknown>): void {
  const pending = [tree]
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (isTreeObject(part)) found.add(part)
    if (Array.isArray(part) || isTreeObject(part)) for (const member of Object.values(part)) pending.push(member)
  }
}

/** True if lists and objects are nested more than `limit` levels deep. */
export function isDeeperThan(tree: Tree, limit: number): boolean {
  let level: Tree[] = [tree]
  for (let depth = 0; level.length > 0; depth++) {
    const below: Tree[] = []
    for (const part of level) {
      if (!Array.isArray(part) && !isTreeObject(part)) continue
      if (depth >= limit) return true
      for (const child of Array.isArray(part) ? part : Object.values(part)) {
        if (typeof child === 'object' && child !== null) below.push(child)
      }
    }
    level = below
  }
  return false
}

/** `setOwn` for trees. */
export const setMember = (object: TreeObject, key: string, member: Tree): void =>
  setOwn(object as ValueObject, key, member as Value)

export const getMember = (object: TreeObject, key: string): Tree | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined
