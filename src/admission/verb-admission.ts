// Admission in the form in which the verbs call it until the write pipeline calls the chain itself.

import type { GetAuthorizer } from '../auth/authorizer.js'
import { resourceOf } from '../kinds/kind-names.js'
import { forbidden } from '../meta/errors/status.js'
import { quote } from '../meta/go/go-text.js'
import {
  type AdmissionRequest,
  type Attributes,
  createAttributes,
  type Admission as VerbAdmission,
} from './attributes.js'
import type { Admission } from './chain.js'

export function verbAdmission(chain: Admission, authorizer: GetAuthorizer): VerbAdmission {
  const attributesOf = ({ operation, request, object, old }: AdmissionRequest): Attributes =>
    createAttributes({ request, operation, target: request.target, object, oldObject: old })
  return {
    async admit(request) {
      return (await chain.mutate(attributesOf(request))) ?? request.object
    },
    async validate(request) {
      const attributes = attributesOf(request)
      // A delete has no mutating phase in the verbs yet.
      if (request.operation === 'DELETE') await chain.mutate(attributes)
      await chain.validate(attributes)
    },
    async permit(verb, { kind, namespace, name, subresource }, user) {
      const attributes = { verb, ...resourceOf(kind), subresource, namespace, name }
      const { allowed, reason } = await authorizer().authorize(user, attributes)
      if (!allowed) throw forbidden(resourceOf(kind), name, `not permitted to do ${quote(verb)}, reason: ${reason}`)
    },
  }
}
