// Rules that several kinds of the group have in common: selectors, configurations, taints and tolerations.
import {
  compile,
  createEnvironment,
  type Environment,
  type ObjectTypes,
  printType,
  RULE_ENVIRONMENT,
  types,
} from '../../cel/index.js'
import { encodeJson } from '../../codec/json.js'
import {
  type FieldError,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkLabelValue, checkQualifiedName } from '../../meta/object/names.js'
import { objectOrNone, stringAt, stringsAt } from '../../meta/values/access.js'
import { asGiven } from '../../meta/values/given-empty.js'
import { getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { checkDriverName } from '../common/driver-name.js'
import { checkOneOf, checkText } from '../common/field-checks.js'
import { duplicatesOf } from './device-names.js'

const EXPRESSION_MAX = 10 * 1024

export function checkSelector(selector: ValueObject, path: string): FieldError[] {
  const cel = objectOrNone(selector, 'cel')
  if (cel === undefined) return [fieldRequired(`${path}.cel`)]
  const expression = stringAt(cel, 'expression')
  const at = `${path}.cel.expression`
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
  if (opaque === undefined) return [fieldRequired(`${path}.opaque`)]
  return [
    ...checkDriverName(stringAt(opaque, 'driver'), `${path}.opaque.driver`),
    ...checkParameters(getOwn(opaque, 'parameters') ?? null, `${path}.opaque.parameters`),
  ]
}

const MAX_PARAMETERS = 10 * 1024

/** Data of a driver: an object of limited size, whatever is in it. */
export function checkParameters(parameters: Value, path: string): FieldError[] {
  if (parameters === null) return [fieldRequired(path)]
  if (Buffer.byteLength(encodeJson(parameters)) > MAX_PARAMETERS) return [fieldTooLong(path, MAX_PARAMETERS)]
  return isObject(parameters) ? [] : [fieldInvalid(path, '<value omitted>', 'must be a valid JSON object')]
}

// ---- taints, tolerations, binding conditions

const EFFECTS = ['NoExecute', 'NoSchedule', 'None']

export function checkTaint(taint: ValueObject, path: string): FieldError[] {
  return [
    ...checkText(stringAt(taint, 'key'), checkQualifiedName, `${path}.key`),
    ...checkText(stringAt(taint, 'value'), checkLabelValue, `${path}.value`),
    ...checkOneOf(stringAt(taint, 'effect'), EFFECTS, `${path}.effect`, { required: true }),
  ]
}

export function checkToleration(toleration: ValueObject, path: string): FieldError[] {
  const [key, operator, value, effect] = ['key', 'operator', 'value', 'effect'].map(name => stringAt(toleration, name))
  const errors = key === '' ? [] : checkText(key!, checkQualifiedName, `${path}.key`)
  errors.push(...checkOneOf(operator!, ['Equal', 'Exists'], `${path}.operator`, { required: true }))
  if (operator === 'Exists' && value !== '') {
    errors.push(fieldInvalid(`${path}.value`, value, 'must be empty for operator `Exists`'))
  }
  if (operator === 'Equal') errors.push(...checkText(value!, checkLabelValue, `${path}.value`))
  return effect === '' ? errors : [...errors, ...checkOneOf(effect!, EFFECTS, `${path}.effect`)]
}

const MAX_BINDING_CONDITIONS = 4
const BINDING = 'bindingConditions'
const FAILURE = 'bindingFailureConditions'

/** Conditions that a device waits for before it is bound, and those that end the wait. One needs the other. */
export function checkBindingConditions(device: ValueObject, path: string): FieldError[] {
  const [binding, failure] = [stringsAt(device, BINDING), stringsAt(device, FAILURE)]
  const [bindingPath, failurePath] = [`${path}.${BINDING}`, `${path}.${FAILURE}`]
  const names = (texts: readonly string[], at: string): FieldError[] =>
    texts.length > MAX_BINDING_CONDITIONS
      ? [fieldTooMany(at, texts.length, MAX_BINDING_CONDITIONS)]
      : texts.flatMap((text, i) => checkText(text, checkQualifiedName, indexPath(at, i)))
  const both = new Set(binding)
  return [
    ...names(binding, bindingPath),
    ...names(failure, failurePath),
    ...duplicatesOf(binding, bindingPath),
    ...duplicatesOf(failure, failurePath),
    ...failure.flatMap((text, i) =>
      both.has(text)
        ? [fieldInvalid(indexPath(failurePath, i), text, `${FAILURE} must not overlap with ${BINDING}`)]
        : [],
    ),
    ...(binding.length === 0 && failure.length > 0
      ? [fieldInvalid(bindingPath, asGiven(device, BINDING), `${BINDING} are required to use ${FAILURE}`)]
      : []),
    ...(failure.length === 0 && binding.length > 0
      ? [fieldInvalid(failurePath, asGiven(device, FAILURE), `${FAILURE} are required to use ${BINDING}`)]
      : []),
  ]
}
