// The name of a driver (CSI, devices), where other objects name it.
import { type FieldError, fieldRequired, fieldTooLong } from '../../meta/errors/field-errors.js'
import { checkDnsSubdomain } from '../../meta/object/names.js'
import { checkText } from './field-checks.js'

const MAX_LENGTH = 63

/** A DNS subdomain in any case. */
export function checkDriverName(name: string, path: string): FieldError[] {
  if (name === '') return [fieldRequired(path)]
  const tooLong = Buffer.byteLength(name) > MAX_LENGTH ? [fieldTooLong(path, MAX_LENGTH)] : []
  return [...tooLong, ...checkText(name, text => checkDnsSubdomain(text.toLowerCase()), path)]
}
