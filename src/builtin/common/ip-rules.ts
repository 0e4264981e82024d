// Rules for IP addresses and CIDR ranges.
import { isIPv4, isIPv6 } from 'node:net'
import { type FieldError, fieldInvalid } from '../../meta/errors/field-errors.js'
import { quote } from '../../meta/go/go-text.js'

export type IpFamily = 'IPv4' | 'IPv6'

/** The family of an address; undefined if it is none. Parts of an IPv4 address may have leading zeros. */
export function familyOf(address: string): IpFamily | undefined {
  if (isIPv4(withoutLeadingZeros(address))) return 'IPv4'
  return isIPv6(address) && !address.includes('%') ? 'IPv6' : undefined
}

const NONE: ReadonlySet<string> = new Set()

/** The gate of the checks that go beyond whether an address or a range can be read at all. */
export const STRICT_IPS = 'StrictIPCIDRValidation'

/** For fields that have taken other forms of addresses, too, which STRICT_IPS refuses. */
export const checkIp = (address: string, path: string): FieldError[] =>
  gatedIf(familyOf(address) !== undefined, checkStrictIp(address, path))

const gatedIf = (isReadable: boolean, errors: FieldError[]): FieldError[] =>
  isReadable ? errors.map(error => Object.assign(error, { gate: STRICT_IPS })) : errors

