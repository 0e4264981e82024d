// Strategic merge patch: a merge patch with types, so that lists can be merged item by item. Objects merge member by
// member, null removes; lists are replaced unless their field declares `merge`.
import { getOwn, isObject, setOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import type { Type } from '../../types/type.js'
import { goTypeName } from '../json/go-format.js'
import { copyOf, copySharing } from '../json/tree.js'
import { jsonTypeName, malformed } from '../patch-error.js'
import {
  DELETE_FROM_LIST,
  dropNulls,
  listBeside,
  obeyPatchDirective,
  PATCH,
  RETAIN_KEYS,
  retainKeys,
  SET_ORDER,
  withoutDirectives,
} from './directives.js'
import { listMemberOf, memberOf } from './member.js'
import { type MergeItems, mergeLists, takeFromList } from './merge-lists.js'
import { mergeInOrder } from './ordered-lists.js'

/** How many levels of objects a patch may merge; deeper patches are refused. No built-in type is nearly as deep. */
export const MAX_MERGED_LEVELS = 500

/** Parses a decoded body. `null` changes nothing. */
export function parseStrategicMergePatch(body: Value): ValueObject {
  if (body === null) return {}
  if (isObject(body)) return body
  throw malformed(`json: cannot unmarshal ${jsonTypeName(body)} into Go value of type map[string]interface {}`)
}

/** The patched object. Neither argument is changed, and the result shares nothing with them. */
export const applyStrategicMergePatch = (object: ValueObject, patch: ValueObject, type: Type): ValueObject =>
  applyOwnPatch(object, copyOf(patch), type)

/**
 * The same with a patch that may be changed: directives that were carried out are removed from it. The result shares the
 * member `shared` with the object, if the patch does not concern it.
 */
export function applyOwnPatch(object: ValueObject, patch: ValueObject, type: Type, shared?: string): ValueObject {
  const isConcerned = Object.keys(patch).some(key => key === shared || key.startsWith('$'))
  return mergeObjects(copySharing(object, isConcerned ? undefined : shared), patch, type, 0)
}

/** Merges `patch` into `live`. Both may be changed, and the result consists of their parts. */
function mergeObjects(live: ValueObject, patch: ValueObject, type: Type, level: number): ValueObject {
  if (level > MAX_MERGED_LEVELS) {
    throw malformed(`a strategic merge patch cannot merge objects more than ${MAX_MERGED_LEVELS} levels deep`)
  }
  const directive = getOwn(patch, PATCH)
  if (directive !== undefined) return obeyPatchDirective(directive, patch)
  retainKeys(live, patch)

  const below: MergeItems = (item, change, itemType) => mergeObjects(item, change, itemType, level + 1)
  const ordered = new Set<string>()
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(SET_ORDER)) continue
    const name = mergeInOrder(key, patch[key]!, live, patch, type, below)
    delete patch[key]
    if (name !== undefined) ordered.add(name)
  }
  for (const key of Object.keys(patch)) {
    const change = patch[key]!
    if (key.startsWith(DELETE_FROM_LIST)) deleteItems(live, listBeside(key, DELETE_FROM_LIST), change, type, below)
    else if (key !== RETAIN_KEYS && !key.startsWith(SET_ORDER) && !ordered.has(key)) {
      mergeMember(live, key, change, type, below)
    }
  }
  return live
}

function mergeMember(live: ValueObject, key: string, change: Value, type: Type, below: MergeItems): void {
  const current = getOwn(live, key)
  if (change === null) {
    delete live[key]
  } else if (!isSameType(current, change)) {
    dropNulls(change)
    const value = withoutDirectives(change)
    if (value === undefined) delete live[key]
    else setOwn(live, key, value)
  } else if (isObject(current) && isObject(change)) {
    const member = memberOf(type, key)
    setOwn(live, key, member.strategy === 'replace' ? change : below(current, change, member.type))
  } else if (Array.isArray(current) && Array.isArray(change)) {
    const member = listMemberOf(type, key)
    setOwn(live, key, member.strategy === 'merge' ? mergeLists(current, change, member, below).items : change)
  } else setOwn(live, key, change)
}

/** `$deleteFromPrimitiveList/key`. Without such a list, or with an invalid directive, nothing happens. */
function deleteItems(live: ValueObject, key: string, gone: Value, type: Type, below: MergeItems): void {
  const current = getOwn(live, key)
  if (key === '' || current === undefined || (gone !== null && !isSameType(current, gone))) return
  if (Array.isArray(current) && Array.isArray(gone)) {
    setOwn(live, key, takeFromList(current, gone, listMemberOf(type, key), below))
  } else mergeMember(live, key, gone, type, below)
}

const isSameType = (current: Value | undefined, change: Value): boolean =>
  current !== undefined && goTypeName(current) === goTypeName(change)
