// Advice about addresses: what is understood, but not written as everybody writes it.
import { indexPath } from '../meta/errors/field-errors.js'
import { quote } from '../meta/go/go-text.js'
import { mapAt, objectAt, objectsAt, stringAt, stringsAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import { canonicalIpv6, familyOf } from './common/ip-rules.js'

/** Controllers that write addresses as they should be. */
const TIDY_CONTROLLERS: ReadonlySet<string> = new Set([
  'endpointslice-controller.k8s.io',
  'endpointslicemirroring-controller.k8s.io',
])

export function endpointSliceWarnings(slice: ValueObject, old: ValueObject | undefined): string[] {
  const type = stringAt(slice, 'addressType')
  const deprecated = old === undefined && type === 'FQDN'
  const manager = mapAt(objectAt(slice, 'metadata'), 'labels')['endpointslice.kubernetes.io/managed-by']
  const isTidy = manager !== undefined && TIDY_CONTROLLERS.has(manager)
  const endpoints = isTidy ? [] : objectsAt(slice, 'endpoints')
  return [
    ...(deprecated ? ['spec.addressType: FQDN endpoints are deprecated'] : []),
    ...endpoints.flatMap((endpoint, i) =>
      stringsAt(endpoint, 'addresses').flatMap((address, j) =>
        addressWarnings(address, indexPath(`${indexPath('endpoints', i)}.addresses`, j)),
      ),
    ),
  ]
}

export function networkPolicyWarnings(policy: ValueObject): string[] {
  const spec = objectAt(policy, 'spec')
  const inRules = (rules: string, peers: string): string[] =>
    objectsAt(spec, rules).flatMap((rule, i) =>
      objectsAt(rule, peers).flatMap((peer, j) =>
        blockWarnings(objectAt(peer, 'ipBlock'), indexPath(`${indexPath(`spec.${rules}`, i)}.${peers}`, j)),
      ),
    )
  return [...inRules('ingress', 'from'), ...inRules('egress', 'to')]
}

const blockWarnings = (block: ValueObject, path: string): string[] => [
  ...rangeWarnings(stringAt(block, 'cidr'), `${path}.ipBlock.cidr`),
  ...stringsAt(block, 'except').flatMap((range, i) => rangeWarnings(range, indexPath(`${path}.ipBlock.except`, i))),
]

function addressWarnings(address: string, path: string): string[] {
  if (familyOf(address) !== 'IPv6') return []
  const canonical = canonicalIpv6(address)
  if (canonical === address) return []
  return [`${path}: IPv6 address ${quote(address)} should be in RFC 5952 canonical format (${quote(canonical)})`]
}

function rangeWarnings(range: string, path: string): string[] {
  const [address = '', prefix = ''] = range.split('/')
  if (familyOf(address) !== 'IPv6') return []
  const canonical = `${canonicalIpv6(address)}/${prefix}`
  if (canonical === range) return []
  return [`${path}: IPv6 CIDR value ${quote(range)} should be in RFC 5952 canonical format (${quote(canonical)})`]
}
