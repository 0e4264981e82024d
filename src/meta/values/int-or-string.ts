// IntOrString: a port by number or name, a count or a percentage.

import { failed, parsed, type Result } from '../../base/result.js'
import { checkPercent } from '../object/names.js'
import { isInteger, type Value } from './value.js'

export type IntOrString = number | string

/** The value if it is an int32 or a string. */
export function asIntOrString(value: Value | undefined): IntOrString | undefined {
  if (typeof value === 'string') return value
  return isInteger(value) && value >= -MAX_INT32 - 1 && value <= MAX_INT32 ? Number(value) : undefined
}

/** A number unchanged, or a percentage of the total rounded up or down. */
export function scaledValue(value: IntOrString, total: number, roundUp: boolean): Result<number> {
  if (typeof value === 'number') return parsed(value)
  if (checkPercent(value).length > 0) {
    return failed('invalid value for IntOrString: invalid type: string is not a percentage')
  }
  const exact = (Number(value.slice(0, -1)) * total) / 100
  return parsed(roundUp ? Math.ceil(exact) : Math.floor(exact))
}

const MAX_INT32 = 2 ** 31 - 1
