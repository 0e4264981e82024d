// The headers by which a request asks to be taken for somebody else's.
import type { Exchange } from '../wire/exchange.js'

const PREFIX = 'impersonate-'

/** By lower-case name, each value on its own; undefined for the requests that have none, which are nearly all. */
export function impersonationHeaders({ rawHeaders }: Exchange): ReadonlyMap<string, string[]> | undefined {
  let values: Map<string, string[]> | undefined
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    if (!name.startsWith(PREFIX)) continue
    values ??= new Map()
    const value = Buffer.from(rawHeaders[i + 1]!, 'latin1').toString('utf8')
    const known = values.get(name)
    if (known) known.push(value)
    else values.set(name, [value])
  }
  return values
}
