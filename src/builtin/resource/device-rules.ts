// Rules for selectors and configurations of devices, which classes and claims have in common.
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
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkDnsSubdomain } from '../../meta/object/names.js'
import { has, objectOrNone, objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { checkText } from '../common/field-checks.js'

/** How many items a list may have. */
const MAX_ITEMS = 32

export function checkItems(
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

const EXPRESSION_MAX = 10 * 1024

export function checkSelector(selector: ValueObject, path: string): FieldError[] {
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

/** An expression has one variable: a device with its driver, and attributes and capacity by domain and name. */
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

export function checkConfiguration(configuration: ValueObject, path: string): FieldError[] {
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
