import { expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { validationOf } from '../written-objects.suite.js'

const validation = validationOf('storage.k8s.io/v1', 'VolumeAttributesClass', false)
const errorsOf = (object: ValueObject): string[] =>
  validation.create({ metadata: { name: 'x' }, ...object }).map(printFieldError)

const metadata = { name: 'x', resourceVersion: '1' }
const errorsOfChange = (object: ValueObject, old: ValueObject): string[] =>
  validation.update({ metadata, ...object }, { metadata, ...old }).map(printFieldError)

test('a class has parameters, and does not change', () => {
  const attributes = { driverName: 'd', parameters: { a: 'b' } }
  expect(errorsOf({ driverName: 'd' })).toEqual([
    'parameters: Required value: must contain at least one key/value pair',
  ])
  expect(errorsOfChange({ ...attributes, driverName: 'e' }, attributes)).toEqual([
    'driverName: Forbidden: updates to driverName are forbidden.',
  ])
})
