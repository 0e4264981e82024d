// The authorizers of the server. Those of a file are built again when the file changes.

import { unwatchFile, watchFile } from 'node:fs'
import { readFile } from 'node:fs/promises'
import {
  ALL_RULES,
  ALWAYS_ALLOW,
  type Authorization,
  type AuthorizerSpec,
  createAuthorization,
  parseAuthorizationConfiguration,
  replaceableAuthorization,
} from '../../../auth/authorizer.js'
import type { startRbacStore } from '../../../auth/rbac-store.js'
import type { Logger } from '../../../base/logger.js'
import type { Webhooks } from '../../../webhook/client.js'
import { type AuthorizationOptions, authorizersOf } from '../../options/access/authorization.js'

const CHECK_MS = 1000

/** `roles` are undefined if everything is allowed without a look at them. */
export function openAuthorization(
  options: AuthorizationOptions,
  roles: Awaited<ReturnType<typeof startRbacStore>> | undefined,
  webhooks: Webhooks,
  now: () => number,
  log: Logger,
): Authorization & { stop(): void } {
  const { configFile, policies = [] } = options
  if (!roles) {
    return { authorizer: ALWAYS_ALLOW, rules: ALL_RULES, stop: () => {} }
  }
  const create = (specs: readonly AuthorizerSpec[]): Authorization =>
    createAuthorization(specs, { roles, policies, webhooks, now, log })
  const first = create(authorizersOf(options))
  if (configFile === undefined) return { ...first, stop: () => {} }

  const { replace, ...authorization } = replaceableAuthorization(first)
  const needed = options.modes.filter(mode => mode !== 'Webhook')
  const reload = async (): Promise<void> => {
    try {
      const specs = parseAuthorizationConfiguration(await readFile(configFile))
      checkSameModes(specs, needed)
      replace(create(specs))
      log.info('the authorization configuration was read again', { file: configFile })
    } catch (error) {
      log.error('the authorization configuration stays as it was, because the file is not valid', {
        file: configFile,
        error,
      })
    }
  }
  const changed = (): void => void reload()
  watchFile(configFile, { interval: CHECK_MS, persistent: false }, changed)
  return { ...authorization, stop: () => unwatchFile(configFile, changed) }
}

/** Only webhooks may come and go while the server runs. */
function checkSameModes(specs: readonly AuthorizerSpec[], needed: readonly string[]): void {
  const types = specs.map(({ type }) => type).filter(type => type !== 'Webhook')
  const missing = needed.filter(mode => !types.some(type => type === mode))
  if (missing.length > 0) throw new Error(`missing required types: [${missing.toSorted().join(' ')}]`)
  const added = types.find(type => !needed.includes(type))
  if (added !== undefined) {
    throw new Error(`authorizer type ${added} is not allowed if it was not enabled at initial server startup`)
  }
}
