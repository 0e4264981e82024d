// One validation under way: where it is, what it found, and (on an update) what stood there before.

import { encodeJson } from '../../codec/json.js'
import { MAX_FOUND, MAX_PRINTED } from '../../meta/errors/error-limit.js'
import {
  type BadValue,
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  Printed,
  printFieldError,
} from '../../meta/errors/field-errors.js'
import { isObject, type Value } from '../../meta/values/value.js'
import type { Correlated } from './correlate.js'
import { type Effort, startEffort, TooMuchEffort } from './effort.js'

export interface Run {
  /** The field of the validated value; messages name paths relative to it. */
  readonly at: string
  /** From the validated value to the present one: names, and indexes of lists. */
  readonly path: (string | number)[]
  errors: FieldError[]
  /** How many checks were passed: what decides which of several branches came closest. */
  matches: number
  /** The value before the update, where there is one to compare with. */
  old: Correlated | undefined
  /** One for all branches of a validation. */
  readonly effort: Effort
}

/** Looks at a value and reports to the run what is wrong with it. */
export type Validator = (value: Value, run: Run) => void

export const startRun = (at: string, old?: Correlated): Run => ({
  at,
  path: [],
  errors: [],
  matches: 0,
  old,
  effort: startEffort(),
})

/** Carries out a validation. One that takes too much effort ends, and that is its only error. */
export function errorsOf(run: Run, validator: Validator, value: Value): readonly FieldError[] {
  try {
    validator(value, run)
  } catch (error) {
    if (!(error instanceof TooMuchEffort)) throw error
    return [fieldForbidden(run.at, error.message)]
  }
  return withoutRepeats(run.errors)
}

export function report(run: Run, error: FieldError): void {
  if (!isFull(run)) run.errors.push(error)
}

/** Whether there are so many errors that the validation ends. */
export const isFull = ({ errors }: Run): boolean => errors.length >= MAX_FOUND

/** The field of an error that has none. */
export const reportBare = (run: Run, message: string): void => report(run, fieldInvalid(run.at, '', message))

/** The path of the present value, as messages have it: `spec.list[0].name`. */
export function relativePath({ path }: Run): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += text === '' ? step : `.${step}`
  }
  return text
}

/** The field of an error that has this relative path. */
export function fieldOf({ at }: Run, relative: string): string {
  const name = relative.startsWith('.') ? relative.slice(1) : relative
  return name === '' ? at : childPath(at, name)
}

/** Each error once. */
function withoutRepeats(errors: readonly FieldError[]): readonly FieldError[] {
  if (errors.length < 2) return errors
  // By their details, which thousands of errors may have in common and which may be long, as that of an enum is.
  const given = new Map<string, Set<string>>()
  let printed = 0
  return errors.filter(error => {
    // Errors after so many characters are not printed for clients either.
    if (printed > MAX_PRINTED) return true
    const { type, detail } = error
    let sameDetail = given.get(detail)
    if (!sameDetail) given.set(detail, (sameDetail = new Set()))
    const text = `${type} ${printFieldError({ ...error, detail: '' })}`
    printed += text.length
    return sameDetail.size !== sameDetail.add(text).size
  })
}

/** A value as errors show it. One that is nested too deeply for recursion is printed here, with a stack of its own. */
export function shown(value: Value): BadValue {
  return isDeep(value) ? Printed.of(value, printSorted) : value
}

const printSorted = (value: Value): string => encodeJson(value, { sortKeys: true })

const DEEP = 200

function isDeep(root: Value): boolean {
  let level: Value[] = [root]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEP) return true
    const below: Value[] = []
    for (const value of level) {
      if (Array.isArray(value)) {
        for (const item of value) if (typeof item === 'object' && item !== null) below.push(item)
      } else if (isObject(value)) {
        for (const key of Object.keys(value)) {
          const member = value[key]!
          if (typeof member === 'object' && member !== null) below.push(member)
        }
      }
    }
    level = below
  }
  return false
}
