// Devices that pods can ask for: classes of them, and claims to some. Devices are picked by expressions.
import {
  compile,
  createEnvironment,
  type Environment,
  type ObjectTypes,
  printType,
  RULE_ENVIRONMENT,
  types,
} from '../../cel/index.js'
import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkDnsLabel, checkDnsSubdomain } from '../../meta/object/names.js'
import { has, numberAt, objectAt, objectOrNone, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import { checkOneOf, checkText } from '../common/field-checks.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'
import { asGoStruct } from '../core/pod/spec-diff.js'

/** The most of each thing that may stand in one list. */
const MAX_ITEMS = 32
const MAX_ALTERNATIVES = 8

function checkItems(
  object: ValueObject,
  field: string,
  path: string,
  check: (item: ValueObject, path: string) => FieldError[],
  max = MAX_ITEMS,
): FieldError[] {
  const items = objectsAt(object, field)
  const at = childPath(path, field)
  return [
    ...(items.length > max ? [fieldTooMany(at, items.length, max)] : []),
    ...items.flatMap((item, i) => check(item, indexPath(at, i))),
  ]
}

// ---- classes

const checkClass = (device: ValueObject): FieldError[] => {
  const spec = objectAt(device, 'spec')
  return [
    ...checkMeta(device, { namespaced: false }),
    ...checkItems(spec, 'selectors', 'spec', checkSelector),
    ...checkItems(spec, 'config', 'spec', checkConfiguration),
  ]
}

export const deviceClassValidation: Validation = {
  create: checkClass,
  update: (device, old) => [...checkMetaUpdate(device, old), ...checkClass(device)],
}

const EXPRESSION_MAX = 10 * 1024

function checkSelector(selector: ValueObject, path: string): FieldError[] {
  const cel = objectOrNone(selector, 'cel')
  if (cel === undefined) return [fieldRequired(`${path}.cel`)]
  const expression = stringAt(cel, 'expression')
  const at = `${path}.cel.expression`
  if (expression === '') return [fieldRequired(at)]
  if (Buffer.byteLength(expression) > EXPRESSION_MAX) return [fieldTooLong(at, EXPRESSION_MAX)]
  const compiled = compile(expression, environment())
  if (!compiled.ok) {
    const failed = compiled.stage === 'program' ? 'program instantiation failed' : 'compilation failed'
    return [fieldInvalid(at, expression, `${failed}: ${compiled.message}`)]
  }
  const { type } = compiled.program
  return type.kind === 'bool' || type.kind === 'any'
    ? []
    : [fieldInvalid(at, expression, `must evaluate to bool or the unknown type, not ${printType(type)}`)]
}

let deviceEnvironment: Environment | undefined

/** An expression knows one device: its driver, and what that driver tells of it by domain and name. */
const environment = (): Environment =>
  (deviceEnvironment ??= createEnvironment({
    ...RULE_ENVIRONMENT,
    variables: { device: types.objectType('kubernetes.DRADevice') },
    objectTypes: DEVICE_TYPES,
  }))

const byDomainAndName = (value: types.CelType): types.CelType =>
  types.mapOf(types.STRING, types.mapOf(types.STRING, value))

const DEVICE_FIELDS: Readonly<Record<string, types.CelType>> = {
  driver: types.STRING,
  attributes: byDomainAndName(types.ANY),
  capacity: byDomainAndName(types.objectType('kubernetes.Quantity')),
  allowMultipleAllocations: types.BOOL,
}

const DEVICE_TYPES: ObjectTypes = {
  has: name => name === 'kubernetes.DRADevice',
  field: (_type, field) => (Object.hasOwn(DEVICE_FIELDS, field) ? DEVICE_FIELDS[field] : undefined),
}

function checkConfiguration(configuration: ValueObject, path: string): FieldError[] {
  const opaque = objectOrNone(configuration, 'opaque')
  if (opaque === undefined) return [fieldRequired(path, 'exactly one of `opaque` is required')]
  return [
    ...checkDriver(stringAt(opaque, 'driver'), `${path}.opaque.driver`),
    ...(has(opaque, 'parameters') ? [] : [fieldRequired(`${path}.opaque.parameters`)]),
  ]
}

const DRIVER_MAX = 63

function checkDriver(driver: string, path: string): FieldError[] {
  if (driver === '') return [fieldRequired(path)]
  const errors = driver.length > DRIVER_MAX ? [fieldTooLong(path, DRIVER_MAX)] : []
  return [...errors, ...checkText(driver, checkDnsSubdomain, path)]
}

// ---- claims

const checkClaim = (claim: ValueObject): FieldError[] => [
  ...checkMeta(claim, { namespaced: true }),
  ...checkClaimSpec(objectAt(claim, 'spec'), 'spec'),
]

const checkSame = (object: ValueObject, old: ValueObject, typeName: string): FieldError[] => {
  const spec = objectAt(object, 'spec')
  return equalValues(spec, objectAt(old, 'spec'))
    ? []
    : [fieldInvalid('spec', asGoStruct(typeName, spec), 'field is immutable')]
}

export const resourceClaimValidation: Validation = {
  create: checkClaim,
  update: (claim, old) => [...checkMetaUpdate(claim, old), ...checkSame(claim, old, 'resource/v1.ResourceClaimSpec')],
  status: checkMetaUpdate,
}

const checkTemplate = (template: ValueObject): FieldError[] => [
  ...checkMeta(template, { namespaced: true }),
  ...checkClaimSpec(objectAt(objectAt(template, 'spec'), 'spec'), 'spec.spec'),
]

export const resourceClaimTemplateValidation: Validation = {
  create: checkTemplate,
  update: (template, old) => [
    ...checkMetaUpdate(template, old),
    ...checkSame(template, old, 'resource/v1.ResourceClaimTemplateSpec'),
  ],
}

function checkClaimSpec(spec: ValueObject, path: string): FieldError[] {
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
  const why = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
  return names.flatMap((name, i) => {
    const at = indexPath(`${path}.requests`, i)
    const errors = known.has(name) ? [] : [fieldInvalid(at, name, why)]
    if (names.indexOf(name) < i) errors.push(fieldDuplicate(at, name))
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
  if (exactly !== undefined) return [...errors, ...checkWanted(exactly, `${path}.exactly`)]
  const inner = new Set<string>()
  return [
    ...errors,
    ...checkItems(
      request,
      'firstAvailable',
      path,
      (alternative, at) => [...checkRequestName(alternative, inner, at), ...checkWanted(alternative, at)],
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

/** So many devices of a class, or all that there are. */
function checkWanted(wanted: ValueObject, path: string): FieldError[] {
  const className = stringAt(wanted, 'deviceClassName')
  const mode = stringAt(wanted, 'allocationMode')
  const count = numberAt(wanted, 'count')
  const counted = (why: string): FieldError[] => [fieldInvalid(`${path}.count`, count, why)]
  return [
    ...(className === ''
      ? [fieldRequired(`${path}.deviceClassName`)]
      : checkText(className, checkDnsSubdomain, `${path}.deviceClassName`)),
    ...checkItems(wanted, 'selectors', path, checkSelector),
    ...checkOneOf(mode, ['All', 'ExactCount'], `${path}.allocationMode`),
    ...(mode === 'All' && count !== 0 ? counted("must not be specified when allocationMode is 'All'") : []),
    ...(mode === 'ExactCount' && count <= 0 ? counted('must be greater than zero') : []),
  ]
}
