// Use of deprecated API versions: a metric counts the versions, the log names each client once.

import type { Logger } from '../../base/logger.js'
import type { OnDeprecated } from '../../http/handler.js'
import type { RequestMetrics } from './request-metrics.js'

/** More clients are not logged. */
const MAX_CLIENTS = 1000

export function deprecatedUse(metrics: Pick<RequestMetrics, 'onDeprecated'>, log: Logger): OnDeprecated {
  const logged = new Set<string>()
  return ({ info, user: { name }, userAgent }, warning) => {
    metrics.onDeprecated(info)
    const { group, version, resource } = info
    // Only the first word: details such as a commit would make each build another client.
    const client = userAgent.split(' ', 1)[0]!.slice(0, 100)
    const key = `${name} ${client} ${group}/${version} ${resource}`
    if (logged.has(key) || logged.size >= MAX_CLIENTS) return
    logged.add(key)
    log.warn('a deprecated API version is in use', {
      user: name,
      client,
      version: `${group}/${version}`,
      resource,
      warning,
    })
  }
}
