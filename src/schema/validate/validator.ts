// Validation of values: a schema compiled, node by node and on first use, into functions of a value. The order of the
// checks is fixed, and messages are those of kube-apiserver. Errors that a node finds on an update are tolerated as a
// whole where its value did not change (ratcheting).
import { fieldInvalid, fieldRequired, fieldTooMany } from '../../meta/errors/field-errors.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { NO_CHECKS, type Schema, type ValueChecks } from '../structure/structural.js'
import { correlatedItem, correlatedMember, isUnchanged } from './correlate.js'
import { spendChecks } from './effort.js'
import { enumCheck } from './enums.js'
import { isChecked, isKnownFormat } from './formats.js'
import { junctorCheck } from './junctors.js'
import { isNumberValue, numberCheck } from './numbers.js'
import { fieldOf, isFull, type Run, relativePath, report, type Validator } from './run.js'
import { textCheck } from './texts.js'
import { checkType, quickTypeCheck, typesOf } from './type.js'

/** The validator of a schema, compiled when it is first used. */
export function validatorOf(schema: Schema): Validator {
  const node = nodeOf(schema)
  return (value, run) => {
    node.validator ??= compile(schema)
    node.validator(value, run)
  }
}

/** A schema and, once it was used, its validator. */
interface Node {
  readonly schema: Schema
  validator: Validator | undefined
}

const nodeOf = (schema: Schema): Node => ({ schema, validator: undefined })

function compile(schema: Schema): Validator {
  const { checks, extensions, properties, items, additionalProperties, type, nullable } = schema
  const isPlain = items === undefined && additionalProperties === undefined && properties.size === 0
  if (!isPlain || !isSharedChecks(checks)) return compileNode(schema)
  // Most nodes are scalars with a type and no other keyword: they share one validator for each type.
  const name = `${nullable ? '?' : ''}${extensions.intOrString ? 'int-or-string' : type}`
  let shared = plainValidators.get(name)
  if (shared === undefined) {
    shared = compileNode({ ...schema, default: undefined, title: '', description: '' })
    if (plainValidators.size < MAX_PLAIN) plainValidators.set(name, shared)
  }
  return shared
}

const isSharedChecks = (checks: ValueChecks): boolean => checks === NO_CHECKS

const plainValidators = new Map<string, Validator>()
const MAX_PLAIN = 32

function compileNode(schema: Schema): Validator {
  const types = typesOf(schema)
  const onlyType = types.length === 1 ? types[0]! : ''
  const { nullable } = schema
  // Formats that are not for the type are ignored.
  const isCounted = schema.checks.format === '' || isChecked(types, schema.checks)
  const checks = isCounted ? schema.checks : { ...schema.checks, format: '' }
  const { format } = checks
  // In defaults, types are compared by formats that are not known, too.
  const typeFormat = schema.checks.formatOfAnyType ? schema.checks.format : format
  const typed = types.length > 0 || format !== ''
  const fits = quickTypeCheck(types)
  const junctors = junctorCheck(schema, validatorOf)
  const text = textCheck(checks)
  const number = numberCheck(onlyType, isKnownFormat(onlyType, format) ? checks : { ...checks, format: '' })
  const allowed = checks.enum.length > 0 ? enumCheck(checks.enum) : undefined
  const list = listCheck(schema)
  const object = objectCheck(schema)

  const look: Validator = (value, run) => {
    if (value === null) {
      if (checkType(run, value, types, typeFormat, nullable)) run.matches++
      allowed?.(run, value)
      return
    }
    // Every check that applies counts, and those that can be passed count once more.
    run.matches += BASE_MATCHES
    if (typed) {
      run.matches++
      if (fits(value) || checkType(run, value, types, typeFormat, nullable)) run.matches++
    }
    if (junctors !== undefined) junctors(value, run)
    if (typeof value === 'string') {
      run.matches += format === '' ? 1 : 2
      if (text !== undefined) text(run, value)
    } else if (Array.isArray(value)) {
      run.matches += 2
      if (list !== undefined) list(value, run)
    } else if (isNumberValue(value)) {
      run.matches += 2
      if (number !== undefined) number(run, value)
    }
    if (allowed !== undefined) allowed(run, value)
    if (isObject(value)) {
      run.matches++
      if (object !== undefined) object(value, run)
    }
  }

  return (value, run) => {
    const { old } = run
    if (old === undefined) return look(value, run)
    const found = run.errors.length
    look(value, run)
    // Ratcheting: errors of a value that did not change are tolerated.
    if (run.errors.length > found && isUnchanged(old)) run.errors.length = found
  }
}

