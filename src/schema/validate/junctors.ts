// allOf, anyOf, oneOf and not. Of the branches of anyOf and oneOf that fail, only the errors of the one that passed
// most checks are reported. Ratcheting does not apply inside a branch, only to the value as a whole.
import type { Value } from '../../meta/values/value.js'
import type { Schema } from '../structure/structural.js'
import { spendChecks } from './effort.js'
import { type Run, relativePath, report, reportBare, type Validator } from './run.js'

/** Undefined where the schema has none. */
export function junctorCheck({ checks }: Schema, validatorOf: (schema: Schema) => Validator): Validator | undefined {
  const anyOf = checks.anyOf.map(validatorOf)
  const oneOf = checks.oneOf.map(validatorOf)
  const allOf = checks.allOf.map(validatorOf)
  const not = checks.not === undefined ? undefined : validatorOf(checks.not)
  if (anyOf.length + oneOf.length + allOf.length === 0 && not === undefined) return undefined
  return (value, run) => {
    if (anyOf.length > 0) checkAny(anyOf, value, run)
    if (oneOf.length > 0) checkOne(oneOf, value, run)
    if (allOf.length > 0) checkAll(allOf, value, run)
    if (not !== undefined && isValid(branch(not, value, run))) {
      reportBare(run, `"${relativePath(run)}" must not validate the schema (not)`)
    }
  }
}

function checkAny(validators: readonly Validator[], value: Value, run: Run): void {
  let closest: Run | undefined
  for (const validator of validators) {
    const result = branch(validator, value, run)
    if (isValid(result)) return merge(run, result)
    if (closest === undefined || result.matches > closest.matches) closest = result
  }
  reportBare(run, `"${relativePath(run)}" must validate at least one schema (anyOf)`)
  if (closest !== undefined) merge(run, closest)
}

function checkOne(validators: readonly Validator[], value: Value, run: Run): void {
  let closest: Run | undefined
  let first: Run | undefined
  let valid = 0
  for (const validator of validators) {
    const result = branch(validator, value, run)
    if (isValid(result)) {
      valid++
      first ??= result
    } else if (closest === undefined || result.matches > closest.matches) closest = result
  }
  if (valid === 1) return merge(run, first!)
  const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`
  reportBare(run, `"${relativePath(run)}" must validate one and only one schema (oneOf). ${found}`)
  if (valid === 0) merge(run, closest!)
}

function checkAll(validators: readonly Validator[], value: Value, run: Run): void {
  let valid = 0
  for (const validator of validators) {
    const result = branch(validator, value, run)
    if (isValid(result)) valid++
    merge(run, result)
  }
  if (valid === validators.length) return
  const none = valid === 0 ? '. None validated' : ''
  reportBare(run, `"${relativePath(run)}" must validate all the schemas (allOf)${none}`)
}

/** What one branch makes of the value, apart. */
function branch(validator: Validator, value: Value, { at, path, effort }: Run): Run {
  spendChecks(effort, 1)
  const apart: Run = { at, path, errors: [], matches: 0, old: undefined, effort }
  validator(value, apart)
  return apart
}

const isValid = ({ errors }: Run): boolean => errors.length === 0

function merge(run: Run, { errors, matches }: Run): void {
  run.matches += matches
  for (const error of errors) report(run, error)
}
