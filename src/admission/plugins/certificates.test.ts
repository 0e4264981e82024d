// CertificateApproval, CertificateSigning and the requester of a CertificateSigningRequest.
import { expect, test } from 'vitest'
import { createAuthorizer } from '../../auth/authz/authorizer.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import { ALICE, attributesFor, mutated, refusalOf } from '../attributes.suite.js'
import { csrRequester } from '../internal/csr-requester.js'
import { certificateApproval } from './certificate-approval.js'
import { certificateSigning } from './certificate-signing.js'

const CSRS = 'certificatesigningrequests.certificates.k8s.io'
const csr = (spec: ValueObject, status: ValueObject = {}): ApiObject => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'a' },
  spec,
  status,
})
const old = csr({ signerName: 'a.b/c' })

/** An authorizer that allows one signer and notes what it was asked. */
const allowing = (signer: string, requested: string[] = []) => {
  const authorizer = createAuthorizer((_, attributes) => {
    const name = 'path' in attributes ? attributes.path : attributes.name
    requested.push(`${attributes.verb} ${name}`)
    return { allowed: name === signer, reason: '' }
  })
  return () => authorizer
}

test('a CertificateSigningRequest names the user who sent it', async () => {
  const forged = csr({ signerName: 'a.b/c', username: 'forged', uid: '1', groups: ['system:masters'] })
  const user = { ...ALICE, name: 'carol' }
  expect((await mutated(csrRequester, attributesFor(CSRS, { object: forged, user })))?.['spec']).toEqual({
    signerName: 'a.b/c',
    username: 'carol',
    groups: ['devs'],
  })
})

test('approval needs the verb approve on the signer, or on all signers of its domain', async () => {
  const requested: string[] = []
  const approve = attributesFor(`${CSRS}/approval`, { object: old, oldObject: old })
  expect(await refusalOf(certificateApproval(allowing('a.b/*', requested)), approve)).toBe('')
  expect(requested).toEqual(['approve a.b/c', 'approve a.b/*'])
  expect(await refusalOf(certificateApproval(allowing('a.c/*')), approve)).toBe(
    'certificatesigningrequests.certificates.k8s.io "a" is forbidden: user not permitted to approve requests with signerName "a.b/c"',
  )
})

test('certificates and failures need the verb sign, the rest of the status does not', async () => {
  const refusal = (status: ValueObject): Promise<string> =>
    refusalOf(
      certificateSigning(allowing('none')),
      attributesFor(`${CSRS}/status`, { object: csr({}, status), oldObject: old }),
    )
  expect(await refusal({ conditions: [{ type: 'Noted', status: 'True' }] })).toBe('')
  expect(await refusal({ conditions: [{ type: 'Failed', status: 'True' }] })).toMatch('not permitted to sign')
  expect(await refusal({ certificate: 'AAAA' })).toMatch('not permitted to sign')
})
