// The spec of a claim to devices, which ResourceClaim and ResourceClaimTemplate have in common.

import {
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkDnsLabel, checkDnsSubdomain } from '../../meta/object/names.js'
import {
  has,
  numberAt,
  objectAt,
  objectOrNone,
  objectsAt,
  setDefault,
  stringAt,
  stringsAt,
} from '../../meta/values/access.js'
import { repeatsOf } from '../../meta/values/list-keys.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import { checkOneOf, checkText } from '../common/field-checks.js'
import { asGoStruct } from '../common/go-struct.js'
import { checkUpdate, type Rule } from '../common/rules.js'
import { checkConfiguration, checkItems, checkSelector } from './device-rules.js'

/** A request without a count is for one device. */
export function defaultClaimSpec(spec: ValueObject): void {
  for (const request of objectsAt(objectAt(spec, 'devices'), 'requests')) {
    const exactly = objectOrNone(request, 'exactly')
    if (exactly !== undefined) defaultDevices(exactly)
    objectsAt(request, 'firstAvailable').forEach(defaultDevices)
  }
}

function defaultDevices(devices: ValueObject): void {
  setDefault(devices, 'allocationMode', 'ExactCount')
  if (stringAt(devices, 'allocationMode') === 'ExactCount') setDefault(devices, 'count', 1)
}

/** `typeName`: the type of the spec in Go, which the message prints. */
export const immutableSpec = (typeName: string): Rule =>
  checkUpdate((object, old) => {
    const spec = objectAt(object, 'spec')
    return equalValues(spec, objectAt(old, 'spec'))
      ? []
      : [fieldInvalid('spec', asGoStruct(typeName, spec), 'field is immutable')]
  })

const MAX_ALTERNATIVES = 8

export function checkClaimSpec(spec: ValueObject, path: string): FieldError[] {
  const devices = objectAt(spec, 'devices')
  const at = `${path}.devices`
  const names = new Set<string>()
  const known = new Set<string>()
  for (const request of objectsAt(devices, 'requests')) {
    const name = stringAt(request, 'name')
    known.add(name)
    for (const alternative of objectsAt(request, 'firstAvailable'))
      known.add(`${name}/${stringAt(alternative, 'name')}`)
  }
  return [
    ...checkItems(devices, 'requests', at, (request, each) => checkRequest(request, names, each)),
    ...checkItems(devices, 'constraints', at, (constraint, each) => [
      ...checkReferences(constraint, known, each),
      ...(has(constraint, 'matchAttribute') || has(constraint, 'distinctAttribute')
        ? []
        : [fieldRequired(`${each}.matchAttribute`)]),
    ]),
    ...checkItems(devices, 'config', at, (configuration, each) => [
      ...checkReferences(configuration, known, each),
      ...checkConfiguration(configuration, each),
    ]),
  ]
}

function checkReferences(object: ValueObject, known: ReadonlySet<string>, path: string): FieldError[] {
  const names = stringsAt(object, 'requests')
  const repeats = repeatsOf(names)
  const why = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
  return names.flatMap((name, i) => {
    const at = indexPath(`${path}.requests`, i)
    const errors = known.has(name) ? [] : [fieldInvalid(at, name, why)]
    if (repeats.has(i)) errors.push(fieldDuplicate(at, name))
    return errors
  })
}

const ONE_OF_TWO = 'exactly one of `exactly` or `firstAvailable` is required'

function checkRequest(request: ValueObject, names: Set<string>, path: string): FieldError[] {
  const exactly = objectOrNone(request, 'exactly')
  const alternatives = objectsAt(request, 'firstAvailable')
  const errors = checkRequestName(request, names, path)
  if (exactly === undefined && alternatives.length === 0) return [...errors, fieldRequired(path, ONE_OF_TWO)]
  if (exactly !== undefined && alternatives.length > 0) {
    return [...errors, fieldInvalid(path, null, `${ONE_OF_TWO}, but multiple fields are set`)]
  }
  if (exactly !== undefined) return [...errors, ...checkDevices(exactly, `${path}.exactly`)]
  const inner = new Set<string>()
  return [
    ...errors,
    ...checkItems(
      request,
      'firstAvailable',
      path,
      (alternative, at) => [...checkRequestName(alternative, inner, at), ...checkDevices(alternative, at)],
      MAX_ALTERNATIVES,
    ),
  ]
}

function checkRequestName(request: ValueObject, names: Set<string>, path: string): FieldError[] {
  const name = stringAt(request, 'name')
  const at = `${path}.name`
  const errors = name === '' ? [fieldRequired(at)] : checkText(name, checkDnsLabel, at)
  if (names.has(name)) errors.push(fieldDuplicate(path, name))
  names.add(name)
  return errors
}

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
  ]
}
