// The right to use a signer, which several plugins check.
import type { Authorizer } from '../../auth/authorizer.js'
import { type Awaitable, andThen } from '../../base/awaitable.js'
import { forbidden } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import { parseGroupResource } from '../../meta/group-version.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt, stringAt } from '../../meta/values/access.js'
import type { UserInfo } from '../../request/user-info.js'

export const CSR_RESOURCE = 'certificatesigningrequests.certificates.k8s.io'

export const signerOf = (object: ApiObject): string => stringAt(objectAt(object, 'spec'), 'signerName')

/** Whether the user has the verb on the signer itself, or on all signers of its domain. */
export function mayUseSigner(
  authorizer: Authorizer,
  user: UserInfo,
  verb: 'approve' | 'attest' | 'sign',
  signer: string,
): Awaitable<boolean> {
  const signers = { group: 'certificates.k8s.io', resource: 'signers', subresource: '', namespace: '' }
  const mayUse = (name: string): Awaitable<boolean> =>
    andThen(authorizer.authorize(user, { verb, ...signers, name }), ({ allowed }) => allowed)
  return andThen(mayUse(signer), allowed => allowed || mayUse(`${signer.split('/')[0]}/*`))
}

export function checkSignerAccess(
  authorizer: Authorizer,
  user: UserInfo,
  verb: 'approve' | 'sign',
  csr: ApiObject,
): Awaitable<void> {
  const signer = signerOf(csr)
  return andThen(mayUseSigner(authorizer, user, verb, signer), allowed => {
    if (allowed) return
    const why = `user not permitted to ${verb} requests with signerName ${quote(signer)}`
    throw forbidden(parseGroupResource(CSR_RESOURCE), metaOf(csr).name ?? '', why)
  })
}
