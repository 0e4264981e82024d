// CertificateSubjectRestriction: no client certificate may be requested for the group system:masters, which may do
// everything.

import { parseSigningRequest } from '../../builtin/certificate-request.js'
import { objectAt, stringAt } from '../../meta/values/access.js'
import { forbiddenBy } from '../attributes.js'
import type { AdmissionPlugin } from '../chain.js'
import { CSR_RESOURCE } from './signer-access.js'

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client'
const MASTERS = 'system:masters'

export const certificateSubjectRestriction: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  operations: new Set(['CREATE']),
  resources: [CSR_RESOURCE],
  validate(attributes) {
    const spec = objectAt(attributes.object!, 'spec')
    if (stringAt(spec, 'signerName') !== CLIENT_SIGNER) return
    const parsed = parseSigningRequest(stringAt(spec, 'request'))
    if (!parsed.ok || !parsed.value.organizations.includes(MASTERS)) return
    throw forbiddenBy(attributes, `use of ${CLIENT_SIGNER} signer with ${MASTERS} group is not allowed`)
  },
}
