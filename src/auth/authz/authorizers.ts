// Builds the authorizers of a server from their specifications.
import type { Logger } from '../../base/logger.js'
import type { Webhooks } from '../../webhook/client.js'
import { reviewCaller } from '../webhook-calls.js'
import { type AbacPolicy, abacRules, createAbacAuthorizer } from './abac.js'
import type { AuthorizerSpec } from './authorization-configuration.js'
import { ALWAYS_ALLOW, ALWAYS_DENY, type Authorizer, createAuthorizer } from './authorizer.js'
import { createRbacAuthorizer, type RbacObjects } from './rbac.js'
import { ALL_RULES, createRbacRules, NO_RULES, type RuleResolver } from './rule-resolver.js'
import { unionAuthorizer, unionRules } from './union.js'
import { createWebhookAuthorizer, WEBHOOK_RULES } from './webhook-authorizer.js'

export interface AuthorizerParts {
  /** The stored roles and bindings. */
  readonly roles: RbacObjects
  readonly policies: readonly AbacPolicy[]
  /** Undefined: nodes have the rights of their roles only. */
  readonly nodes?: Authorizer | undefined
  readonly webhooks: Pick<Webhooks, 'post'>
  readonly now: () => number
  readonly log: Logger
}

export interface Authorization {
  readonly authorizer: Authorizer
  readonly rules: Pick<RuleResolver, 'rulesFor'>
}

export function createAuthorization(specs: readonly AuthorizerSpec[], parts: AuthorizerParts): Authorization {
  const all = specs.map(spec => authorizationOf(spec, parts))
  return {
    authorizer: unionAuthorizer(all.map(({ authorizer }) => authorizer)),
    rules: all.length === 1 ? all[0]!.rules : unionRules(all.map(({ rules }) => rules)),
  }
}

const NO_OPINION = { allowed: false, reason: '' }

function authorizationOf(spec: AuthorizerSpec, parts: AuthorizerParts): Authorization {
  switch (spec.type) {
    case 'AlwaysAllow':
      return { authorizer: ALWAYS_ALLOW, rules: ALL_RULES }
    case 'AlwaysDeny':
      return { authorizer: ALWAYS_DENY, rules: NO_RULES }
    case 'RBAC':
      return { authorizer: createRbacAuthorizer(parts.roles), rules: createRbacRules(parts.roles) }
    case 'ABAC':
      return { authorizer: createAbacAuthorizer(parts.policies), rules: abacRules(parts.policies) }
    case 'Node':
      return { authorizer: parts.nodes ?? createAuthorizer(() => NO_OPINION), rules: NO_RULES }
    case 'Webhook': {
      const { target, timeoutMs, ...settings } = spec.webhook
      const call = reviewCaller(parts.webhooks, target, timeoutMs)
      const onError = (error: unknown): void =>
        parts.log.error('a webhook could not be asked for a decision', { authorizer: spec.name, error })
      return {
        authorizer: createWebhookAuthorizer({ ...settings, call, onError, now: parts.now }),
        rules: WEBHOOK_RULES,
      }
    }
  }
}

/** An authorizer that can be replaced while requests are served. */
export function replaceableAuthorization(first: Authorization): Authorization & { replace(next: Authorization): void } {
  let current = first
  return {
    authorizer: {
      authorize: (user, attributes) => current.authorizer.authorize(user, attributes),
      decideNow: (user, attributes, scope) => current.authorizer.decideNow(user, attributes, scope),
    },
    rules: { rulesFor: (user, namespace) => current.rules.rulesFor(user, namespace) },
    replace(next) {
      current = next
    },
  }
}
