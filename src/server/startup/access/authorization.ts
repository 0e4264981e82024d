// The authorizers of the server. Those of a file are built again when the file changes.

import {
  ALL_RULES,
  ALWAYS_ALLOW,
  type Authorization,
  type AuthorizerSpec,
  createAuthorization,
  parseAuthorizationConfiguration,
  replaceableAuthorization,
} from '../../../auth/authorizer.js'
import { nodeRules } from '../../../auth/bootstrap-roles.js'
import { createNodeAuthorizer, NODE_RULES, type startNodeGraph } from '../../../auth/nodes.js'
import type { startRbacStore } from '../../../auth/rbac-store.js'
import type { Logger } from '../../../base/logger.js'
import type { MetricsRegistry } from '../../../base/metrics.js'
import type { FeatureGates } from '../../../meta/feature-gates.js'
import type { Webhooks } from '../../../webhook/client.js'
import { authorizerMetrics } from '../../observability/authorizer-metrics.js'
import { type AuthorizationOptions, authorizersOf } from '../../options/access/authorization.js'
import { followFile } from './followed-file.js'

export interface AuthorizationParts {
  /** Undefined if everything is allowed without a look at them. */
  readonly roles: Awaited<ReturnType<typeof startRbacStore>> | undefined
  /** The objects of nodes; undefined if there is no mode Node. */
  readonly nodes: Awaited<ReturnType<typeof startNodeGraph>> | undefined
  readonly featureGates: FeatureGates
  readonly webhooks: Webhooks
  readonly now: () => number
  readonly metrics: MetricsRegistry
  readonly log: Logger
}

export function openAuthorization(
  options: AuthorizationOptions,
  { roles, nodes, featureGates, webhooks, now, metrics, log }: AuthorizationParts,
): Authorization & { stop(): void } {
  const { configFile, policies = [] } = options
  if (!roles) {
    return { authorizer: ALWAYS_ALLOW, rules: ALL_RULES, stop: () => {} }
  }
  const parts = {
    roles,
    nodes: nodes && {
      authorizer: createNodeAuthorizer(nodes, nodeRules(featureGates), featureGates),
      rules: NODE_RULES,
    },
    policies,
    webhooks,
    now,
    log,
    observer: authorizerMetrics(metrics),
  }
  const create = (specs: readonly AuthorizerSpec[]): Authorization => createAuthorization(specs, parts)
  const first = create(authorizersOf(options))
  if (configFile === undefined) return { ...first, stop: () => {} }

  const { replace, ...authorization } = replaceableAuthorization(first)
  const needed = options.modes.filter(mode => mode !== 'Webhook')
  const followed = followFile({
    ...configFile,
    what: 'authorization',
    async load(bytes) {
      const specs = parseAuthorizationConfiguration(bytes)
      checkSameModes(specs, needed)
      replace(create(specs))
    },
    metrics,
    log,
  })
  return { ...authorization, stop: () => followed.stop() }
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
