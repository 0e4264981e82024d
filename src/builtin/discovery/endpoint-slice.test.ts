import { describe, expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { validationOf, warningsFor } from '../written-objects.suite.js'

const metadata = { name: 'x', namespace: 'n' }
const errorsOf = (apiVersion: string, kind: string, object: ValueObject): string[] =>
  validationOf(apiVersion, kind, true)
    .create({ metadata, ...object })
    .map(printFieldError)

describe('an endpoint slice', () => {
  const slice = (object: ValueObject): string[] => errorsOf('discovery.k8s.io/v1', 'EndpointSlice', object)
  const endpoints = (addressType: string, endpoint: ValueObject): string[] =>
    slice({ addressType, endpoints: [endpoint] })

  test.each([
    ['IPv4', '192.0.2.1', undefined],
    ['IPv6', '2001:db8::1', undefined],
    ['IPv4', '2001:db8::1', 'endpoints[0].addresses: Invalid value: "2001:db8::1": must be an IPv4 address'],
    ['IPv4', '127.0.0.1', 'may not be in the loopback range'],
    ['FQDN', 'a.example.com', undefined],
    ['FQDN', 'a.example.com.', undefined],
    ['FQDN', 'a', 'should be a domain with at least two segments separated by dots'],
  ])('of type %s with the address %s', (type, address, error) => {
    const found = endpoints(type, { addresses: [address] })
    if (error === undefined) expect(found).toEqual([])
    else expect(found).toEqual([expect.stringContaining(error)])
  })

  test('hints are unique and few', () => {
    const hints = { forZones: [{ name: 'a' }, { name: 'a' }], forNodes: 'abcdefghi'.split('').map(name => ({ name })) }
    expect(endpoints('IPv4', { addresses: ['192.0.2.1'], hints })).toEqual([
      'endpoints[0].hints.forZones[1].name: Duplicate value: "a"',
      'endpoints[0].hints.forNodes: Too many: 9: must have at most 8 items',
    ])
  })

  test('unchanged endpoints stay accepted', () => {
    const old = {
      metadata: { ...metadata, resourceVersion: '1' },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['x'] }],
    }
    const rules = validationOf('discovery.k8s.io/v1', 'EndpointSlice', true)
    expect(rules.update({ ...old, ports: [{ name: '', protocol: 'TCP' }] }, old)).toEqual([])
  })

  test('an address that is not canonical is warned of', () => {
    const object = { metadata, addressType: 'IPv6', endpoints: [{ addresses: ['2001:db8:0:0::2'] }] }
    expect(warningsFor('discovery.k8s.io/v1', 'EndpointSlice', object)).toEqual([
      'endpoints[0].addresses[0]: IPv6 address "2001:db8:0:0::2" should be in RFC 5952 canonical format ("2001:db8::2")',
    ])
  })
})
