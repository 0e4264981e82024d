// The headers by which a request asks to be taken for somebody else's.
import type { Exchange } from './exchange.js'

const PREFIX = 'impersonate-'

/** By lower-case name, each value on its own; undefined for the requests that have none, which are nearly all. */
export function impersonationHeaders({ headers, rawHeaders }: Exchange): ReadonlyMap<string, string[]> | undefined {
  let isAsked = false
  for (const name in headers) if (name.startsWith(PREFIX)) isAsked = true
  if (!isAsked) return undefined
  const values = new Map<string, string[]>()
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    if (!name.startsWith(PREFIX)) continue
    const value = Buffer.from(rawHeaders[i + 1]!, 'latin1').toString('utf8')
    const known = values.get(name)
    if (known) known.push(value)
    else values.set(name, [value])
  }
  return values
}