/** The junctors' own count, the enum's, and the node's. */
const BASE_MATCHES = 4

/** Undefined if every list is valid. */
function listCheck({ items, checks }: Schema): ((value: readonly Value[], run: Run) => void) | undefined {
  const { minItems, maxItems } = checks
  if (items === undefined && minItems === undefined && maxItems === undefined) return undefined
  const item = items === undefined ? undefined : nodeOf(items)
  return (value, run) => {
    const { length } = value
    if (item !== undefined && length > 0) {
      item.validator ??= compile(item.schema)
      spendChecks(run.effort, length)
      const { old } = run
      const step = run.path.length
      for (let i = 0; i < length && !isFull(run); i++) {
        run.path[step] = i
        if (old !== undefined) run.old = correlatedItem(old, i)
        item.validator(value[i]!, run)
      }
      run.path.length = step
      run.old = old
    }
    if (minItems !== undefined && length < minItems) {
      const path = relativePath(run)
      report(run, fieldInvalid(fieldOf(run, path), length, `${path} in body should have at least ${minItems} items`))
    }
    if (maxItems !== undefined && length > maxItems) {
      report(run, fieldTooMany(fieldOf(run, relativePath(run)), length, maxItems))
    }
  }
}

/** Undefined if every object is valid. */
function objectCheck(schema: Schema): ((value: ValueObject, run: Run) => void) | undefined {
  const { properties, additionalProperties, checks } = schema
  const { minProperties, maxProperties, required } = checks
  const members = new Map<string, Node>()
  for (const [key, property] of properties) members.set(key, nodeOf(property))
  const others = typeof additionalProperties === 'object' ? nodeOf(additionalProperties) : undefined
  const looksAtMembers = members.size > 0 || others !== undefined || additionalProperties === false
  const counts = minProperties !== undefined || maxProperties !== undefined
  if (!looksAtMembers && !counts && required.length === 0) return undefined
  return (value, run) => {
    const keys = Object.keys(value)
    spendChecks(run.effort, keys.length + required.length)
    if (minProperties !== undefined && keys.length < minProperties) {
      const path = relativePath(run)
      const why = `${path} in body should have at least ${minProperties} properties`
      report(run, fieldInvalid(fieldOf(run, path), keys.length, why))
    }
    if (maxProperties !== undefined && keys.length > maxProperties) {
      report(run, fieldTooMany(fieldOf(run, relativePath(run)), keys.length, maxProperties))
    }
    const { old } = run
    const step = run.path.length
    for (const key of keys) {
      if (isFull(run)) break
      const named = members.get(key)
      const member = named ?? others
      if (member !== undefined) {
        // A key of a map comes after a dot, even at the beginning of a path.
        run.path[step] = named === undefined && step === 0 ? `.${key}` : key
        if (old !== undefined) run.old = correlatedMember(old, key)
        member.validator ??= compile(member.schema)
        member.validator(value[key]!, run)
      } else if (additionalProperties === false) refuseMember(run, step, key)
    }
    run.path.length = step
    run.old = old
    for (const key of required) {
      if (Object.hasOwn(value, key)) continue
      report(run, fieldRequired(fieldOf(run, `${relativePath(run)}.${key}`)))
    }
  }
}

function refuseMember(run: Run, step: number, key: string): void {
  run.path.length = step
  const path = relativePath(run)
  report(run, fieldInvalid(fieldOf(run, path), key, `${path}.${key} in body is a forbidden property`))
}
