// CertificateApproval: approving or denying a CertificateSigningRequest needs the verb `approve` on its signer.

import type { GetAuthorizer } from '../../auth/authorizer.js'
import type { AdmissionPlugin } from '../chain.js'
import { CSR_RESOURCE, checkSignerAccess } from './signer-access.js'

export const certificateApproval = (authorizer: GetAuthorizer): AdmissionPlugin => ({
  name: 'CertificateApproval',
  operations: new Set(['UPDATE']),
  resources: [`${CSR_RESOURCE}/approval`],
  validate: ({ oldObject, request }) => checkSignerAccess(authorizer(), request.user, 'approve', oldObject!),
})
