// The review resources of the groups authentication.k8s.io and authorization.k8s.io.
import type { VirtualResource } from '../../request/virtual-resource.js'
import { API_AUDIENCE, type TokenAuthenticator } from '../authn/authenticate.js'
import type { Authorizer } from '../authz/authorizer.js'
import type { RuleResolver } from '../authz/rule-resolver.js'
import { localSubjectAccessReviews, selfSubjectAccessReviews, subjectAccessReviews } from './access-reviews.js'
import { selfSubjectRulesReviews } from './rules-review.js'
import { selfSubjectReviews } from './self-review.js'
import { tokenReviews } from './token-review.js'

/** `ownAudiences`: those of this server, for token reviews that name none. */
export const reviewKinds = (
  authorizer: Authorizer,
  rules: Pick<RuleResolver, 'rulesFor'>,
  tokens: readonly TokenAuthenticator[],
  ownAudiences: readonly string[] = [API_AUDIENCE],
): VirtualResource[] => [
  selfSubjectAccessReviews(authorizer.authorize),
  subjectAccessReviews(authorizer.authorize),
  localSubjectAccessReviews(authorizer.authorize),
  selfSubjectRulesReviews(rules),
  selfSubjectReviews(),
  tokenReviews(tokens, ownAudiences),
]
