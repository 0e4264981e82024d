// Enums. A value is first converted to the type of each allowed value, as Go converts: a float loses its fraction
// beside an integer, and an integer beside a text is the character of that code. Null is never one of the allowed
// values.

import { encodeJson } from '../../codec/json.js'
import { asString, type FieldError, fieldNotSupported } from '../../meta/errors/field-errors.js'
import { printJson } from '../../meta/go/go-text.js'
import { equalValues, isFloat, isInteger, type Value, WholeFloat } from '../../meta/values/value.js'
import { spendChecks } from './effort.js'
import { fieldOf, type Run, relativePath, report, shown } from './run.js'

export type EnumCheck = (run: Run, value: Value) => void

export function enumCheck(allowed: readonly Value[]): EnumCheck {
  // Definitions may list thousands of texts.
  const texts = new Set(allowed.filter(value => typeof value === 'string'))
  const others = allowed.filter(value => typeof value !== 'string')
  let detail: string | undefined
  return (run, value) => {
    if (typeof value === 'string' && texts.has(value)) return
    if (isInteger(value) && texts.size > 0 && texts.has(characterOf(value))) return
    if (others.length > 0) spendChecks(run.effort, others.length)
    if (value !== null && others.some(other => matches(value, other))) return
    const bad = typeof value === 'string' ? asString(value) : shown(value)
    const error = (supported: readonly string[]): FieldError =>
      fieldNotSupported(fieldOf(run, relativePath(run)), bad, supported)
    // Printed once, because thousands of values may be wrong.
    detail ??= error(allowed.map(item => (typeof item === 'string' ? item : printAllowed(item)))).detail
    report(run, { ...error([]), detail })
  }
}

function matches(value: Value, allowed: Value): boolean {
  if (isInteger(allowed)) {
    // oxlint-disable-next-line eqeqeq -- an int64 is a number or a bigint
    if (isInteger(value)) return value == allowed
    // oxlint-disable-next-line eqeqeq
    return isFloat(value) && Math.trunc(floatOf(value)) == allowed
  }
  if (isFloat(allowed)) {
    if (isInteger(value)) return Number(value) === floatOf(allowed)
    return isFloat(value) && floatOf(value) === floatOf(allowed)
  }
  return equalValues(value, allowed)
}

const floatOf = (value: number | WholeFloat): number => (value instanceof WholeFloat ? value.value : value)

function characterOf(value: number | bigint): string {
  const code = Number(value)
  const isCharacter = code >= 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
  return isCharacter ? String.fromCodePoint(code) : '\ufffd'
}

const printAllowed = (value: Value): string => {
  const fit = shown(value)
  return fit === value ? printJson(value) : encodeJson(value, { sortKeys: true })
}
