// Classes of storage, and classes of attributes that volumes can be given: who provides it, with which parameters.
import {
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkQualifiedName } from '../../meta/object/names.js'
import { has, objectAt, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { checkImmutable, checkOneOf, checkText, sameValue } from '../common/field-checks.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'

const BINDING_MODES = ['Immediate', 'WaitForFirstConsumer']

const checkClass = (storage: ValueObject): FieldError[] => [
  ...checkMeta(storage, { namespaced: false }),
  ...checkProvider(storage, 'provisioner'),
  ...checkParameters(storage),
  ...(stringAt(storage, 'reclaimPolicy') === ''
    ? []
    : checkOneOf(stringAt(storage, 'reclaimPolicy'), ['Delete', 'Retain'], 'reclaimPolicy')),
  ...(has(storage, 'volumeBindingMode')
    ? checkOneOf(stringAt(storage, 'volumeBindingMode'), BINDING_MODES, 'volumeBindingMode')
    : [fieldRequired('volumeBindingMode')]),
  ...checkTopologies(storage),
]

export const storageClassValidation: Validation = {
  create: checkClass,
  update: (storage, old) => [
    ...checkClass(storage),
    ...checkMetaUpdate(storage, old),
    ...['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'].flatMap(field =>
      checkImmutable(storage, old, field),
    ),
  ],
}

const checkAttributes = (attributes: ValueObject): FieldError[] => [
  ...checkMeta(attributes, { namespaced: false }),
  ...checkProvider(attributes, 'driverName'),
  ...(Object.keys(objectAt(attributes, 'parameters')).length === 0
    ? [fieldRequired('parameters', 'must contain at least one key/value pair')]
    : checkParameters(attributes)),
]

export const volumeAttributesClassValidation: Validation = {
  create: checkAttributes,
  update: (attributes, old) => [
    ...checkAttributes(attributes),
    ...checkMetaUpdate(attributes, old),
    ...['driverName', 'parameters']
      .filter(field => !sameValue(attributes[field], old[field]))
      .map(field => fieldForbidden(field, `updates to ${field} are forbidden.`)),
  ],
}

function checkProvider(object: ValueObject, field: string): FieldError[] {
  const name = stringAt(object, field)
  return name === '' ? [fieldRequired(field)] : checkText(name, text => checkQualifiedName(text.toLowerCase()), field)
}

const MAX_PARAMETERS = 512
const PARAMETERS_MAX = 256 * 1024

function checkParameters(object: ValueObject): FieldError[] {
  const parameters = objectAt(object, 'parameters')
  const keys = Object.keys(parameters)
  if (keys.length > MAX_PARAMETERS) return [fieldTooLong('parameters', MAX_PARAMETERS)]
  const size = keys.reduce((sum, key) => sum + Buffer.byteLength(key) + Buffer.byteLength(stringAt(parameters, key)), 0)
  return [
    ...(keys.includes('') ? [fieldInvalid('parameters', '', 'field can not be empty.')] : []),
    ...(size > PARAMETERS_MAX ? [fieldTooLong('parameters', PARAMETERS_MAX)] : []),
  ]
}

/** Terms of which one must fit, each of labels that all must. */
function checkTopologies(storage: ValueObject): FieldError[] {
  const terms = new Set<string>()
  return objectsAt(storage, 'allowedTopologies').flatMap((term, i) => {
    const path = `${indexPath('allowedTopologies', i)}.matchLabelExpressions`
    const expressions = objectsAt(term, 'matchLabelExpressions')
    const keys = new Set<string>()
    const errors = expressions.flatMap((expression, j) => checkTopologyLabel(expression, keys, indexPath(path, j)))
    // The order of labels and of their values says nothing.
    const given = expressions.map(each => [stringAt(each, 'key'), ...stringsAt(each, 'values').toSorted()].join('\0'))
    const whole = given.toSorted().join('\0\0')
    if (terms.has(whole)) errors.push(fieldDuplicate(path, ''))
    terms.add(whole)
    return errors
  })
}

function checkTopologyLabel(expression: ValueObject, keys: Set<string>, path: string): FieldError[] {
  const key = stringAt(expression, 'key')
  const values = stringsAt(expression, 'values')
  const errors = values.length === 0 ? [fieldRequired(`${path}.values`)] : []
  values.forEach((value, i) => {
    if (values.indexOf(value) < i) errors.push(fieldDuplicate(indexPath(`${path}.values`, i), value))
  })
  errors.push(...checkText(key, checkQualifiedName, `${path}.key`))
  if (keys.has(key)) errors.push(fieldDuplicate(`${path}.key`, key))
  keys.add(key)
  return errors
}
