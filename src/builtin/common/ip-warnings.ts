// Warnings about addresses that are valid but not in their canonical form.
import { quote } from '../../meta/go/go-text.js'
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { canonicalIpv6, familyOf } from './ip-rules.js'

export function ipWarnings(address: string, path: string): string[] {
  if (familyOf(address) !== 'IPv6') return []
  const canonical = canonicalIpv6(address)
  if (canonical === address) return []
  return [`${path}: IPv6 address ${quote(address)} should be in RFC 5952 canonical format (${quote(canonical)})`]
}

export function cidrWarnings(range: string, path: string): string[] {
  const [address = '', prefix = ''] = range.split('/')
  if (familyOf(address) !== 'IPv6') return []
  const canonical = `${canonicalIpv6(address)}/${prefix}`
  if (canonical === range) return []
  return [`${path}: IPv6 CIDR value ${quote(range)} should be in RFC 5952 canonical format (${quote(canonical)})`]
}

/** The addresses of load balancers in a status. */
export const loadBalancerWarnings = (object: ValueObject): string[] =>
  objectsAt(objectAt(objectAt(object, 'status'), 'loadBalancer'), 'ingress').flatMap((point, i) =>
    ipWarnings(stringAt(point, 'ip'), `status.loadBalancer.ingress[${i}]`),
  )
