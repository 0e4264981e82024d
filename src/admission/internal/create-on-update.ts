// A PUT, or an apply, that creates its object needs the verb `create` as well. That it creates is only known here.

import { type GetAuthorizer, refusal } from '../../auth/authorizer.js'
import { andThen } from '../../base/awaitable.js'
import type { AdmissionPlugin } from '../chain.js'

export const createOnUpdate = (authorizer: GetAuthorizer): AdmissionPlugin => ({
  name: 'CreateOnUpdateAuthorization',
  operations: new Set(['CREATE']),
  validate({ pathName, request, resource, subresource, namespace, name }) {
    // A POST does not name the object in its path.
    if (pathName === '') return undefined
    const attributes = { verb: 'create', ...resource, subresource, namespace, name }
    return andThen(authorizer().authorize(request.user, attributes), decision => {
      if (!decision.allowed) throw refusal(request.user, attributes, decision)
    })
  },
})
