// What an address or a range of addresses must look like.
import { isIPv4, isIPv6 } from 'node:net'
import { type FieldError, fieldInvalid } from '../../meta/field-errors.js'

export type IpFamily = 'IPv4' | 'IPv6'

/** The family of an address; undefined for what is none. Zeros may lead a part of an IPv4 address. */
export function familyOf(address: string): IpFamily | undefined {
  if (isIPv4(withoutLeadingZeros(address))) return 'IPv4'
  return isIPv6(address) && !address.includes('%') ? 'IPv6' : undefined
}

export function checkIp(address: string, path: string): FieldError[] {
  const family = familyOf(address)
  if (family === undefined) {
    return [fieldInvalid(path, address, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')]
  }
  if (family === 'IPv4' && !isIPv4(address)) return [fieldInvalid(path, address, 'must not have leading 0s')]
  if (/^::ffff:/i.test(address)) return [fieldInvalid(path, address, 'must not be an IPv4-mapped IPv6 address')]
  return []
}

export function checkCidr(range: string, path: string): FieldError[] {
  const [address = '', prefix = '', more] = range.split('/')
  const family = familyOf(address)
  const bits = family === 'IPv4' ? 32 : 128
  if (family === undefined || more !== undefined || !/^[0-9]{1,3}$/.test(prefix) || Number(prefix) > bits) {
    return [fieldInvalid(path, range, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')]
  }
  return []
}

/** An address that traffic can be sent to from elsewhere. */
export function checkRoutableIp(address: string, path: string): FieldError[] {
  const told = (why: string): FieldError[] => [fieldInvalid(path, address, why)]
  if (familyOf(address) === undefined) return told('must be a valid IP address')
  const lower = address.toLowerCase()
  if (lower === '0.0.0.0' || /^[0:]+$/.test(lower)) return told(`may not be unspecified (${address})`)
  if (lower.startsWith('127.') || /^(0*:)*:?0*1$/.test(lower)) {
    return told('may not be in the loopback range (127.0.0.0/8, ::1/128)')
  }
  if (lower.startsWith('169.254.') || /^fe[89ab]/.test(lower)) {
    return told('may not be in the link-local range (169.254.0.0/16, fe80::/10)')
  }
  if (lower.startsWith('224.0.0.') || lower.startsWith('ff02:')) {
    return told('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)')
  }
  return []
}

const withoutLeadingZeros = (address: string): string => address.replace(/(^|\.)0+(?=[0-9])/g, '$1')
