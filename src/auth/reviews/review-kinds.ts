// All that is answered about users and their rights.
import type { VirtualResource } from '../../request/virtual-resource.js'
import type { TokenAuthenticator } from '../authn/authenticate.js'
import type { Authorizer } from '../authz/rights.js'
import { localSubjectAccessReviews, selfSubjectAccessReviews, subjectAccessReviews } from './access-reviews.js'
import { selfSubjectRulesReviews } from './rules-review.js'
import { selfSubjectReviews } from './self-review.js'
import { tokenReviews } from './token-review.js'

export const reviewKinds = (authorizer: Authorizer, tokens: readonly TokenAuthenticator[]): VirtualResource[] => [
  selfSubjectAccessReviews(authorizer.authorize),
  subjectAccessReviews(authorizer.authorize),
  localSubjectAccessReviews(authorizer.authorize),
  selfSubjectRulesReviews(authorizer),
  selfSubjectReviews(),
  tokenReviews(tokens),
]
