// Sets of fields as managedFields hold them: an object of objects whose keys are the steps. `.` says that the step
// above it is a member itself, in addition to those below it.
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { MAX_DEPTH } from '../typed/typed-errors.js'
import { parseElement, sortElements } from './field-path.js'
import { EMPTY, type FieldNode, type FieldSet, fieldNode } from './field-set.js'

const SELF = '.'

/** The deepest object that is accepted: its members, and a step for each item. */
const MAX_FIELDS_DEPTH = MAX_DEPTH + 10

export const encodeFieldsV1 = (set: FieldSet): ValueObject => encodeInto({}, set)

function encodeInto(result: ValueObject, set: FieldSet): ValueObject {
  for (const element of sortElements(set.keys())) {
    const { isMember, below } = set.get(element)!
    if (below.size === 0) result[element] = {}
    else result[element] = encodeInto(isMember ? { [SELF]: {} } : {}, below)
  }
  return result
}

/** Undefined for a value that is no such object. */
export function decodeFieldsV1(value: Value | undefined): FieldSet | undefined {
  if (value === undefined || value === null) return EMPTY
  return decodeLevel(value, 0)?.below
}

function decodeLevel(value: Value, depth: number): FieldNode | undefined {
  if (!isObject(value) || depth > MAX_FIELDS_DEPTH) return undefined
  let isMember = false
  const below = new Map<string, FieldNode>()
  for (const key of Object.keys(value)) {
    if (key === SELF) {
      isMember = true
      continue
    }
    const element = parseElement(key)
    const node = element === undefined ? undefined : decodeLevel(value[key]!, depth + 1)
    if (element === undefined || node === undefined) return undefined
    // A step with nothing below it is a member.
    below.set(element, node.isMember || node.below.size > 0 ? node : fieldNode(true, EMPTY))
  }
  return { isMember, below: below.size === 0 ? EMPTY : below }
}
