// A pool of service addresses and node ports. Each is taken from a range, starting at a random place, so that a released
// one is not reused at once. An address belongs to the caller whose claim succeeded.
import { failed, parsed, type Result } from '../../../base/result.js'
import { canonicalAddress } from '../../common/ip-rules.js'
import { type AddressRange, addressAt, canHave, FULL, parseServiceRanges } from './address-range.js'
import type { AddressPool } from './service-addresses.js'

/** A claim that cannot be stored, for the service has no name. */
export class NotClaimable extends Error {}

/** A claim succeeds once, until it is released. */
export interface Claims<T> {
  /** Throws NotClaimable. */
  claim(what: T): Promise<boolean>
  release(what: T): Promise<void>
}

export interface AddressPoolOptions {
  /** The ranges of the flags, whose families are those of the cluster: `10.0.0.0/24`, or `10.0.0.0/16,fd00::/108`. */
  readonly range: string
  /** The ranges that addresses are taken from, in the order in which they are tried; those of the flags by default. */
  readonly readyRanges?: () => Promise<readonly AddressRange[]>
  readonly nodePorts?: PortRange | undefined
  readonly isStrict?: boolean
  /** In memory by default. */
  readonly addresses?: Claims<string>
  readonly ports?: Claims<number>
  /**
   * In a dry run a service that names no address or port shows a placeholder, as in kube-apiserver: the first address of
   * the range, a port after the last. Those it names are not compared with the ranges of ports or with other services'
   * addresses.
   */
  readonly dryRun?: boolean
}

export interface PortRange {
  readonly from: number
  readonly to: number
}

export const NODE_PORTS: PortRange = { from: 30_000, to: 32_767 }

/** `30000-32767`, `30000+2767` or one port; undefined if it is none of these. */
export function parsePortRange(text: string): PortRange | undefined {
  const [, first, sign, second] = /^(\d{1,5})(?:([-+])(\d{1,5}))?$/.exec(text) ?? []
  if (first === undefined) return undefined
  const from = Number(first)
  const to = sign === undefined ? from : sign === '-' ? Number(second) : from + Number(second)
  return from >= 1 && from <= to && to <= 65_535 ? { from, to } : undefined
}

/** Throws if these are no ranges of addresses. */
export function addressPool({
  range,
  readyRanges,
  nodePorts = NODE_PORTS,
  isStrict = true,
  addresses = claimsInMemory(),
  ports = claimsInMemory(),
  dryRun = false,
}: AddressPoolOptions): AddressPool {
  const ranges = parseServiceRanges(range)
  if (ranges === undefined) throw new Error(`${JSON.stringify(range)} is not a range of addresses such as 10.0.0.0/24`)
  const { from, to } = nodePorts
  /** The ports that the service of a dry run has so far. */
  const shown = new Set<number>()
  let highest = DRY_RUN_PORT
  const placeholderPort = async (port: number | undefined): Promise<Result<number>> => {
    if (port !== undefined && (shown.has(port) || !(await ports.claim(port)))) {
      return failed('provided port is already allocated')
    }
    const given = port ?? highest + 1
    highest = shown.size === 0 ? given : Math.max(highest, given)
    shown.add(given)
    return parsed(given)
  }
  return {
    families: ranges.map(({ family }) => family),
    isStrict,
    async takeAddress(family, address) {
      const ready = readyRanges === undefined ? ranges : await readyRanges()
      const own = ready.filter(each => each.family === family)
      if (address === undefined) {
        if (!dryRun) return orReason(() => takeAny(own, addresses))
        return own[0] === undefined ? failed(FULL) : parsed(addressAt(own[0], 0n))
      }
      if (!own.some(each => canHave(each, address))) return failed(dryRun ? outside(address, own[0]) : OTHER_NETWORK)
      return orReason(async () =>
        dryRun || (await addresses.claim(address)) ? parsed(address) : failed('provided IP is already allocated'),
      )
    },
    releaseAddress: address => addresses.release(address),
    async takeNodePort(port) {
      if (dryRun) return placeholderPort(port)
      if (port === undefined) {
        const count = to - from + 1
        const reserved = reservedOf(count, { parts: 32, most: 128 })
        return anyFree(from, count, reserved, number => ports.claim(number))
      }
      if (port < from || port > to) {
        return failed(`provided port is not in the valid range. The range of valid ports is ${from}-${to}`)
      }
      return (await ports.claim(port)) ? parsed(port) : failed('provided port is already allocated')
    },
    releaseNodePort: port => ports.release(port),
  }
}

/** The ports of a dry run come after this one. */
const DRY_RUN_PORT = 32_768

const OTHER_NETWORK = 'the provided network does not match the current range'

/** A dry run asks one range, whatever the address; a create looks for the range of the address. */
function outside(address: string, range: AddressRange | undefined): string {
  if (range === undefined) return OTHER_NETWORK
  const valid = `The range of valid IPs is ${range.text}`
  return `the provided IP (${canonicalAddress(address)}) is not in the valid range. ${valid}`
}

async function orReason(take: () => Promise<Result<string>>): Promise<Result<string>> {
  try {
    return await take()
  } catch (error) {
    if (error instanceof NotClaimable) return failed(error.message)
    throw error
  }
}

/** Any free address of the first range that has one. */
async function takeAny(ranges: readonly AddressRange[], addresses: Claims<string>): Promise<Result<string>> {
  for (const range of ranges) {
    const found = await takeOf(range, addresses)
    if (found.ok) return found
  }
  return failed(FULL)
}

async function takeOf(range: AddressRange, addresses: Claims<string>): Promise<Result<string>> {
  const count = Number(range.usable < MAX_CANDIDATES ? range.usable : MAX_CANDIDATES)
  const reserved = reservedOf(Number(range.size), { parts: 16, most: 256 })
  const found = await anyFree(1, count, reserved, place => addresses.claim(addressAt(range, BigInt(place))))
  return found.ok ? parsed(addressAt(range, BigInt(found.value))) : found
}

/** The addresses of a large range that are used. */
const MAX_CANDIDATES = 2n ** 48n

/**
 * The first part of a range is for those that services name; it is used for others only when the rest is full. A small
 * range has no such part.
 */
const reservedOf = (size: number, { parts, most }: { readonly parts: number; readonly most: number }): number =>
  size <= LEAST_RESERVED ? 0 : Math.min(Math.max(Math.floor(size / parts), LEAST_RESERVED), most)

const LEAST_RESERVED = 16

async function anyFree(
  from: number,
  count: number,
  reserved: number,
  claim: (number: number) => Promise<boolean>,
): Promise<Result<number>> {
  const found = await firstFree(from + reserved, count - reserved, claim)
  return found.ok || reserved === 0 ? found : firstFree(from, reserved, claim)
}

async function firstFree(
  from: number,
  count: number,
  claim: (number: number) => Promise<boolean>,
): Promise<Result<number>> {
  const start = Math.floor(Math.random() * count)
  for (let i = 0; i < count; i++) {
    const candidate = from + ((start + i) % count)
    if (await claim(candidate)) return parsed(candidate)
  }
  return failed(FULL)
}

/** Claims of one process. */
function claimsInMemory<T>(): Claims<T> {
  const claimed = new Set<T>()
  return {
    async claim(what) {
      if (claimed.has(what)) return false
      claimed.add(what)
      return true
    },
    async release(what) {
      claimed.delete(what)
    },
  }
}
