import { expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { tableRowOf, validationOf } from '../written-objects.suite.js'

const { create, update } = validationOf('networking.k8s.io/v1', 'IPAddress', false)
const parentRef = { resource: 'services', namespace: 'x', name: 'a' }
const address = (name: string, spec: ValueObject = { parentRef }): ValueObject => ({ metadata: { name }, spec })

test.each([
  [address('10.0.0.1'), []],
  [address('2001:db8::1'), []],
  [
    address('not-an-ip'),
    ['metadata.name: Invalid value: "not-an-ip": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
  [
    address('2001:db8:0::1'),
    ['metadata.name: Invalid value: "2001:db8:0::1": must be in canonical form ("2001:db8::1")'],
  ],
  [address('10.0.0.1', {}), ['spec.parentRef: Required value']],
  [address('10.0.0.1', { parentRef: { resource: 'services' } }), ['spec.parentRef.name: Required value']],
  [
    address('10.0.0.1', { parentRef: { ...parentRef, resource: 'a/b' } }),
    ['spec.parentRef.resource: Invalid value: "a/b": may not contain \'/\''],
  ],
])('%j: %j', (object, errors) => {
  expect(create(object).map(printFieldError)).toEqual(errors)
})

test('the parent stays', () => {
  const [old, changed] = [address('10.0.0.1'), address('10.0.0.1', { parentRef: { ...parentRef, name: 'b' } })]
  const errors = update(changed, old).filter(({ field }) => field.startsWith('spec'))
  expect(errors.map(printFieldError)).toEqual([
    'spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"x","Name":"b"}: field is immutable',
  ])
})

test('the row names the parent', () => {
  const row = tableRowOf('networking.k8s.io/v1', 'ipaddresses')
  expect(row(address('10.0.0.1'), 0)).toEqual(['10.0.0.1', 'services/x/a', '<unknown>'])
})
