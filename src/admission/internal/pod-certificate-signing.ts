// A change of the status of a PodCertificateRequest needs the verb `sign` on its signer. kube-apiserver checks this as the
// last step of the validation of the object; here validation does not know the user.
import type { GetAuthorizer } from '../../auth/authorizer.js'
import { andThen } from '../../base/awaitable.js'
import { fieldForbidden } from '../../meta/errors/field-errors.js'
import { invalid } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt } from '../../meta/values/access.js'
import { equalValues } from '../../meta/values/value.js'
import type { AdmissionPlugin } from '../chain.js'
import { mayUseSigner, signerOf } from '../plugins/signer-access.js'

export const podCertificateSigning = (authorizer: GetAuthorizer): AdmissionPlugin => ({
  name: 'PodCertificateRequestSigning',
  operations: new Set(['UPDATE']),
  resources: ['podcertificaterequests.certificates.k8s.io/status'],
  validate({ kind, object, oldObject, request: { user } }) {
    if (equalValues(objectAt(object!, 'status'), objectAt(oldObject!, 'status'))) return undefined
    const signer = signerOf(oldObject!)
    return andThen(mayUseSigner(authorizer(), user, 'sign', signer), allowed => {
      if (allowed) return
      const why = `User ${quote(user.name)} is not permitted to "sign" for signer ${quote(signer)}`
      throw invalid(kind, metaOf(object!).name ?? '', [fieldForbidden('spec.signerName', why)])
    })
  },
})
