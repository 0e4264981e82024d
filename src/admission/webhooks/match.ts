// Whether a webhook is called for a request, and in which version of the resource.

import type { GetAuthorizer } from '../../auth/authorizer.js'
import { type Awaitable, andThen } from '../../base/awaitable.js'
import { forbidden } from '../../meta/errors/status.js'
import type { Attributes } from '../attributes.js'
import type { MatchedResource } from '../expressions/admission-request.js'
import type { EvaluateConditions } from '../expressions/condition-metrics.js'
import { admissionVariables } from '../expressions/variables.js'
import type { Candidate } from '../matching/candidates.js'
import { type MatchEnv, matchResources } from '../matching/match-resources.js'
import type { Webhook } from './source.js'

export interface WebhookMatchEnv extends MatchEnv {
  readonly authorizer: GetAuthorizer
  /** Absent where conditions are not counted. */
  readonly evaluateConditions?: EvaluateConditions | undefined
}

/** Configurations of admission itself are not reviewed, so that a broken one can be repaired. */
const EXEMPT: ReadonlySet<string> = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
])

export const isExempt = ({ group, kind }: { readonly group: string; readonly kind: string }): boolean =>
  group === 'admissionregistration.k8s.io' && EXEMPT.has(kind)

/** The resource as the webhook asked for it; undefined if it is not called. Throws a StatusError. */
export const matchWebhook = (
  env: WebhookMatchEnv,
  { item: { name, resources, conditions }, byRules }: Candidate<Pick<Webhook, 'name' | 'resources' | 'conditions'>>,
  attributes: Attributes,
): Awaitable<MatchedResource | undefined> =>
  andThen(matchResources(env, resources, attributes, byRules), matched => {
    if (!matched || conditions.isEmpty) return matched
    return andThen(attributes.inVersion(matched.kind), objects => {
      const variables = admissionVariables(attributes, matched, objects, env.authorizer())
      const result = env.evaluateConditions
        ? env.evaluateConditions(conditions, name, attributes.operation, variables)
        : conditions.evaluate(variables)
      if (result.matches === undefined) throw forbidden(attributes.resource, attributes.name, result.error)
      return result.matches ? matched : undefined
    })
  })
