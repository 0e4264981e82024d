// The directives of a strategic merge patch: members that are not data but say how to merge.
import { getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { formatGo } from '../json/go-format.js'
import { isTreeObject, type Tree } from '../json/tree.js'
import { malformed, type PatchError, unclassified } from '../patch-error.js'

/** `$patch: replace | delete`, in an object or an item of a merged list. */
export const PATCH = '$patch'

/** `$retainKeys: [a, b]`: all other members of the object are removed. */
export const RETAIN_KEYS = '$retainKeys'

/** `$deleteFromPrimitiveList/finalizers: [a]` removes items from the list of scalars of that name. */
export const DELETE_FROM_LIST = '$deleteFromPrimitiveList'

/** `$setElementOrder/containers: [{name: a}, {name: b}]`: the order of the list of that name. */
export const SET_ORDER = '$setElementOrder'

/** The object after `$patch`. */
export function obeyPatchDirective(directive: Value, patch: ValueObject): ValueObject {
  if (directive === 'delete') return {}
  if (directive !== 'replace') throw unknownDirective(directive, patch)
  delete patch[PATCH]
  return patch
}

export const unknownDirective = (directive: Value, patch: ValueObject): PatchError =>
  unclassified(`unknown patch type: ${formatGo(directive, 's')} in map: ${formatGo(patch)}`)

/** Carries out `$retainKeys`: every member that the patch sets must be in its list. */
export function retainKeys(live: ValueObject, patch: ValueObject): void {
  const list = getOwn(patch, RETAIN_KEYS)
  if (list === undefined) return
  if (!Array.isArray(list)) throw badRetainKeys()
  const retained = new Set(list)
  for (const key of Object.keys(patch)) {
    const free = key === RETAIN_KEYS || key.startsWith(DELETE_FROM_LIST) || key.startsWith(SET_ORDER)
    if (!free && patch[key] !== null && !retained.has(key)) throw badRetainKeys()
  }
  for (const key of Object.keys(live)) if (!retained.has(key)) delete live[key]
  delete patch[RETAIN_KEYS]
}

const badRetainKeys = (): PatchError => malformed('invalid patch format of retainKeys')

/** The list that `$setElementOrder/ports` or `$deleteFromPrimitiveList/ports` is about: `ports`. */
export function listBeside(key: string, directive: typeof DELETE_FROM_LIST | typeof SET_ORDER): string {
  if (key.startsWith(`${directive}/`)) return key.slice(directive.length + 1)
  throw malformed(`invalid patch format of ${directive === SET_ORDER ? 'setElementOrder list' : 'primitive list'}`)
}

/**
 * A value of a patch where there is nothing to merge it with: without objects that have `$patch`. Undefined if it is such
 * an object itself. (Other directives stay and are unknown fields of the result.) The objects of the patch are changed:
 * messages that quote it show it without them.
 */
export function withoutDirectives(value: Value): Value | undefined {
  if (isDirective(value)) return undefined
  const kept = withoutMarked(value)
  const pending: Value[] = [kept]
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (Array.isArray(part)) {
      for (const [i, item] of part.entries()) pending.push((part[i] = withoutMarked(item)))
    } else if (isObject(part)) {
      for (const key of Object.keys(part)) {
        const member = part[key]!
        if (isDirective(member)) delete part[key]
        else pending.push((part[key] = withoutMarked(member)))
      }
    }
  }
  return kept
}

const withoutMarked = (value: Value): Value => (Array.isArray(value) ? value.filter(item => !isDirective(item)) : value)

const isDirective = (part: Tree): boolean => isTreeObject(part) && Object.hasOwn(part, PATCH)

/** Removes the nulls that have nothing to remove, from the patch itself: messages that quote it show it without them. */
export function dropNulls(value: Value): void {
  const pending: Value[] = [value]
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (Array.isArray(part)) for (const item of part) pending.push(item)
    else if (isObject(part)) {
      for (const key of Object.keys(part)) {
        if (part[key] === null) delete part[key]
        else pending.push(part[key]!)
      }
    }
  }
}

export const isMarked = (item: Value): boolean => isObject(item) && Object.hasOwn(item, PATCH)
