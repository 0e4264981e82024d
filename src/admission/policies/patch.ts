// What the expression of a mutation evaluates to, applied to the object: an Object that is merged into it by its type,
// or the operations of a JSON Patch.

import { MergeError, mergeConfiguration } from '../../apply/merge-configuration.js'
import { PatchObject, PatchOperation } from '../../builtin/patch-expressions.js'
import {
  type Value as CelValue,
  Double,
  Duration,
  isList,
  itemsOf,
  MapValue,
  OptionalValue,
  Timestamp,
  toPlain,
  Uint,
  WorkBudget,
} from '../../cel/index.js'
import type { Kind, KindVersion } from '../../kinds/kind.js'
import { internalError, StatusError } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import { groupVersionKind, printGroupVersion, printGroupVersionKind } from '../../meta/group-version.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { checkChange } from '../../meta/object/value-limit.js'
import { stringAt } from '../../meta/values/access.js'
import { copyValue, isObject, setOwn, type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'
import { applyJsonPatch, parseJsonPatch } from '../../patch/json-patch.js'
import { PatchError } from '../../patch/patch-error.js'
import type { Type } from '../../types/type.js'
import { builtinTypes } from '../../types/type-table.js'

/** The mutation cannot be applied; the failure policy decides what follows. */
export class MutationError extends Error {}

export interface PatchTarget {
  /** In the version that the rules of the policy have matched. */
  readonly object: ApiObject
  /** The stored kind of the resource, if there is one. */
  readonly storedKind: Kind | undefined
  readonly findKind: (group: string, kind: string) => Kind | undefined
}

/** The object with the configuration merged into it, and defaults. */
export function applyObject(value: CelValue, target: PatchTarget): ApiObject {
  if (!(value instanceof PatchObject))
    throw new MutationError('unsupported return type from ApplyConfiguration expression')
  const budget = new WorkBudget(MAX_MADE)
  checkTypeNames(value, budget)
  const { object } = target
  const { apiVersion, kind } = object
  const applied = { ...(jsonOf(value, { budget, wholeFloats: true }) as ValueObject), apiVersion, kind }
  checkChange(applied, object)
  const type = typeOf(target)
  if (!type) throw notFound(object)
  try {
    return decode(mergeConfiguration(type, object, applied), target)
  } catch (error) {
    if (error instanceof MergeError) throw new MutationError(`error applying patch: ${error.message}`)
    throw error
  }
}

/** The patched object, with defaults; the object itself if an operation `test` fails. */
export function applyOperations(value: CelValue, target: PatchTarget): ApiObject {
  const budget = new WorkBudget(MAX_MADE)
  const operations = isList(value) ? Array.from(itemsOf(value, budget), each => operationOf(each, budget)) : []
  checkChange(operations, target.object)
  let patched: Value
  try {
    patched = applyJsonPatch(target.object, parseJsonPatch(operations, { fieldValidation: 'Ignore' }))
  } catch (error) {
    if (!(error instanceof PatchError)) throw error
    if (error.detail.endsWith(': test failed')) return target.object
    throw new MutationError(`JSON Patch: ${error.detail}`)
  }
  return decode(patched, target)
}

function operationOf(operation: CelValue, budget: WorkBudget): ValueObject {
  if (!(operation instanceof PatchOperation)) {
    throw new MutationError('type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch')
  }
  const text = (name: string): string => {
    const value = operation.get(name)
    return typeof value === 'string' ? value : ''
  }
  const from = text('from')
  const value = operation.get('value')
  if (value instanceof PatchObject) checkTypeNames(value, budget)
  return {
    op: text('op'),
    path: text('path'),
    ...(from !== '' && { from }),
    ...(value !== undefined && { value: jsonOf(value, { budget, wholeFloats: false }) }),
  }
}

// ---- values of expressions as JSON

interface JsonOptions {
  /** A list that was doubled repeatedly can be endless, and so can a map that has another one twice. */
  readonly budget: WorkBudget
  /** Whether 1.0 stays a float. In JSON it is printed like an integer. */
  readonly wholeFloats: boolean
}

/** How many values an expression may make. An object can hardly have as many. */
const MAX_MADE = 500_000
/** More than any kind has. */
const MAX_DEPTH = 1000

const tooDeep = (): MutationError => new MutationError(`the value is nested more than ${MAX_DEPTH} levels deep`)

function jsonOf(value: CelValue, options: JsonOptions, depth = 0): Value {
  if (depth > MAX_DEPTH) throw tooDeep()
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return value
  if (value instanceof Uint) return value.value <= Number.MAX_SAFE_INTEGER ? Number(value.value) : value.value
  if (value instanceof Double) {
    return Number.isInteger(value.value) && options.wholeFloats ? new WholeFloat(value.value) : value.value
  }
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof Timestamp) return (toPlain(value) as Date).toISOString().replace('.000Z', 'Z')
  if (value instanceof Duration) return toPlain(value) as string
  if (value instanceof OptionalValue) return value.value === undefined ? null : jsonOf(value.value, options, depth + 1)
  if (isList(value)) return Array.from(itemsOf(value, options.budget), item => jsonOf(item, options, depth + 1))
  const json: ValueObject = {}
  if (value instanceof PatchObject) {
    options.budget.charge(value.fields.size)
    for (const [name, field] of value.fields) setOwn(json, name, jsonOf(field, options, depth + 1))
    return json
  }
  if (value instanceof MapValue) {
    options.budget.charge(value.size)
    for (const key of value.keys()) {
      if (typeof key !== 'string') throw new MutationError('map keys must be strings')
      setOwn(json, key, jsonOf(value.get(key)!, options, depth + 1))
    }
    return json
  }
  throw new MutationError('the expression evaluated to a type that could not marshal to JSON')
}

