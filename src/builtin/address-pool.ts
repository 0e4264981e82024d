// A pool of service addresses and node ports that is kept in memory: one range, handed out from a random place on, so
// that addresses are not taken up again at once.
import { failed, parsed } from '../meta/parsed.js'
import type { AddressPool } from './service-addresses.js'

export interface AddressPoolOptions {
  /** Addresses of services: `10.0.0.0/24`. */
  readonly range: string
  readonly nodePorts?: { readonly from: number; readonly to: number }
}

/** Throws for what is no range of IPv4 addresses. */
export function addressPool({ range, nodePorts = { from: 30_000, to: 32_767 } }: AddressPoolOptions): AddressPool {
  const { first, size } = parseRange(range)
  const addresses = new Set<number>()
  const ports = new Set<string>()

  // Neither the first nor the last of a range is an address that can be used.
  const usable = Math.max(0, size - 2)
  const takeAny = (): number | undefined => {
    const start = Math.floor(Math.random() * usable)
    for (let i = 0; i < usable; i++) {
      const candidate = first + 1 + ((start + i) % usable)
      if (!addresses.has(candidate)) return candidate
    }
    return undefined
  }

  return {
    families: ['IPv4'],
    takeAddress: (family, address) => {
      if (family !== 'IPv4') return failed('the provided network does not match the current range')
      const number = address === undefined ? takeAny() : parseAddress(address)
      if (number === undefined) return failed('range is full')
      if (number <= first || number > first + usable) {
        return failed('the provided network does not match the current range')
      }
      if (addresses.has(number)) return failed('provided IP is already allocated')
      addresses.add(number)
      return parsed(printAddress(number))
    },
    releaseAddress: address => {
      const number = parseAddress(address)
      if (number !== undefined) addresses.delete(number)
    },
    takeNodePort: (protocol, port) => {
      if (port === undefined) {
        const count = nodePorts.to - nodePorts.from + 1
        const start = Math.floor(Math.random() * count)
        for (let i = 0; i < count; i++) {
          const candidate = nodePorts.from + ((start + i) % count)
          if (ports.has(`${protocol} ${candidate}`)) continue
          ports.add(`${protocol} ${candidate}`)
          return parsed(candidate)
        }
        return failed('range is full')
      }
      if (port < nodePorts.from || port > nodePorts.to) {
        const valid = `${nodePorts.from}-${nodePorts.to}`
        return failed(`provided port is not in the valid range. The range of valid ports is ${valid}`)
      }
      if (ports.has(`${protocol} ${port}`)) return failed('provided port is already allocated')
      ports.add(`${protocol} ${port}`)
      return parsed(port)
    },
    releaseNodePort: (protocol, port) => void ports.delete(`${protocol} ${port}`),
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
