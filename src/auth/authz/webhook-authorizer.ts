// --authorization-mode=Webhook: another server is asked by a SubjectAccessReview. Its answers are kept for a while.
import { createExpiringCache } from '../../base/expiring-cache.js'
import { objectAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { AccessAttributes } from '../../request/access-attributes.js'
import type { UserInfo } from '../../request/user-info.js'
import { MASTERS } from '../authn/system-groups.js'
import { type AttemptResult, type CallReview, resultOf } from '../webhook-calls.js'
import { reviewSpecOf } from './access-review-spec.js'
import { ALLOWED, type Authorizer, type Decision, PendingDecision } from './authorizer.js'
import { evaluateConditions, type ReviewCondition } from './review-conditions.js'
import type { RuleResolver } from './rule-resolver.js'

/** What metrics need to know of webhooks. */
export interface WebhookObserver {
  asked(name: string, result: AttemptResult, seconds: number): void
  /** A webhook could not be asked, and the authorizers after it are. */
  failedOpen(name: string, result: AttemptResult): void
  /** Match conditions were evaluated. */
  matched(name: string, outcome: 'match' | 'exclusion' | 'error', seconds: number): void
}

export interface WebhookAuthorizerOptions {
  readonly name?: string | undefined
  readonly observer?: WebhookObserver | undefined
  readonly call: CallReview
  /** Of the SubjectAccessReview: `v1` or `v1beta1`. */
  readonly version: string
  /** How long an answer is kept; 0 keeps none. */
  readonly authorizedTtlMs: number
  readonly unauthorizedTtlMs: number
  /** The decision if the webhook cannot be asked. */
  readonly failurePolicy: 'NoOpinion' | 'Deny'
  readonly conditions: readonly ReviewCondition[]
  readonly now: () => number
  /** Is given the error of a call. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** At most this many answers are kept. */
const MAX_ENTRIES = 8192
/** The answer to a longer question is not kept, because users choose the names in it. */
const MAX_KEPT_CHARACTERS = 10_000

const NO_OPINION: Decision = { allowed: false, reason: '' }

export function createWebhookAuthorizer(options: WebhookAuthorizerOptions): Authorizer {
  const { call, version, authorizedTtlMs, unauthorizedTtlMs, failurePolicy, conditions, now, onError } = options
  const { name = '', observer } = options
  const answers = createExpiringCache<Decision>(MAX_ENTRIES, now)
  /** Decisions that expressions have waited for, by the scope that needs them. */
  const waited = new WeakMap<object, Map<string, Decision>>()
  const failed = (error: string): Decision => ({
    allowed: false,
    reason: '',
    error,
    ...(failurePolicy === 'Deny' && { denied: true }),
  })

  /** The decision if it is known without a call. */
  function known(user: UserInfo, spec: ValueObject, key: string): Decision | undefined {
    if (user.groups.includes(MASTERS)) return ALLOWED
    if (conditions.length > 0) {
      const began = performance.now()
      const result = evaluateConditions(conditions, spec)
      const outcome = result.error !== undefined ? 'error' : result.matches ? 'match' : 'exclusion'
      observer?.matched(name, outcome, (performance.now() - began) / 1000)
      if (result.error !== undefined) return failed(result.error)
      if (!result.matches) return NO_OPINION
    }
    return answers.get(key)
  }

  async function ask(spec: ValueObject, key: string): Promise<Decision> {
    try {
      const review = await call({
        apiVersion: `authorization.k8s.io/${version}`,
        kind: 'SubjectAccessReview',
        metadata: {},
        spec: version === 'v1beta1' ? withGroupField(spec) : spec,
        status: { allowed: false },
      })
      const decision = decisionOf(objectAt(review, 'status'))
      if (key.length <= MAX_KEPT_CHARACTERS) {
        answers.put(key, decision, decision.allowed ? authorizedTtlMs : unauthorizedTtlMs)
      }
      return decision
    } catch (error) {
      onError?.(error)
      if (failurePolicy === 'NoOpinion') observer?.failedOpen(name, resultOf(error))
      return failed(error instanceof Error ? error.message : String(error))
    }
  }

  return {
    authorize(user, attributes) {
      const spec = reviewSpecOf(user, attributes)
      const key = JSON.stringify(spec)
      return known(user, spec, key) ?? ask(spec, key)
    },
    decideNow(user: UserInfo, attributes: AccessAttributes, scope: object) {
      const spec = reviewSpecOf(user, attributes)
      const key = JSON.stringify(spec)
      const decision = waited.get(scope)?.get(key) ?? known(user, spec, key)
      if (decision) return decision
      const asked = ask(spec, key).then(answer => {
        const ofScope = waited.get(scope) ?? new Map<string, Decision>()
        waited.set(scope, ofScope.set(key, answer))
      })
      throw new PendingDecision(asked)
    },
  }
}

/** In v1beta1 the groups are in the field `group`. */
function withGroupField({ groups, ...spec }: ValueObject): ValueObject {
  return { ...spec, ...(groups !== undefined && { group: groups }) }
}

function decisionOf(status: ValueObject): Decision {
  const allowed = status['allowed'] === true
  const reason = stringAt(status, 'reason')
  if (status['denied'] !== true) return { allowed, reason }
  const error = 'webhook subject access review returned both allow and deny response'
  return { allowed: false, denied: true, reason, ...(allowed && { error }) }
}

/** A webhook cannot be asked for the rules of a user. */
export const WEBHOOK_RULES: Pick<RuleResolver, 'rulesFor'> = {
  rulesFor: () => ({
    rules: [],
    error: 'webhook authorizer does not support user rule resolution',
    incomplete: true,
  }),
}
