// TokenReview: which user a token belongs to.

import { badRequest } from '../../meta/errors/status.js'
import { objectAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { typedVirtualResource } from '../../request/typed-virtual-resource.js'
import { printUserInfo } from '../../request/user-info.js'
import type { VirtualResource } from '../../request/virtual-resource.js'
import { checkToken, type TokenAuthenticator, withAuthenticated } from '../authn/authenticate.js'

export const tokenReviews = (
  authenticators: readonly TokenAuthenticator[],
  ownAudiences: readonly string[],
): VirtualResource =>
  typedVirtualResource('authentication.k8s.io/v1', 'tokenreviews', async ({ object, validate, request }) => {
    const spec = objectAt(object, 'spec')
    const token = stringAt(spec, 'token')
    if (token === '') throw badRequest('token is required for TokenReview in authentication')
    await validate()
    const requested = stringsAt(spec, 'audiences')
    const audiences = requested.length === 0 ? ownAudiences : requested
    const found = await checkToken(authenticators, token, audiences, request)
    const status = found.ok
      ? { authenticated: true, user: printUserInfo(withAuthenticated(found.identity)), audiences: [...found.audiences] }
      : { user: {}, error: found.error }
    return { ...object, status }
  })
