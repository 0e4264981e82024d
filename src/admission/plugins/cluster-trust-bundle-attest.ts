// ClusterTrustBundleAttest: writing a bundle of a signer needs the verb `attest` on the signer. What the garbage collector
// changes does not.
import type { GetAuthorizer } from '../../auth/authorizer.js'
import { andThen } from '../../base/awaitable.js'
import { forbidden } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import { parseGroupResource } from '../../meta/group-version.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt } from '../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import type { AdmissionPlugin } from '../chain.js'
import { mayUseSigner, signerOf } from './signer-access.js'

const RESOURCE = 'clustertrustbundles.certificates.k8s.io'

export const clusterTrustBundleAttest = (authorizer: GetAuthorizer): AdmissionPlugin => ({
  name: 'ClusterTrustBundleAttest',
  operations: new Set(['CREATE', 'UPDATE']),
  resources: [RESOURCE],
  validate({ object, oldObject, request }) {
    const signer = signerOf(object!)
    if (signer === '' || (oldObject && equalValues(essenceOf(object!), essenceOf(oldObject)))) return undefined
    return andThen(mayUseSigner(authorizer(), request.user, 'attest', signer), allowed => {
      if (allowed) return
      const why = `user not permitted to attest for signerName ${quote(signer)}`
      throw forbidden(parseGroupResource(RESOURCE), metaOf(object!).name ?? '', why)
    })
  },
})

/** The object without what the garbage collector and the server itself write. */
function essenceOf(bundle: ApiObject): ValueObject {
  const metadata = { ...objectAt(bundle, 'metadata') }
  for (const name of ['ownerReferences', 'finalizers', 'selfLink', 'managedFields', 'resourceVersion']) {
    delete metadata[name]
  }
  return { ...bundle, metadata }
}
