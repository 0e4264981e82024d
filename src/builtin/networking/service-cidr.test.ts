import { expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { changed, created, validationOf } from '../written-objects.suite.js'

const KIND = ['networking.k8s.io/v1', 'ServiceCIDR'] as const
const { create, update } = validationOf(...KIND, false)
const range = (...cidrs: string[]): ValueObject => ({ metadata: { name: 'a', resourceVersion: '1' }, spec: { cidrs } })

test.each([
  [range('10.0.0.0/24'), []],
  [range('10.0.0.0/24', '2001:db8::/64'), []],
  [range(), ['spec.cidrs: Required value: at least one CIDR required']],
  [range('x'), ['spec.cidrs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
  [
    range('2001:db8:0::/64'),
    ['spec.cidrs[0]: Invalid value: "2001:db8:0::/64": must be in canonical form ("2001:db8::/64")'],
  ],
  [
    range('10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24'),
    ['spec.cidrs: Invalid value: {"CIDRs":["10.0.0.0/24","10.0.1.0/24","10.0.2.0/24"]}: may only hold up to 2 values'],
  ],
  [
    range('10.0.0.0/24', '10.0.1.0/24'),
    [
      'spec.cidrs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
    ],
  ],
])('%j: %j', (object, errors) => {
  expect(create(object).map(printFieldError)).toEqual(errors)
})

test.each([
  [range('10.0.0.0/24', '2001:db8::/64'), []],
  [range('10.0.1.0/24'), ['spec.cidrs[0]: Invalid value: "10.0.1.0/24": field is immutable']],
  [range(), ['spec.cidrs: Invalid value: []: field is immutable']],
])('a stored range of IPv4 changed to %j', (object, errors) => {
  expect(update(object, range('10.0.0.0/24')).map(printFieldError)).toEqual(errors)
})

test('a write to the status does not change metadata', () => {
  const old = created(...KIND, { metadata: { labels: { a: 'b' } }, spec: { cidrs: ['10.0.0.0/24'] } })
  const patch = { metadata: { labels: { a: 'c' }, annotations: { d: 'e' } }, status: { conditions: [] } }
  expect(changed(...KIND, old, patch, 'status')['metadata']).toEqual(old['metadata'])
})
