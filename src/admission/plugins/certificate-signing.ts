// CertificateSigning: writing the certificate of a CertificateSigningRequest, or its Failed condition, needs the verb
// `sign` on its signer. Other changes of the status do not.

import type { GetAuthorizer } from '../../auth/authorizer.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { AdmissionPlugin } from '../chain.js'
import { CSR_RESOURCE, checkSignerAccess } from './signer-access.js'

export const certificateSigning = (authorizer: GetAuthorizer): AdmissionPlugin => ({
  name: 'CertificateSigning',
  operations: new Set(['UPDATE']),
  resources: [`${CSR_RESOURCE}/status`],
  validate({ object, oldObject, request }) {
    if (!object || !oldObject || !isSigning(object, oldObject)) return undefined
    return checkSignerAccess(authorizer(), request.user, 'sign', oldObject)
  },
})

function isSigning(csr: ApiObject, old: ApiObject): boolean {
  const [now, before] = [objectAt(csr, 'status'), objectAt(old, 'status')]
  const failures = (status: ValueObject): string =>
    JSON.stringify(objectsAt(status, 'conditions').filter(each => stringAt(each, 'type') === 'Failed'))
  return stringAt(now, 'certificate') !== stringAt(before, 'certificate') || failures(now) !== failures(before)
}
