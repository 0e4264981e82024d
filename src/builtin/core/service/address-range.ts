// The ranges of the addresses of services: one, or one of each family. The family of the first is the preferred one.
import { bitsOf, familyOf, type IpFamily, parseCidr, printAddress } from '../../common/ip-rules.js'

export interface AddressRange {
  readonly text: string
  readonly family: IpFamily
  /** The address of the network, which no service gets. */
  readonly network: bigint
  /** The addresses after it that services can have. */
  readonly usable: bigint
  readonly size: bigint
}

/** `10.0.0.0/24`, or `10.0.0.0/16,fd00::/108`. Undefined if they are no ranges for services. */
export function parseServiceRanges(ranges: string): readonly AddressRange[] | undefined {
  const parsed = ranges.split(',').map(parseRange)
  const known = parsed.filter(range => range !== undefined)
  const areDistinct = new Set(known.map(({ family }) => family)).size === known.length
  return known.length === parsed.length && known.length <= 2 && areDistinct ? known : undefined
}

/** kube-apiserver takes IPv6 ranges of 64 bits at most. */
const WIDEST_IPV6 = 64

/** A range of the flags, which has at least four addresses. */
function parseRange(text: string): AddressRange | undefined {
  const range = parseAddressRange(text)
  return range !== undefined && range.size >= 4n ? range : undefined
}

/** A range of any size; undefined if it is none, or too wide. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const range = parseCidr(text)
  if (range === undefined || (range.family === 'IPv6' && range.prefix < WIDEST_IPV6)) return undefined
  const size = 1n << BigInt((range.family === 'IPv4' ? 32 : 128) - range.prefix)
  // The last address of an IPv4 range is for broadcast.
  const usable = size - (range.family === 'IPv4' ? 2n : 1n)
  return { text, family: range.family, network: range.first, usable: usable < 0n ? 0n : usable, size }
}

/** Why no address or port can be taken. */
export const FULL = 'range is full'

/** The address at that place after the address of the network. */
export const addressAt = ({ network, family }: AddressRange, place: bigint): string =>
  printAddress(network + place, family)

/** The place of an address in a range; undefined if it is not in it. */
export function placeOf({ family, network, size }: AddressRange, address: string): bigint | undefined {
  if (familyOf(address) !== family) return undefined
  const place = bitsOf(address, family) - network
  return place >= 0n && place < size ? place : undefined
}

/** Whether services can have an address of the range. */
export function canHave(range: AddressRange, address: string): boolean {
  const place = placeOf(range, address)
  return place !== undefined && place > 0n && place <= range.usable
}
