// The type `master-count` of endpoint reconcilers: the Endpoints are all that servers know of each other. Each server adds its
// address, and the number of servers is given, so that the addresses of servers that are gone are pushed out.
import type { KnownServers } from './endpoint-reconciler.js'

/** `own`: the address of this server; `count`: how many servers there are. */
export const countedServers = (own: string, count: number): KnownServers => ({
  enter: async () => {},
  living: async published =>
    published.includes(own) && published.length <= count ? published : atMost(count, withOwn(published, own), own),
  leave: async () => {},
  remaining: async published => published.filter(address => address !== own),
})

const withOwn = (published: readonly string[], own: string): string[] => [...new Set([...published, own])].toSorted()

/** Without those that follow the own address, from the first again after the last. */
function atMost(count: number, addresses: readonly string[], own: string): string[] {
  const at = addresses.indexOf(own)
  const excess = Math.max(0, addresses.length - count)
  const pushedOut = new Set(Array.from({ length: excess }, (_, i) => addresses[(at + 1 + i) % addresses.length]))
  return addresses.filter(address => !pushedOut.has(address))
}
