// IP addresses and networks: isIP, ip, isCIDR, cidr and their functions.

import { failed, parsed, type Result } from '../../base/result.js'
import { quote } from '../../meta/go/go-text.js'
import { CelError, NO_SUCH_OVERLOAD } from '../cel-error.js'
import { BOOL, type CelType, INT, opaqueType, STRING } from '../check/cel-type.js'
import { add, fixed, type Interval, STRING_TRAVERSAL, scale, traversal } from '../cost/cost-intervals.js'
import type { WorkBudget } from '../cost/work-budget.js'
import type { FunctionDeclaration, Library, Overload } from '../environment.js'
import { costSize, OpaqueValue, type Value } from '../values/values.js'
import {
  type Address,
  contains,
  isMapped,
  mask,
  type Prefix,
  parseAddress,
  parsePrefix,
  printAddress,
  sameAddress,
} from './ip-address.js'

const IP_TYPE = opaqueType('net.IP')
const CIDR_TYPE = opaqueType('net.CIDR')

class IpValue extends OpaqueValue {
  readonly type = IP_TYPE
  override readonly size: number
  constructor(readonly address: Address) {
    super()
    this.size = address.length
  }
  equals(other: Value): boolean {
    return other instanceof IpValue && sameAddress(this.address, other.address)
  }
}

class CidrValue extends OpaqueValue {
  readonly type = CIDR_TYPE
  override readonly size: number
  constructor(readonly prefix: Prefix) {
    super()
    this.size = Math.ceil(prefix.bits / 8)
  }
  equals(other: Value): boolean {
    const { prefix } = this
    return (
      other instanceof CidrValue &&
      prefix.bits === other.prefix.bits &&
      sameAddress(prefix.address, other.prefix.address)
    )
  }
}

/** Addresses of a zone, and IPv4 addresses written as IPv6, are taken by no part of the API. */
function readIp(text: string): Result<Address> {
  const read = parseAddress(text)
  if (!read.ok) return failed(`IP Address ${quote(text)} parse error during conversion from string: ${read.error}`)
  const { address, zone } = read.value
  if (zone !== '') return failed(`IP address ${quote(text)} with zone value is not allowed`)
  if (isMapped(address)) return failed(`IPv4-mapped IPv6 address ${quote(text)} is not allowed`)
  return parsed(address)
}

function readCidr(text: string): Result<Prefix> {
  const read = parsePrefix(text)
  const problem = 'network address parse error during conversion from string: '
  if (!read.ok) return failed(problem + read.error)
  if (isMapped(read.value.address)) return failed(`IPv4-mapped IPv6 address ${quote(text)} is not allowed`)
  return read
}

const toIp = (text: string): Value => {
  const read = readIp(text)
  return read.ok ? new IpValue(read.value) : new CelError(read.error)
}

const toCidr = (text: string): Value => {
  const read = readCidr(text)
  if (read.ok) return new CidrValue(read.value)
  return new CelError(`network address parse error during conversion from string: ${read.error}`)
}

const readCost = (text: Value, budget: WorkBudget): number => Math.ceil(costSize(text, budget) * STRING_TRAVERSAL)

/** The text is read once. */
const reading: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([text], budget) => readCost(text!, budget),
  estimate: ({ args: [text] }) => ({ cost: traversal(text!.size) }),
}

const ask = (name: string, result: CelType, read: (address: Address) => Value): FunctionDeclaration => ({
  name,
  overloads: [
    {
      id: name === 'family' ? 'ip_family' : `ip_${name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)}`,
      member: true,
      params: [IP_TYPE],
      result,
      call: ip => read((ip as IpValue).address),
    },
  ],
})

const all = (address: Address, from: number, to: number, value: number): boolean =>
  address.slice(from, to).every(byte => byte === value)
const isUnspecified = (a: Address): boolean => all(a, 0, a.length, 0)
const isLoopback = (a: Address): boolean => (a.length === 4 ? a[0] === 127 : all(a, 0, 15, 0) && a[15] === 1)
const isMulticast = (a: Address): boolean => (a.length === 4 ? (a[0]! & 0xf0) === 0xe0 : a[0] === 0xff)
const isLinkLocalMulticast = (a: Address): boolean =>
  a.length === 4 ? a[0] === 224 && a[1] === 0 && a[2] === 0 : a[0] === 0xff && (a[1]! & 0x0f) === 2
const isLinkLocalUnicast = (a: Address): boolean =>
  a.length === 4 ? a[0] === 169 && a[1] === 254 : a[0] === 0xfe && (a[1]! & 0xc0) === 0x80
const isGlobalUnicast = (a: Address): boolean =>
  !(a.length === 4 && all(a, 0, 4, 255)) &&
  !isUnspecified(a) &&
  !isLoopback(a) &&
  !isMulticast(a) &&
  !isLinkLocalUnicast(a)

/** The bytes of an address: 4 or 16. */
const BYTES: Interval = { min: 4, max: 16 }
const compareEstimate = scale(add(BYTES, BYTES), STRING_TRAVERSAL)
const compareCost = (cidr: Value, budget: WorkBudget): number =>
  Math.ceil(2 * costSize(cidr, budget) * STRING_TRAVERSAL)

