// Rules that storage classes and volume attributes classes share: the driver, and the parameters for it.
import { childPath, fieldInvalid, fieldTooLong } from '../../meta/errors/field-errors.js'
import { checkQualifiedName } from '../../meta/object/names.js'
import { objectAt, stringAt } from '../../meta/values/access.js'
import { checkText } from '../common/field-checks.js'
import { check, type Rule, required } from '../common/rules.js'

/** A qualified name in any case. */
export const driverName = (name: string): readonly Rule[] => [
  required(name),
  check((object, path) => {
    const given = stringAt(object, name).toLowerCase()
    return given === '' ? [] : checkText(given, checkQualifiedName, childPath(path, name))
  }),
]

const MAX_PARAMETERS = 512
const MAX_BYTES = 256 * 1024

export const parameters: Rule = check(object => {
  const given = objectAt(object, 'parameters')
  const keys = Object.keys(given)
  if (keys.length > MAX_PARAMETERS) return [fieldTooLong('parameters', MAX_PARAMETERS)]
  const size = keys.reduce((sum, key) => sum + Buffer.byteLength(key) + Buffer.byteLength(stringAt(given, key)), 0)
  return [
    ...(keys.includes('') ? [fieldInvalid('parameters', '', 'field can not be empty.')] : []),
    ...(size > MAX_BYTES ? [fieldTooLong('parameters', MAX_BYTES)] : []),
  ]
})
