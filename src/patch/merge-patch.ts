// JSON Merge Patch (RFC 7386) as Kubernetes applies it. It differs from the RFC: nulls inside lists of objects are
// dropped too, unless the list replaces an object, and a patch must be an object.
import { getOwn, isObject, setOwn, type Value, type ValueObject } from '../meta/values/value.js'
import { type FieldValidation, INVALID_MERGE_PATCH, undecodable } from './field-validation.js'
import { addObjects, copyOf, copySharing, copyTree, inItsOrder, type Tree } from './json/tree.js'
import { jsonTypeName, malformed } from './patch-error.js'

/** Parses a decoded body. It may be a list, which replaces the object, only if fields are not validated. */
export function parseMergePatch(body: Value, fieldValidation: FieldValidation = 'Warn'): ValueObject | Value[] {
  if (isObject(body)) return body
  if (body !== null && fieldValidation !== 'Ignore') {
    throw undecodable(`json: cannot unmarshal ${jsonTypeName(body)} into Go value of type map[string]interface {}`)
  }
  if (Array.isArray(body)) return body
  throw malformed(INVALID_MERGE_PATCH)
}

/**
 * The patched value. Neither the value nor the patch is changed. The result shares nothing with the patch, and with the value
 * only the member `shared`, if the patch does not have it.
 */
export const applyMergePatch = (value: Value, patch: ValueObject | Value[], shared?: string): Value =>
  merge(value, patch, { shared })

/** The same with its members in the order of kube-apiserver. */
export function mergePatchInItsOrder(value: Value, patch: ValueObject | Value[]): Value {
  const opened = new Set<unknown>()
  return inItsOrder(merge(value, patch, { opened }), opened)
}

interface MergeOptions {
  readonly shared?: string | undefined
  /** Is given the objects that kube-apiserver decodes. */
  readonly opened?: Set<unknown>
}

function merge(value: Value, patch: ValueObject | Value[], { shared, opened }: MergeOptions): Value {
  if (!isObject(value) || Array.isArray(patch)) return withoutNulls(patch, opened)
  const result = copySharing(value, shared !== undefined && Object.hasOwn(patch, shared) ? undefined : shared)
  const pending: [target: ValueObject, patch: ValueObject][] = [[result, patch]]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [target, changes] = next
    opened?.add(target)
    for (const key of Object.keys(changes)) {
      const change = changes[key]!
      const current = getOwn(target, key)
      if (change === null) delete target[key]
      else if (!isObject(current)) setOwn(target, key, withoutNulls(change, opened))
      else if (isObject(change)) pending.push([current, change])
      else setOwn(target, key, copyOf(change))
    }
  }
  return result
}

function withoutNulls(value: Value, opened: Set<unknown> | undefined): Value {
  const copy = copyTree(value, { omit: isNullMember })
  if (opened !== undefined) addObjects(copy, opened)
  return copy as Value
}

const isNullMember = (part: Tree, of: 'object' | 'list'): boolean => part === null && of === 'object'
