// How much of a shared capacity a claim may ask for: one of some values, or a range with steps. A default is needed for both.
import {
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  fieldTooMany,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { has, objectOrNone, stringAt, stringsAt } from '../../meta/values/access.js'
import { repeatsOf } from '../../meta/values/list-keys.js'
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  printQuantity,
  type Quantity,
  quantityOf,
  scaledQuantity,
} from '../../meta/values/quantity.js'
import type { ValueObject } from '../../meta/values/value.js'

const MAX_VALUES = 10
const BOTH = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'

export function checkRequestPolicy(policy: ValueObject, capacity: ValueObject, path: string): FieldError[] {
  const values = stringsAt(policy, 'validValues').map(quantityFrom)
  const range = objectOrNone(policy, 'validRange')
  if (values.length > 0 && range !== undefined) return [fieldForbidden(path, BOTH)]
  if (values.length === 0 && range === undefined) return []
  const kind = values.length > 0 ? 'validValues' : 'validRange'
  if (!has(policy, 'default')) return [fieldRequired(`${path}.default`, `required when ${kind} is defined`)]
  const chosen = { fallback: quantityAt(policy, 'default'), most: quantityAt(capacity, 'value') }
  return range === undefined
    ? checkValues(values, chosen, `${path}.validValues`)
    : checkRange(range, chosen, `${path}.validRange`)
}

const quantityFrom = (text: string): Quantity => {
  const parsed = parseQuantity(text)
  return parsed.ok ? parsed.value : quantityOf(0n)
}
const quantityAt = (object: ValueObject, name: string): Quantity => quantityFrom(stringAt(object, name))

interface Bounds {
  /** What a claim gets that does not ask for an amount. */
  readonly fallback: Quantity
  readonly most: Quantity
}

function checkValues(values: readonly Quantity[], { fallback, most }: Bounds, path: string): FieldError[] {
  const invalid = (i: number, why: string): FieldError =>
    fieldInvalid(indexPath(path, i), printQuantity(values[i]!), why)
  const notDefault = 'default value is not valid according to the requestPolicy'
  const unsorted = values.flatMap((value, i) =>
    i > 0 && compareQuantities(values[i - 1]!, value) > 0
      ? [invalid(i, 'values must be sorted in ascending order')]
      : [],
  )
  if (values.length > MAX_VALUES) {
    const isDefault = fieldInvalid(path, printQuantity(fallback), notDefault)
    return [...unsorted, fieldTooMany(path, values.length, MAX_VALUES), isDefault]
  }
  const amounts = values.map(value => String(scaledQuantity(value, 0)))
  return [
    ...unsorted,
    ...values.flatMap((value, i) =>
      compareQuantities(value, most) > 0
        ? [invalid(i, `option is larger than capacity value: ${printQuantity(most)}`)]
        : [],
    ),
    ...[...repeatsOf(amounts)].map(i => fieldDuplicate(indexPath(path, i), amounts[i])),
    ...(values.some(value => compareQuantities(value, fallback) === 0)
      ? []
      : [fieldInvalid(path, printQuantity(fallback), notDefault)]),
  ]
}

function checkRange(range: ValueObject, { fallback, most }: Bounds, path: string): FieldError[] {
  if (!has(range, 'min')) return [fieldRequired(`${path}.min`, 'required when validRange is defined')]
  const errors: FieldError[] = []
  const isAbove = (a: Quantity, b: Quantity): boolean => compareQuantities(a, b) > 0
  const report = (name: string, value: Quantity, why: string, bound: Quantity): void => {
    errors.push(fieldInvalid(`${path}.${name}`, printQuantity(value), `${why}: ${printQuantity(bound)}`))
  }
  const min = quantityAt(range, 'min')
  if (isAbove(min, most)) report('min', min, 'min is larger than capacity value', most)
  if (isAbove(min, fallback)) report('min', fallback, 'default is less than min', min)
  const max = has(range, 'max') ? quantityAt(range, 'max') : undefined
  if (max !== undefined) {
    if (isAbove(min, max)) report('max', min, 'min is larger than max', max)
    if (isAbove(max, most)) report('max', max, 'max is larger than capacity value', most)
    if (isAbove(fallback, max)) report('max', fallback, 'default is more than max', max)
  }
  if (has(range, 'step')) {
    const step = quantityAt(range, 'step')
    const next = addQuantities(min, step)
    if (isAbove(next, most)) {
      report('step', step, `one step ${printQuantity(next)} is larger than capacity value`, most)
    }
    errors.push(...checkStep(fallback, min, step, `${path}.step`))
    if (max !== undefined) errors.push(...checkStep(max, min, step, `${path}.step`))
  }
  return errors
}

function checkStep(value: Quantity, min: Quantity, step: Quantity, path: string): FieldError[] {
  const width = scaledQuantity(step, 0)
  // kube-apiserver divides by the step; one of zero fits nothing but the minimum.
  const isMultiple = width !== 0n && (scaledQuantity(value, 0) - scaledQuantity(min, 0)) % width === 0n
  if (isMultiple) return []
  const why = `value is not a multiple of a given step (${printQuantity(step)}) from (${printQuantity(min)})`
  return [fieldInvalid(path, printQuantity(value), why)]
}