const MAX_ERRORS = 1000

/** The type of an Object below a field is named by the path of the field: `Object.spec.template`. */
function checkTypeNames(object: PatchObject, budget: WorkBudget): void {
  const errors: string[] = []
  const visit = (value: CelValue, path: string, depth = 0): void => {
    if (depth > MAX_DEPTH) throw tooDeep()
    if (value instanceof PatchObject) {
      const { name } = value.type
      if (name !== path && errors.length < MAX_ERRORS) {
        errors.push(
          `unexpected type name ${quote(name)}, expected ${quote(path)}, which matches field name path from root Object type`,
        )
      }
      budget.charge(value.fields.size)
      for (const [field, below] of value.fields) visit(below, `${path}.${field}`, depth + 1)
    } else if (isList(value)) {
      for (const item of itemsOf(value, budget)) visit(item, path, depth + 1)
    } else if (value instanceof MapValue) {
      budget.charge(value.size)
      for (const key of value.keys()) visit(value.get(key)!, path, depth + 1)
    }
  }
  visit(object, object.type.name)
  if (errors.length > 0) throw new MutationError(`type mismatch: ${errors.join('\n')}`)
}

// ---- the changed object

/** The stored kind in the version of the object, unless the object is of another kind, such as a Scale. */
function versionOf({ apiVersion, kind }: ApiObject, storedKind: Kind | undefined): KindVersion | undefined {
  if (storedKind?.names.kind !== kind) return undefined
  return storedKind.versions.find(
    ({ name }) => printGroupVersion({ group: storedKind.group, version: name }) === apiVersion,
  )
}

function typeOf({ object, storedKind }: PatchTarget): Type | undefined {
  return versionOf(object, storedKind)?.type ?? builtinTypes().ofKind(object.apiVersion, object.kind)
}

function notFound({ apiVersion, kind }: ApiObject): MutationError {
  return new MutationError(`Resource kind ${printGroupVersionKind(groupVersionKind(apiVersion, kind))} not found.`)
}

/** The value as an object of the kind, with defaults. Fields that a built-in kind does not have are an error. */
function decode(value: Value, { object, storedKind, findKind }: PatchTarget): ApiObject {
  if (!isObject(value)) throw internalError('the patch leaves no object')
  checkChange(value, object)
  const { group, kind } = groupVersionKind(stringAt(value, 'apiVersion'), stringAt(value, 'kind'))
  const isSame = value.apiVersion === object.apiVersion && value.kind === object.kind
  const version = isSame ? versionOf(object, storedKind) : versionOf(value as ApiObject, findKind(group, kind))
  if (!version) {
    if (isSame) return value as ApiObject
    throw internalError(`no kind ${quote(kind)} is registered for version ${quote(stringAt(value, 'apiVersion'))}`)
  }
  const { decoded, strict } = decodeBy(version, value)
  if (strict.length > 0 && version.type.dialect === 'go') {
    throw internalError(`strict decoding error: ${strict.join(', ')}`)
  }
  if (!isSame) throw internalError(`failed to convert object: ${kind} is not a ${object.kind}`)
  return version.strategy.applyDefaults(copyValue(decoded))
}

function decodeBy({ strategy }: KindVersion, value: Value): { decoded: ApiObject; strict: readonly string[] } {
  try {
    const { object, strict, refused } = strategy.decode(value, [])
    if (refused) throw refused
    return { decoded: object, strict }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    // Only the cause: the rest of the message is about the body of a request.
    const { message } = error
    const about = message.indexOf(' cannot be handled as a ')
    const cause = about === -1 ? -1 : message.indexOf(': ', about)
    throw internalError(cause === -1 ? message : message.slice(cause + 2))
  }
}
