// Whose token is it.

import { badRequest } from '../../meta/errors/status.js'
import { objectAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { typedVirtualResource } from '../../request/typed-virtual-resource.js'
import type { VirtualResource } from '../../request/virtual-resource.js'
import { checkToken, type TokenAuthenticator, withAuthenticated } from '../authn/authenticate.js'
import { userInfo } from './user-info.js'

export const tokenReviews = (authenticators: readonly TokenAuthenticator[]): VirtualResource =>
  typedVirtualResource('authentication.k8s.io/v1', 'tokenreviews', async ({ object }) => {
    const spec = objectAt(object, 'spec')
    const token = stringAt(spec, 'token')
    if (token === '') throw badRequest('token is required for TokenReview in authentication')
    const found = await checkToken(authenticators, token, stringsAt(spec, 'audiences'))
    const status = found.ok
      ? { authenticated: true, user: userInfo(withAuthenticated(found.identity)), audiences: [...found.audiences] }
      : { user: {}, error: found.error }
    return { ...object, status }
  })
