// The spec of a claim to devices, which ResourceClaim and ResourceClaimTemplate have in common.

import { type FieldError, fieldInvalid, fieldRequired, type Printed } from '../../meta/errors/field-errors.js'
import { checkDnsSubdomain } from '../../meta/object/names.js'
import { has, numberAt, objectAt, objectOrNone, objectsAt, setDefault, stringAt } from '../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import { checkOneOf, checkText } from '../common/field-checks.js'
import { checkUpdate, type Rule } from '../common/rules.js'
import { checkFullAttributeName, checkItems, checkLabel, checkSet, checkStringSet } from './device-names.js'
import { checkConfiguration, checkSelector, checkToleration } from './device-rules.js'

/** A request without a count is for one device. */
export function defaultClaimSpec(spec: ValueObject): void {
  for (const request of objectsAt(objectAt(spec, 'devices'), 'requests')) {
    const exactly = objectOrNone(request, 'exactly')
    if (exactly !== undefined) defaultDevices(exactly)
    objectsAt(request, 'firstAvailable').forEach(defaultDevices)
  }
}

export function defaultDevices(devices: ValueObject): void {
  setDefault(devices, 'allocationMode', 'ExactCount')
  if (stringAt(devices, 'allocationMode') === 'ExactCount') setDefault(devices, 'count', 1)
}

/** `print`: how messages show the spec. */
export const immutableSpec = (print: (spec: ValueObject) => Printed): Rule =>
  checkUpdate((object, old) => {
    const spec = objectAt(object, 'spec')
    return equalValues(spec, objectAt(old, 'spec')) ? [] : [fieldInvalid('spec', print(spec), 'field is immutable')]
  })

const MAX_ALTERNATIVES = 8

export function checkClaimSpec(spec: ValueObject, path: string): FieldError[] {
  const devices = objectAt(spec, 'devices')
  const at = `${path}.devices`
  const names = requestNames(spec)
  return [
    ...checkSet(devices, 'requests', at, checkRequest, { keyOf: nameOf }),
    ...checkItems(devices, 'constraints', at, (constraint, each) => [
      ...checkReferences(constraint, names, each),
      ...checkConstraint(constraint, each),
    ]),
    ...checkItems(devices, 'config', at, (configuration, each) => [
      ...checkReferences(configuration, names, each),
      ...checkConfiguration(configuration, each),
    ]),
  ]
}

const nameOf = (item: ValueObject): string => stringAt(item, 'name')

/** The names by which other parts of a claim refer to its requests: `request` and `request/alternative`. */
export function requestNames(spec: ValueObject): ReadonlySet<string> {
  const names = new Set<string>()
  for (const request of objectsAt(objectAt(spec, 'devices'), 'requests')) {
    names.add(nameOf(request))
    for (const alternative of objectsAt(request, 'firstAvailable'))
      names.add(`${nameOf(request)}/${nameOf(alternative)}`)
  }
  return names
}

const NOT_A_REQUEST =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

export function checkReference(name: string, names: ReadonlySet<string>, path: string): FieldError[] {
  const parts = name.split('/')
  const unknown = names.has(name) ? [] : [fieldInvalid(path, name, NOT_A_REQUEST)]
  return parts.length > 2 ? unknown : [...parts.flatMap(part => checkLabel(part, path)), ...unknown]
}

export const checkReferences = (object: ValueObject, names: ReadonlySet<string>, path: string): FieldError[] =>
  checkStringSet(object, 'requests', path, (name, at) => checkReference(name, names, at))

const NO_ATTRIBUTE = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'

function checkConstraint(constraint: ValueObject, path: string): FieldError[] {
  const name = ['matchAttribute', 'distinctAttribute'].find(field => has(constraint, field))
  return name === undefined
    ? [fieldRequired(path, NO_ATTRIBUTE)]
    : checkFullAttributeName(stringAt(constraint, name), `${path}.${name}`)
}

const ONE_OF_TWO = 'exactly one of `exactly` or `firstAvailable` is required'

function checkRequest(request: ValueObject, path: string): FieldError[] {
  const exactly = objectOrNone(request, 'exactly')
  const alternatives = objectsAt(request, 'firstAvailable')
  const errors = checkLabel(nameOf(request), `${path}.name`)
  if (exactly === undefined && alternatives.length === 0) return [...errors, fieldRequired(path, ONE_OF_TWO)]
  if (exactly !== undefined && alternatives.length > 0) {
    return [...errors, fieldInvalid(path, null, `${ONE_OF_TWO}, but multiple fields are set`)]
  }
  if (exactly !== undefined) return [...errors, ...checkDevices(exactly, `${path}.exactly`)]
  const checkAlternative = (alternative: ValueObject, at: string): FieldError[] => [
    ...checkLabel(nameOf(alternative), `${at}.name`),
    ...checkDevices(alternative, at),
  ]
  const options = { max: MAX_ALTERNATIVES, keyOf: nameOf }
  return [...errors, ...checkSet(request, 'firstAvailable', path, checkAlternative, options)]
}

const MAX_TOLERATIONS = 16

/** A number of devices of a class, or all of them. */
function checkDevices(devices: ValueObject, path: string): FieldError[] {
  const className = stringAt(devices, 'deviceClassName')
  const mode = stringAt(devices, 'allocationMode')
  const count = numberAt(devices, 'count')
  const counted = (why: string): FieldError[] => [fieldInvalid(`${path}.count`, count, why)]
  return [
    ...(className === ''
      ? [fieldRequired(`${path}.deviceClassName`)]
      : checkText(className, checkDnsSubdomain, `${path}.deviceClassName`)),
    ...checkItems(devices, 'selectors', path, checkSelector),
    ...checkOneOf(mode, ['All', 'ExactCount'], `${path}.allocationMode`),
    ...(mode === 'All' && count !== 0 ? counted("must not be specified when allocationMode is 'All'") : []),
    ...(mode === 'ExactCount' && count <= 0 ? counted('must be greater than zero') : []),
    ...checkItems(devices, 'tolerations', path, checkToleration, MAX_TOLERATIONS),
  ]
}
