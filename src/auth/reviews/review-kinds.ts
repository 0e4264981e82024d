// All that is answered about users and their rights.
import type { VirtualKind } from '../../request/virtual-resource.js'
import type { TokenAuthenticator } from '../authn/authenticate.js'
import type { Rights } from '../authz/rights.js'
import { localSubjectAccessReviews, selfSubjectAccessReviews, subjectAccessReviews } from './access-reviews.js'
import { selfSubjectRulesReviews } from './rules-review.js'
import { selfSubjectReviews } from './self-review.js'
import { tokenReviews } from './token-review.js'

export const reviewKinds = (rights: Rights, tokens: readonly TokenAuthenticator[]): VirtualKind[] => [
  selfSubjectAccessReviews(rights.authorize),
  subjectAccessReviews(rights.authorize),
  localSubjectAccessReviews(rights.authorize),
  selfSubjectRulesReviews(rights),
  selfSubjectReviews(),
  tokenReviews(tokens),
]