const containsIp = (id: string, param: CelType, read: (value: Value) => Address | undefined): Overload => ({
  id,
  member: true,
  params: [CIDR_TYPE, param],
  result: BOOL,
  call: (cidr, other) => {
    const address = read(other)
    return address ? contains((cidr as CidrValue).prefix, address) : NO_SUCH_OVERLOAD
  },
  cost: ([cidr, other], budget) => compareCost(cidr!, budget) + (param === STRING ? readCost(other!, budget) : 0),
  estimate: ({ args: [other] }) => ({
    cost: param === STRING ? add(compareEstimate, traversal(other!.size)) : compareEstimate,
  }),
})

const containsCidr = (id: string, param: CelType): Overload => ({
  id,
  member: true,
  params: [CIDR_TYPE, param],
  result: BOOL,
  call: (cidr, other) => {
    const inner = typeof other === 'string' ? toCidr(other) : other
    if (!(inner instanceof CidrValue)) return inner
    const { prefix } = cidr as CidrValue
    return prefix.bits <= inner.prefix.bits && contains(prefix, inner.prefix.address)
  },
  cost: ([cidr, other], budget) =>
    compareCost(cidr!, budget) +
    Math.ceil(costSize(cidr!, budget) * STRING_TRAVERSAL) +
    1 +
    (param === STRING ? readCost(other!, budget) : 0),
  estimate: ({ args: [other] }) => {
    const compare = add(add(compareEstimate, traversal(BYTES)), fixed(1))
    return { cost: param === STRING ? add(compare, traversal(other!.size)) : compare }
  },
})

export const IP_LIBRARY: Library = {
  types: { 'net.IP': IP_TYPE },
  equalityCosts: { 'net.IP': () => fixed(1) },
  functions: [
    {
      name: 'isIP',
      overloads: [{ id: 'is_ip', params: [STRING], result: BOOL, call: text => readIp(text as string).ok, ...reading }],
    },
    {
      name: 'ip',
      overloads: [
        { id: 'string_to_ip', params: [STRING], result: IP_TYPE, call: text => toIp(text as string), ...reading },
      ],
    },
    {
      name: 'ip.isCanonical',
      overloads: [
        {
          id: 'ip_is_canonical',
          params: [STRING],
          result: BOOL,
          call: text => {
            const read = readIp(text as string)
            return read.ok ? printAddress(read.value) === text : new CelError(read.error)
          },
          cost: ([text], budget) => Math.ceil(costSize(text!, budget) * 2 * STRING_TRAVERSAL),
          estimate: ({ args: [text] }) => ({ cost: scale(text!.size, 2 * STRING_TRAVERSAL) }),
        },
      ],
    },
    {
      name: 'string',
      overloads: [
        { id: 'ip_to_string', params: [IP_TYPE], result: STRING, call: ip => printAddress((ip as IpValue).address) },
      ],
    },
    ask('family', INT, address => (address.length === 4 ? 4 : 6)),
    ask('isUnspecified', BOOL, isUnspecified),
    ask('isLoopback', BOOL, isLoopback),
    ask('isLinkLocalMulticast', BOOL, isLinkLocalMulticast),
    ask('isLinkLocalUnicast', BOOL, isLinkLocalUnicast),
    ask('isGlobalUnicast', BOOL, isGlobalUnicast),
  ],
}

export const CIDR_LIBRARY: Library = {
  types: { 'net.CIDR': CIDR_TYPE },
  equalityCosts: { 'net.CIDR': () => fixed(1) },
  functions: [
    {
      name: 'isCIDR',
      overloads: [
        { id: 'is_cidr', params: [STRING], result: BOOL, call: text => readCidr(text as string).ok, ...reading },
      ],
    },
    {
      name: 'cidr',
      overloads: [
        { id: 'string_to_cidr', params: [STRING], result: CIDR_TYPE, call: text => toCidr(text as string), ...reading },
      ],
    },
    {
      name: 'string',
      overloads: [
        {
          id: 'cidr_to_string',
          params: [CIDR_TYPE],
          result: STRING,
          call: cidr => {
            const { address, bits } = (cidr as CidrValue).prefix
            return `${printAddress(address)}/${bits}`
          },
        },
      ],
    },
    {
      name: 'containsIP',
      overloads: [
        containsIp('cidr_contains_ip_string', STRING, text => {
          const read = readIp(text as string)
          return read.ok ? read.value : undefined
        }),
        containsIp('cidr_contains_ip_ip', IP_TYPE, ip => (ip as IpValue).address),
      ],
    },
    {
      name: 'containsCIDR',
      overloads: [containsCidr('cidr_contains_cidr_string', STRING), containsCidr('cidr_contains_cidr', CIDR_TYPE)],
    },
    {
      name: 'ip',
      overloads: [
        {
          id: 'cidr_ip',
          member: true,
          params: [CIDR_TYPE],
          result: IP_TYPE,
          call: cidr => new IpValue((cidr as CidrValue).prefix.address),
        },
      ],
    },
    {
      name: 'masked',
      overloads: [
        {
          id: 'cidr_masked',
          member: true,
          params: [CIDR_TYPE],
          result: CIDR_TYPE,
          call: cidr => {
            const { address, bits } = (cidr as CidrValue).prefix
            return new CidrValue({ address: mask(address, bits), bits })
          },
        },
      ],
    },
    {
      name: 'prefixLength',
      overloads: [
        {
          id: 'cidr_prefix_length',
          member: true,
          params: [CIDR_TYPE],
          result: INT,
          call: cidr => (cidr as CidrValue).prefix.bits,
        },
      ],
    },
  ],
}
