// IP addresses and networks as Go's net/netip reads and writes them, with its error messages.

import { failed, parsed, type Result } from '../../base/result.js'
import { quote } from '../../meta/go/go-text.js'

/** 4 or 16 bytes. */
export type Address = readonly number[]

export function parseAddress(text: string): Result<{ address: Address; zone: string }> {
  const fail = (why: string, at?: string): Result<never> =>
    failed(`ParseAddr(${quote(text)}): ${why}${at === undefined ? '' : ` (at ${quote(at)})`}`)
  const kind = /[.:%]/.exec(text)?.[0]
  if (kind === '.') {
    const v4 = parseV4(text)
    return v4.ok ? parsed({ address: v4.value, zone: '' }) : fail(v4.error)
  }
  if (kind === '%') return fail('missing IPv6 address')
  if (kind !== ':') return fail('unable to parse IP')
  const percent = text.indexOf('%')
  const zone = percent < 0 ? '' : text.slice(percent + 1)
  if (percent >= 0 && zone === '') return fail('zone must be a non-empty string')
  const v6 = parseV6(percent < 0 ? text : text.slice(0, percent))
  return v6.ok ? parsed({ address: v6.value, zone }) : fail(v6.error)
}

function parseV4(text: string): Result<Address> {
  const bad = /[^0-9.]/.exec(text)
  if (bad) return failed(`unexpected character (at ${quote(text.slice(bad.index))})`)
  const fields = text.split('.')
  const bytes: number[] = []
  for (const field of fields) {
    if (field === '')
      return failed(`IPv4 field must have at least one digit (at ${quote(text.slice(text.indexOf('..') + 1))})`)
    if (field.length > 1 && field.startsWith('0')) return failed('IPv4 field has octet with leading zero')
    if (Number(field) > 255) return failed('IPv4 field has value >255')
    if (bytes.length === 4) return failed('IPv4 address too long')
    bytes.push(Number(field))
  }
  return bytes.length < 4 ? failed('IPv4 address too short') : parsed(bytes)
}

function parseV6(text: string): Result<Address> {
  const parts = text.split('::')
  if (parts.length > 2) return failed('multiple :: in address')
  const halves: number[][] = []
  for (const [i, half] of parts.entries()) {
    const bytes = parseGroups(half, i === parts.length - 1)
    if (!bytes.ok) return bytes
    halves.push(bytes.value)
  }
  const [head = [], tail] = halves
  if (tail === undefined) {
    if (head.length < 16) return failed('address string too short')
    return head.length > 16 ? failed('trailing garbage after address') : parsed(head)
  }
  const missing = 16 - head.length - tail.length
  if (missing <= 0) return failed('the :: must expand to at least one field of zeros')
  return parsed([...head, ...Array.from<number>({ length: missing }).fill(0), ...tail])
}

function parseGroups(text: string, last: boolean): Result<number[]> {
  if (text === '') return parsed([])
  const bytes: number[] = []
  const groups = text.split(':')
  for (const [i, group] of groups.entries()) {
    if (last && i === groups.length - 1 && group.includes('.')) {
      const v4 = parseV4(group)
      if (!v4.ok) return v4
      bytes.push(...v4.value)
    } else if (!/^[0-9a-fA-F]+$/.test(group)) {
      return failed('each colon-separated field must have at least one digit')
    } else if (group.length > 4) return failed('each group must have 4 or less digits')
    else {
      const value = Number.parseInt(group, 16)
      bytes.push(value >> 8, value & 0xff)
    }
  }
  return parsed(bytes)
}

/** True for IPv4 written as IPv6: `::ffff:1.2.3.4`. */
export const isMapped = (address: Address): boolean =>
  address.length === 16 &&
  address.slice(0, 10).every(byte => byte === 0) &&
  address[10] === 0xff &&
  address[11] === 0xff

/** The one way to write it: lower case, the longest run of zeros as `::`. */
export function printAddress(address: Address): string {
  if (address.length === 4) return address.join('.')
  const groups = Array.from({ length: 8 }, (_, i) => address[2 * i]! * 256 + address[2 * i + 1]!)
  let best = { start: -1, length: 1 }
  for (let start = 0; start < 8; start++) {
    let end = start
    while (end < 8 && groups[end] === 0) end++
    if (end - start > best.length) best = { start, length: end - start }
  }
  const hex = (part: readonly number[]): string => part.map(group => group.toString(16)).join(':')
  if (best.start < 0) return hex(groups)
  return `${hex(groups.slice(0, best.start))}::${hex(groups.slice(best.start + best.length))}`
}

export interface Prefix {
  readonly address: Address
  readonly bits: number
}

export function parsePrefix(text: string): Result<Prefix> {
  const fail = (why: string): Result<never> => failed(`netip.ParsePrefix(${quote(text)}): ${why}`)
  const slash = text.lastIndexOf('/')
  if (slash < 0) return fail("no '/'")
  const address = parseAddress(text.slice(0, slash))
  if (!address.ok) return fail(address.error)
  if (address.value.zone !== '') return fail('IPv6 zones cannot be present in a prefix')
  const bits = text.slice(slash + 1)
  if (!/^(?:0|[1-9][0-9]{0,9})$/.test(bits)) return fail(`bad bits after slash: ${quote(bits)}`)
  if (Number(bits) > address.value.address.length * 8) return fail('prefix length out of range')
  return parsed({ address: address.value.address, bits: Number(bits) })
}

/** The address with all bits behind the prefix cleared. */
export const mask = (address: Address, bits: number): Address =>
  address.map((byte, i) => {
    const kept = Math.min(Math.max(bits - i * 8, 0), 8)
    return byte & (0xff << (8 - kept)) & 0xff
  })

export const sameAddress = (a: Address, b: Address): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i])

export const contains = ({ address, bits }: Prefix, other: Address): boolean =>
  address.length === other.length && sameAddress(mask(address, bits), mask(other, bits))
