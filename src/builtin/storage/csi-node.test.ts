import { expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { validationOf } from '../written-objects.suite.js'

const validation = validationOf('storage.k8s.io/v1', 'CSINode', false)

const metadata = { name: 'x', resourceVersion: '1' }
const errorsOfChange = (object: ValueObject, old: ValueObject): string[] =>
  validation.update({ metadata, ...object }, { metadata, ...old }).map(printFieldError)

test('of a driver on a node only the number of volumes changes', () => {
  const node = (driver: ValueObject): ValueObject => ({ spec: { drivers: [{ name: 'd', nodeID: 'n', ...driver }] } })
  expect(errorsOfChange(node({ allocatable: { count: 2 } }), node({}))).toEqual([])
  expect(errorsOfChange(node({ nodeID: 'm' }), node({}))).toEqual([
    expect.stringMatching(/^spec\.drivers: Invalid value: \{"Name":"d","NodeID":"m",.*: field is immutable$/),
  ])
})
