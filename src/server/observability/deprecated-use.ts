// Who still uses deprecated versions: a metric tells which versions, the log who asked, once for each client.

import type { OnDeprecated } from '../../http/handler.js'
import { knownSubresource, type Metrics } from './metrics.js'

/** Beyond so many clients nobody reads on. */
const MAX_TOLD = 1000

export function deprecatedUse(metrics: Metrics, notice: (text: string) => void): OnDeprecated {
  const told = new Set<string>()
  return ({ info, user: { name }, userAgent }, warning) => {
    const { group, version, resource } = info
    metrics.onDeprecated({ group, version, resource, subresource: knownSubresource(info) })
    // What a client calls itself may go on with details that change.
    const client = userAgent.split(' ', 1)[0]!.slice(0, 100)
    const who = `${JSON.stringify(name)}${client === '' ? '' : ` (${JSON.stringify(client)})`}`
    const key = `${who} ${group}/${version} ${resource}`
    if (told.has(key) || told.size >= MAX_TOLD) return
    told.add(key)
    notice(`${who} still uses ${group}/${version} ${resource}: ${warning}`)
  }
}
