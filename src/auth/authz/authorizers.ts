// Builds the authorizers of a server from their specifications.
import { andThen } from '../../base/awaitable.js'
import type { Logger } from '../../base/logger.js'
import type { Webhooks } from '../../webhook/client.js'
import { MASTERS } from '../authn/system-groups.js'
import { reviewCaller } from '../webhook-calls.js'
import { type AbacPolicy, abacRules, createAbacAuthorizer } from './abac.js'
import type { AuthorizerSpec } from './authorization-configuration.js'
import { ALLOWED, ALWAYS_ALLOW, ALWAYS_DENY, type Authorizer, type Decision } from './authorizer.js'
import { createRbacAuthorizer, type RbacObjects } from './rbac.js'
import { ALL_RULES, createRbacRules, NO_RULES, type RuleResolver } from './rule-resolver.js'
import { unionAuthorizer, unionRules } from './union.js'
import { createWebhookAuthorizer, WEBHOOK_RULES, type WebhookObserver } from './webhook-authorizer.js'

export interface AuthorizerParts {
  /** The stored roles and bindings. */
  readonly roles: RbacObjects
  readonly policies: readonly AbacPolicy[]
  /** What the mode Node is; undefined if there is no such mode. */
  readonly nodes?: Authorization | undefined
  readonly webhooks: Pick<Webhooks, 'post'>
  readonly now: () => number
  readonly log: Logger
  readonly observer?: AuthorizerObserver | undefined
}

/** What metrics need to know. */
export interface AuthorizerObserver extends WebhookObserver {
  /** An authorizer has decided, so that those after it are not asked. */
  decided(type: string, name: string, allowed: boolean): void
}

export interface Authorization {
  readonly authorizer: Authorizer
  readonly rules: Pick<RuleResolver, 'rulesFor'>
}

export function createAuthorization(specs: readonly AuthorizerSpec[], parts: AuthorizerParts): Authorization {
  const all = specs.map(spec => {
    const { authorizer, rules } = authorizationOf(spec, parts)
    return { authorizer: parts.observer ? observed(authorizer, spec, parts.observer) : authorizer, rules }
  })
  return {
    authorizer: unionAuthorizer(all.map(({ authorizer }) => authorizer)),
    rules: all.length === 1 ? all[0]!.rules : unionRules(all.map(({ rules }) => rules)),
  }
}

function observed(authorizer: Authorizer, { type, name }: AuthorizerSpec, observer: AuthorizerObserver): Authorizer {
  const report = (decision: Decision): Decision => {
    if (decision.allowed || decision.denied) observer.decided(type, name, decision.allowed)
    return decision
  }
  // Members of system:masters are allowed before any authorizer is asked.
  return {
    authorize: (user, attributes) =>
      user.groups.includes(MASTERS) ? ALLOWED : andThen(authorizer.authorize(user, attributes), report),
    decideNow: (user, attributes, scope) =>
      user.groups.includes(MASTERS) ? ALLOWED : report(authorizer.decideNow(user, attributes, scope)),
  }
}

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
      return parts.nodes!
    case 'Webhook': {
      const { target, timeoutMs, ...settings } = spec.webhook
      const { name } = spec
      const { observer } = parts
      const call = reviewCaller(parts.webhooks, target, timeoutMs, {
        onAttempt: (result, seconds) => observer?.asked(name, result, seconds),
      })
      const onError = (error: unknown): void =>
        parts.log.error('a webhook could not be asked for a decision', { authorizer: name, error })
      return {
        authorizer: createWebhookAuthorizer({ ...settings, name, call, onError, now: parts.now, observer }),
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
