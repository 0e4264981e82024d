// Warnings about addresses and ranges that are accepted but not in their canonical form.
import { isIPv4 } from 'node:net'
import { quote } from '../../meta/go/go-text.js'
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { type CidrRange, canonicalIpv6, familyOf, type IpFamily, parseCidr, withoutLeadingZeros } from './ip-rules.js'

export function ipWarnings(address: string, path: string): string[] {
  const family = familyOf(address)
  if (family === undefined) return []
  const canonical = canonicalIp(address, family)
  if (canonical === address) return []
  return family === 'IPv4' || isMapped(address)
    ? [`${path}: non-standard IP address ${quote(address)} is invalid: use ${quote(canonical)}`]
    : [`${path}: IPv6 address ${quote(address)} should be in RFC 5952 canonical format (${quote(canonical)})`]
}

export function cidrWarnings(range: string, path: string): string[] {
  const found = parseCidr(range)
  if (found === undefined) return []
  const [address = '', prefix = ''] = range.split('/')
  const network = networkOf(found)
  const warnings: string[] = []
  if (found.address !== found.first) {
    const single = `${canonicalIp(address, found.family)}/${found.family === 'IPv4' ? 32 : 128}`
    const either = `${quote(network)} or ${quote(single)}?`
    warnings.push(`${path}: CIDR value ${quote(range)} is ambiguous in this context (should be ${either})`)
  }
  const hasZeros = prefix !== String(found.prefix) || (found.family === 'IPv4' && !isIPv4(address))
  if (hasZeros || isMapped(address)) {
    warnings.push(`${path}: non-standard CIDR value ${quote(range)} is invalid: use ${quote(network)}`)
  }
  if (warnings.length > 0 || network === range) return warnings
  return [`${path}: IPv6 CIDR value ${quote(range)} should be in RFC 5952 canonical format (${quote(network)})`]
}

const isMapped = (address: string): boolean => /^::ffff:/i.test(address)

/** An address as it should be written. An IPv4 address in the form of IPv6 is written as the former. */
function canonicalIp(address: string, family: IpFamily): string {
  if (family === 'IPv4') return withoutLeadingZeros(address)
  return isMapped(address) ? printIpv4(parseCidr(`${address}/128`)!.address) : canonicalIpv6(address)
}

/** A range as it should be written, without bits beyond its prefix. */
function networkOf({ family, address, first, prefix }: CidrRange): string {
  if (family === 'IPv4') return `${printIpv4(first)}/${prefix}`
  const isMappedRange = address >> 32n === 0xffffn && prefix >= 96
  return isMappedRange ? `${printIpv4(first)}/${prefix - 96}` : `${printIpv6(first)}/${prefix}`
}

const printIpv4 = (bits: bigint): string => [24n, 16n, 8n, 0n].map(shift => (bits >> shift) & 255n).join('.')

const printIpv6 = (bits: bigint): string =>
  canonicalIpv6(Array.from({ length: 8 }, (_, i) => ((bits >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(':'))

/** The addresses of load balancers in a status. */
export const loadBalancerWarnings = (object: ValueObject): string[] =>
  objectsAt(objectAt(objectAt(object, 'status'), 'loadBalancer'), 'ingress').flatMap((point, i) =>
    ipWarnings(stringAt(point, 'ip'), `status.loadBalancer.ingress[${i}]`),
  )
