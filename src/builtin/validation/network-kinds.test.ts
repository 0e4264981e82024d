// The kinds of the network: endpoint slices, policies, classes of ingresses; and disruption budgets.
import { describe, expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { validationOf, warningsFor } from '../written-objects.suite.js'

const metadata = { name: 'x', namespace: 'n' }
const told = (apiVersion: string, kind: string, object: ValueObject, namespaced = true): string[] =>
  validationOf(apiVersion, kind, namespaced)
    .create({ metadata, ...object })
    .map(printFieldError)

describe('an endpoint slice', () => {
  const slice = (object: ValueObject): string[] => told('discovery.k8s.io/v1', 'EndpointSlice', object)
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

  test('has hints that differ', () => {
    const hints = { forZones: [{ name: 'a' }, { name: 'a' }], forNodes: 'abcdefghi'.split('').map(name => ({ name })) }
    expect(endpoints('IPv4', { addresses: ['192.0.2.1'], hints })).toEqual([
      'endpoints[0].hints.forZones[1].name: Duplicate value: "a"',
      'endpoints[0].hints.forNodes: Too many: 9: must have at most 8 items',
    ])
  })

  test('that is changed elsewhere keeps endpoints that would be refused today', () => {
    const old = {
      metadata: { ...metadata, resourceVersion: '1' },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['x'] }],
    }
    const rules = validationOf('discovery.k8s.io/v1', 'EndpointSlice', true)
    expect(rules.update({ ...old, ports: [{ name: '', protocol: 'TCP' }] }, old)).toEqual([])
  })

  test('is advised to write addresses as others do', () => {
    const object = { metadata, addressType: 'IPv6', endpoints: [{ addresses: ['2001:db8:0:0::2'] }] }
    expect(warningsFor('discovery.k8s.io/v1', 'EndpointSlice', object)).toEqual([
      'endpoints[0].addresses[0]: IPv6 address "2001:db8:0:0::2" should be in RFC 5952 canonical format ("2001:db8::2")',
    ])
  })
})

describe('a network policy', () => {
  const policy = (ipBlock: ValueObject): ValueObject => ({
    metadata,
    spec: { podSelector: {}, egress: [{ to: [{ ipBlock }] }] },
  })
  const block = (ipBlock: ValueObject): string[] => told('networking.k8s.io/v1', 'NetworkPolicy', policy(ipBlock))
  const at = 'spec.egress[0].to[0].ipBlock'

  test.each([
    [{ cidr: '2001:db8::/32', except: ['2001:db8:1::/48'] }, []],
    [{ cidr: '' }, [`${at}.cidr: Required value`]],
    [
      { cidr: '10.0.0.1/8' },
      [`${at}.cidr: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length`],
    ],
    [
      { cidr: '10.0.0.0/08' },
      [`${at}.cidr: Invalid value: "10.0.0.0/08": must not have leading 0s in IP or prefix length`],
    ],
    [
      { cidr: '10.0.0.0/8', except: ['10.0.0.0/8', '2001:db8::/64'] },
      [
        `${at}.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of \`cidr\``,
        `${at}.except[1]: Invalid value: "2001:db8::/64": must be a strict subset of \`cidr\``,
      ],
    ],
  ])('with %j', (ipBlock, errors) => expect(block(ipBlock)).toEqual(errors))

  test('keeps a range that would be refused today', () => {
    const old = policy({ cidr: '10.0.0.1/8' })
    const { update } = validationOf('networking.k8s.io/v1', 'NetworkPolicy', true)
    expect(update(old, old).filter(({ field }) => field.startsWith('spec'))).toEqual([])
  })

  test('names a port by itself', () => {
    const spec = { podSelector: {}, ingress: [{ ports: [{ port: 'dns', endPort: 5 }] }] }
    expect(told('networking.k8s.io/v1', 'NetworkPolicy', { spec })).toEqual([
      'spec.ingress[0].ports[0].endPort: Invalid value: 5: may not be specified when `port` is non-numeric',
    ])
  })
})

test.each([
  ['a.b/c', []],
  ['/c', ['must be a domain-prefixed path (such as "acme.io/foo")']],
  ['a.b/c d', ["Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"]],
  [`a.b/${'c'.repeat(250)}`, ['may not be more than 250 bytes']],
])('the controller of an ingress class: %s', (controller, details) => {
  const { create } = validationOf('networking.k8s.io/v1', 'IngressClass', false)
  expect(create({ metadata: { name: 'x' }, spec: { controller } }).map(({ detail }) => detail)).toEqual(details)
})

test('a disruption budget counts what is there', () => {
  const { status } = validationOf('policy/v1', 'PodDisruptionBudget', true)
  const budget = { metadata: { ...metadata, resourceVersion: '1' }, status: { currentHealthy: -1 } }
  expect(status!(budget, budget).map(printFieldError)).toEqual([
    'status.currentHealthy: Invalid value: -1: must be greater than or equal to 0',
  ])
})
