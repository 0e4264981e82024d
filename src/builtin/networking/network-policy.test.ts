import { describe, expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { created, validationOf } from '../written-objects.suite.js'

const metadata = { name: 'x', namespace: 'n' }
const errorsOf = (apiVersion: string, kind: string, object: ValueObject): string[] =>
  validationOf(apiVersion, kind, true)
    .create({ metadata, ...object })
    .map(printFieldError)

describe('a network policy', () => {
  const policy = (ipBlock: ValueObject): ValueObject => ({
    metadata,
    spec: { podSelector: {}, egress: [{ to: [{ ipBlock }] }] },
  })
  const block = (ipBlock: ValueObject): string[] => errorsOf('networking.k8s.io/v1', 'NetworkPolicy', policy(ipBlock))
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

  test('a stored range stays accepted', () => {
    const old = policy({ cidr: '10.0.0.1/8' })
    const { update } = validationOf('networking.k8s.io/v1', 'NetworkPolicy', true)
    expect(update(old, old).filter(({ field }) => field.startsWith('spec'))).toEqual([])
  })

  test('a named port has no end', () => {
    const spec = { podSelector: {}, ingress: [{ ports: [{ port: 'dns', endPort: 5 }] }] }
    expect(errorsOf('networking.k8s.io/v1', 'NetworkPolicy', { spec })).toEqual([
      'spec.ingress[0].ports[0].endPort: Invalid value: 5: may not be specified when `port` is non-numeric',
    ])
  })
})

test('defaults', () => {
  const spec = { podSelector: {}, egress: [{ ports: [{ port: 53 }] }] }
  expect(created('networking.k8s.io/v1', 'NetworkPolicy', { spec })).toMatchObject({
    metadata: { generation: 1 },
    spec: { egress: [{ ports: [{ protocol: 'TCP' }] }], policyTypes: ['Ingress', 'Egress'] },
  })
})
