import { expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { validationOf } from '../written-objects.suite.js'

const validation = validationOf('storage.k8s.io/v1', 'CSIStorageCapacity', false)
const errorsOf = (object: ValueObject): string[] =>
  validation.create({ metadata: { name: 'x' }, ...object }).map(printFieldError)

test('a capacity is not negative', () => {
  expect(errorsOf({ storageClassName: 'c', capacity: '-1' })).toContain(
    'capacity: Invalid value: "-1": must be greater than or equal to 0',
  )
})