function checkStrictIp(address: string, path: string): FieldError[] {
  const family = familyOf(address)
  if (family === undefined) {
    return [fieldInvalid(path, address, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')]
  }
  if (family === 'IPv4' && !isIPv4(address)) return [fieldInvalid(path, address, 'must not have leading 0s')]
  if (/^::ffff:/i.test(address)) return [fieldInvalid(path, address, 'must not be an IPv4-mapped IPv6 address')]
  return []
}

/** An address in the one form that newer kinds accept. */
export function checkCanonicalIp(address: string, path: string): FieldError[] {
  const errors = checkStrictIp(address, path)
  if (errors.length > 0) return errors
  const canonical = familyOf(address) === 'IPv6' ? canonicalIpv6(address) : address
  return address === canonical ? [] : [fieldInvalid(path, address, `must be in canonical form (${quote(canonical)})`)]
}

/** The same for a range. */
export function checkCanonicalCidr(range: string, path: string): FieldError[] {
  const errors = checkStrictCidr(range, path, NONE)
  if (errors.length > 0) return errors
  const [address = '', prefix = ''] = range.split('/')
  const canonical = familyOf(address) === 'IPv6' ? `${canonicalIpv6(address)}/${prefix}` : range
  return range === canonical ? [] : [fieldInvalid(path, range, `must be in canonical form (${quote(canonical)})`)]
}

/**
 * A range in CIDR notation, for fields that have taken other forms, too, which STRICT_IPS refuses. Ranges in `accepted`,
 * which are stored already, stay valid.
 */
export const checkCidr = (range: string, path: string, accepted: ReadonlySet<string> = NONE): FieldError[] =>
  gatedIf(parseCidr(range) !== undefined, checkStrictCidr(range, path, accepted))

function checkStrictCidr(range: string, path: string, accepted: ReadonlySet<string>): FieldError[] {
  const invalid = (why: string): FieldError[] => [fieldInvalid(path, range, why)]
  const found = parseCidr(range)
  if (found === undefined) return invalid('must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')
  if (accepted.has(range)) return []
  const [address = '', prefix = ''] = range.split('/')
  if (withoutLeadingZeros(address) !== address || (prefix.length > 1 && prefix.startsWith('0'))) {
    return invalid('must not have leading 0s in IP or prefix length')
  }
  if (/^::ffff:/i.test(address)) return invalid('must not have an IPv4-mapped IPv6 address')
  return found.address === found.first ? [] : invalid('must not have bits set beyond the prefix length')
}

/** The address of a network interface with the size of its network, in canonical form. */
export function checkInterfaceAddress(text: string, path: string): FieldError[] {
  const found = parseCidr(text)
  const [address = ''] = text.split('/')
  if (found === undefined) {
    const example = 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)'
    return [fieldInvalid(path, text, example)]
  }
  const canonical = `${found.family === 'IPv6' ? canonicalIpv6(address) : withoutLeadingZeros(address)}/${found.prefix}`
  return text === canonical ? [] : [fieldInvalid(path, text, `must be in canonical form (${quote(canonical)})`)]
}

export interface CidrRange {
  readonly family: IpFamily
  /** The given address and the first one of the range, as numbers. */
  readonly address: bigint
  readonly first: bigint
  readonly prefix: number
}

/** Parses a range, also one that is not in canonical form; undefined if it is none. */
export function parseCidr(range: string): CidrRange | undefined {
  const [address = '', prefix = '', more] = range.split('/')
  const family = familyOf(address)
  const size = family === 'IPv4' ? 32 : 128
  if (family === undefined || more !== undefined || !/^[0-9]{1,3}$/.test(prefix) || Number(prefix) > size) {
    return undefined
  }
  const bits = bitsOf(address, family)
  return { family, address: bits, first: firstOf(bits, size - Number(prefix)), prefix: Number(prefix) }
}

/** True if the inner range is a proper part of the outer one. */
export function isStrictlyWithin(inner: CidrRange, outer: CidrRange): boolean {
  if (inner.family !== outer.family || inner.prefix <= outer.prefix) return false
  return firstOf(inner.first, (outer.family === 'IPv4' ? 32 : 128) - outer.prefix) === outer.first
}

const firstOf = (bits: bigint, free: number): bigint => (bits >> BigInt(free)) << BigInt(free)

/** An IPv6 address as RFC 5952 writes it. */
export const canonicalIpv6 = (address: string): string => new URL(`http://[${address}]/`).hostname.slice(1, -1)

/** An address as it is named: without leading zeros, or as RFC 5952 writes it. */
export const canonicalAddress = (address: string): string =>
  address.includes(':') ? canonicalIpv6(address) : withoutLeadingZeros(address)

export const printAddress = (bits: bigint, family: IpFamily): string =>
  family === 'IPv4'
    ? [24n, 16n, 8n, 0n].map(shift => String((bits >> shift) & 255n)).join('.')
    : canonicalIpv6(
        [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n].map(shift => ((bits >> shift) & 65_535n).toString(16)).join(':'),
      )

export function bitsOf(address: string, family: IpFamily): bigint {
  if (family === 'IPv4') {
    return withoutLeadingZeros(address)
      .split('.')
      .reduce((bits, part) => bits * 256n + BigInt(part), 0n)
  }
  const [head = '', tail] = canonicalIpv6(address).split('::')
  const before = groupsOf(head)
  const after = groupsOf(tail ?? '')
  const groups = [...before, ...Array<bigint>(8 - before.length - after.length).fill(0n), ...after]
  return groups.reduce((bits, group) => bits * 65_536n + group, 0n)
}

const groupsOf = (text: string): bigint[] => (text === '' ? [] : text.split(':').map(group => BigInt(`0x${group}`)))

/** An address that traffic can be sent to from elsewhere. */
export function checkRoutableIp(address: string, path: string): FieldError[] {
  const invalid = (why: string): FieldError[] => [fieldInvalid(path, address, why)]
  if (familyOf(address) === undefined) return invalid('must be a valid IP address')
  const lower = address.toLowerCase()
  if (lower === '0.0.0.0' || /^[0:]+$/.test(lower)) return invalid(`may not be unspecified (${address})`)
  if (lower.startsWith('127.') || /^(0*:)*:?0*1$/.test(lower)) {
    return invalid('may not be in the loopback range (127.0.0.0/8, ::1/128)')
  }
  if (lower.startsWith('169.254.') || /^fe[89ab]/.test(lower)) {
    return invalid('may not be in the link-local range (169.254.0.0/16, fe80::/10)')
  }
  if (lower.startsWith('224.0.0.') || lower.startsWith('ff02:')) {
    return invalid('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)')
  }
  return []
}

export const withoutLeadingZeros = (address: string): string => address.replace(/(^|\.)0+(?=[0-9])/g, '$1')
