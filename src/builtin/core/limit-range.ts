// LimitRange: how much each container, pod or claim of a namespace may request.
import { randomUUID } from 'node:crypto'
import {
  asTypedText,
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  indexPath,
  keyPath,
} from '../../meta/errors/field-errors.js'
import { printFixed } from '../../meta/go/go-text.js'
import { checkQualifiedName } from '../../meta/object/names.js'
import { ensureObject, has, objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import {
  compareQuantities,
  printQuantity,
  type Quantity,
  quantityAsFloat,
  quantityOf,
} from '../../meta/values/quantity.js'
import { getOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { checkTypedText } from '../common/field-checks.js'
import { metadata } from '../common/metadata.js'
import { check } from '../common/rules.js'
import { keepGeneration } from '../common/strategies.js'
import { validationRules } from '../common/validation.js'
import {
  amountOf,
  checkContainerResourceName,
  checkResourceName,
  mayExceed,
} from './pod/containers/container-resources.js'

/** A container without amounts of its own gets `default` as limits and `defaultRequest` as requests. */
function defaultLimit(limit: ValueObject): void {
  if (stringAt(limit, 'type') !== 'Container') return
  limit['default'] = { ...objectAt(limit, 'max'), ...objectAt(limit, 'default') }
  const requests = objectAt(limit, 'defaultRequest')
  limit['defaultRequest'] = { ...objectAt(limit, 'min'), ...objectAt(limit, 'default'), ...requests }
}

/** No two limits of one type. */
function checkLimits(spec: ValueObject): FieldError[] {
  const seen = new Set<string>()
  return objectsAt(spec, 'limits').flatMap((limit, i) => {
    const type = stringAt(limit, 'type')
    const isRepeated = seen.has(type)
    seen.add(type)
    return checkLimit(limit, isRepeated, indexPath('spec.limits', i))
  })
}

const LIMIT_TYPES: ReadonlySet<string> = new Set(['Pod', 'Container', 'PersistentVolumeClaim'])

function checkLimit(limit: ValueObject, isRepeated: boolean, path: string): FieldError[] {
  const at = (field: string): string => childPath(path, field)
  const type = stringAt(limit, 'type')
  const isOfPods = type === 'Pod' || type === 'Container'
  const checkName = isOfPods ? checkContainerResourceName : checkResourceName
  // Defaults have the names of other fields.
  const valid = new Set<string>()
  const checkNames = (field: string): FieldError[] =>
    Object.keys(objectAt(limit, field)).flatMap(name => {
      if (valid.has(name)) return []
      const errors = checkName(name, keyPath(at(field), name))
      if (errors.length === 0) valid.add(name)
      return errors
    })
  return [
    ...checkType(type, at('type')),
    ...(isRepeated ? [fieldDuplicate(at('type'), asTypedText(type))] : []),
    ...['max', 'min'].flatMap(checkNames),
    ...['default', 'defaultRequest'].flatMap(field => {
      if (type !== 'Pod') return checkNames(field)
      const isEmpty = Object.keys(objectAt(limit, field)).length === 0
      return isEmpty ? [] : [fieldForbidden(at(field), "may not be specified when `type` is 'Pod'")]
    }),
    ...(type === 'PersistentVolumeClaim' ? checkStorageBound(limit, at('limits')) : []),
    ...checkNames(RATIO),
    ...checkAmounts(limit, at),
  ]
}

function checkType(type: string, path: string): FieldError[] {
  const errors = checkTypedText(type, checkQualifiedName, path)
  if (errors.length > 0 || type.includes('/') || LIMIT_TYPES.has(type)) return errors
  return [fieldInvalid(path, asTypedText(type), 'must be a standard limit type or fully qualified')]
}

const checkStorageBound = (limit: ValueObject, path: string): FieldError[] =>
  ['min', 'max'].some(field => has(objectAt(limit, field), 'storage'))
    ? []
    : [fieldRequired(path, 'either minimum or maximum storage value is required, but neither was provided')]

/** min <= defaultRequest <= default <= max; a pod has no defaults. */
function checkAmounts(limit: ValueObject, at: (field: string) => string): FieldError[] {
  const fields = stringAt(limit, 'type') === 'Pod' ? ['max', 'min'] : ['max', 'min', 'default', 'defaultRequest']
  const amounts = new Map([...fields, RATIO].map(field => [field, objectAt(limit, field)]))
  const names = new Set([...amounts.values()].flatMap(Object.keys))
  return [...names].toSorted().flatMap(name => {
    const amount = (field: string): Quantity | undefined => {
      const ofField = amounts.get(field)
      return ofField && amountOf(ofField, name)
    }
    if (areEqual(name, amounts)) return []
    return checkAmountsOf(name, amount, field => keyPath(at(field), name))
  })
}

const RATIO = 'maxLimitRequestRatio'

/** Whether the amounts of that name, of which the defaults are mostly copies, are written alike, and no ratio is given. */
function areEqual(name: string, amounts: ReadonlyMap<string, ValueObject>): boolean {
  let known: Value | undefined
  for (const [field, ofField] of amounts) {
    const given = getOwn(ofField, name)
    if (given === undefined) continue
    if (field === RATIO || (known !== undefined && given !== known)) return false
    known = given
  }
  return true
}

function checkAmountsOf(
  name: string,
  amount: (field: string) => Quantity | undefined,
  at: (field: string) => string,
): FieldError[] {
  const [min, max, fallback, request] = [amount('min'), amount('max'), amount('default'), amount('defaultRequest')]
  const errors: FieldError[] = []
  const notAbove = (
    low: Quantity | undefined,
    high: Quantity | undefined,
    names: { at: string; shown: Quantity | undefined; low: string; high: string },
  ): void => {
    if (low === undefined || high === undefined || compareQuantities(low, high) <= 0) return
    const why = `${names.low} value ${printQuantity(low)} is greater than ${names.high} value ${printQuantity(high)}`
    errors.push(fieldInvalid(at(names.at), printQuantity(names.shown!), why))
  }
  notAbove(min, max, { at: 'min', shown: min, low: 'min', high: 'max' })
  notAbove(min, request, { at: 'defaultRequest', shown: request, low: 'min', high: 'default request' })
  notAbove(request, max, { at: 'defaultRequest', shown: request, low: 'default request', high: 'max' })
  notAbove(request, fallback, {
    at: 'defaultRequest',
    shown: request,
    low: 'default request',
    high: 'default limit',
  })
  notAbove(min, fallback, { at: 'default', shown: min, low: 'min', high: 'default' })
  notAbove(fallback, max, { at: 'default', shown: max, low: 'default', high: 'max' })
  errors.push(...checkRatio(amount(RATIO), min, max, at(RATIO)))
  const differs = fallback !== undefined && request !== undefined && compareQuantities(fallback, request) !== 0
  if (differs && !mayExceed(name)) {
    const why = `default value ${printQuantity(fallback)} must equal to defaultRequest value ${printQuantity(request)} in ${name}`
    errors.push(fieldInvalid(at('defaultRequest'), printQuantity(request), why))
  }
  return errors
}

function checkRatio(
  ratio: Quantity | undefined,
  min: Quantity | undefined,
  max: Quantity | undefined,
  path: string,
): FieldError[] {
  if (ratio === undefined) return []
  const shown = printQuantity(ratio)
  const errors: FieldError[] = []
  if (compareQuantities(ratio, quantityOf(1n)) < 0) {
    errors.push(fieldInvalid(path, shown, `ratio ${shown} is less than 1`))
  }
  if (min !== undefined && max !== undefined) {
    const most = quantityAsFloat(max) / quantityAsFloat(min)
    if (quantityAsFloat(ratio) > most) {
      errors.push(fieldInvalid(path, shown, `ratio ${shown} is greater than max/min = ${printFixed(most, 6)}`))
    }
  }
  return errors
}

const rules = [metadata({ namespaced: true }), check(range => checkLimits(objectAt(range, 'spec')))]

export const limitRange = defineKind('v1', 'LimitRange', {
  defaults: range => {
    for (const limit of objectsAt(objectAt(range, 'spec'), 'limits')) defaultLimit(limit)
  },
  strategy: {
    // An object without a name gets one that no other has.
    prepareForCreate: range => {
      const meta = ensureObject(range, 'metadata')
      if (stringAt(meta, 'name') === '') meta['name'] = randomUUID()
    },
    prepareForUpdate: keepGeneration,
    allowCreateOnUpdate: true,
  },
  validation: validationRules({ create: rules, update: rules }),
})
