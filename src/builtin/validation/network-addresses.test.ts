import { describe, expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { ipAddressValidation, serviceCidrValidation } from './network-addresses.js'

const parentRef = { resource: 'services', namespace: 'x', name: 'a' }
const address = (name: string, spec: ValueObject = { parentRef }): ValueObject => ({ metadata: { name }, spec })
const range = (...cidrs: string[]): ValueObject => ({ metadata: { name: 'a' }, spec: { cidrs } })

describe('an address', () => {
  test.each([
    [address('10.0.0.1'), []],
    [address('2001:db8::1'), []],
    [
      address('not-an-ip'),
      ['metadata.name: Invalid value: "not-an-ip": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
    ],
    [address('10.0.0.1', {}), ['spec.parentRef: Required value']],
    [address('10.0.0.1', { parentRef: { resource: 'services' } }), ['spec.parentRef.name: Required value']],
  ])('%j: %j', (object, errors) => {
    expect(ipAddressValidation.create(object).map(printFieldError)).toEqual(errors)
  })
})

describe('a range', () => {
  test.each([
    [range('10.0.0.0/24'), []],
    [range('10.0.0.0/24', '2001:db8::/64'), []],
    [range(), ['spec.cidrs: Required value: at least one CIDR required']],
    [
      range('x'),
      ['spec.cidrs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
    ],
  ])('%j: %j', (object, errors) => {
    expect(serviceCidrValidation.create(object).map(printFieldError)).toEqual(errors)
  })
})
