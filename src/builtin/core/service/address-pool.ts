// A pool of service addresses and node ports. Each is taken from a range, starting at a random place, so that a released
// one is not reused at once. An address belongs to the caller whose claim succeeded.
import { failed, parsed, type Result } from '../../../base/result.js'
import type { AddressPool } from './service-addresses.js'

/** A claim succeeds once, until it is released. */
export interface Claims<T> {
  claim(what: T): Promise<boolean>
  release(what: T): Promise<void>
}

export interface AddressPoolOptions {
  /** Addresses of services: `10.0.0.0/24`. */
  readonly range: string
  readonly nodePorts?: PortRange
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

/** Throws if the range is not an IPv4 CIDR. */
export function addressPool({
  range,
  nodePorts = NODE_PORTS,
  addresses = claimsInMemory(),
  ports = claimsInMemory(),
  dryRun = false,
}: AddressPoolOptions): AddressPool {
  const { first, size } = parseRange(range)
  // The first address is that of the network, the last is for broadcast.
  const usable = Math.max(0, size - 2)
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
    families: ['IPv4'],
    async takeAddress(family, address) {
      if (family !== 'IPv4') return failed(OTHER_NETWORK)
      if (address === undefined && dryRun) return parsed(printAddress(first))
      if (address === undefined) {
        const found = await firstFree(first + 1, usable, number => addresses.claim(printAddress(number)))
        return found.ok ? parsed(printAddress(found.value)) : found
      }
      const number = parseAddress(address)
      const isElsewhere = number === undefined || number < first || number >= first + size
      // A dry run asks the only range there is, whatever the address; a create looks for the range of the address.
      if (isElsewhere && !dryRun) return failed(OTHER_NETWORK)
      if (isElsewhere || number === first || number > first + usable) {
        const valid = `The range of valid IPs is ${range}`
        return failed(`the provided IP (${address}) is not in the valid range. ${valid}`)
      }
      return dryRun || (await addresses.claim(address)) ? parsed(address) : failed('provided IP is already allocated')
    },
    releaseAddress: address => addresses.release(address),
    async takeNodePort(port) {
      if (dryRun) return placeholderPort(port)
      if (port === undefined) return firstFree(from, to - from + 1, number => ports.claim(number))
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
  return failed('range is full')
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

function parseRange(range: string): { first: number; size: number } {
  const [address = '', prefix = ''] = range.split('/')
  const number = parseAddress(address)
  const bits = Number(prefix)
  if (number === undefined || !/^[0-9]{1,2}$/.test(prefix) || bits > 32) {
    throw new Error(`${JSON.stringify(range)} is not a range of IPv4 addresses such as 10.0.0.0/24`)
  }
  const size = 2 ** (32 - bits)
  return { first: Math.floor(number / size) * size, size }
}

function parseAddress(address: string): number | undefined {
  const parts = address.split('.').map(Number)
  if (parts.length !== 4 || parts.some(part => !Number.isInteger(part) || part < 0 || part > 255)) return undefined
  return parts.reduce((number, part) => number * 256 + part, 0)
}

const printAddress = (number: number): string =>
  [24, 16, 8, 0].map(shift => Math.floor(number / 2 ** shift) % 256).join('.')
