import { expect, test } from 'vitest'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import { checkSignerUse, requestedBy } from './signing-requests.js'

const request = (spec: ValueObject, status: ValueObject = {}): ApiObject => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'a' },
  spec,
  status,
})

test('who asks is not theirs to say', () => {
  const forged = request({ signerName: 'a.b/c', username: 'forged', uid: '1', groups: ['system:masters'] })
  const carol = { name: 'carol', uid: '', groups: ['devs'], extra: {} }
  expect(requestedBy(forged, carol)['spec']).toEqual({ signerName: 'a.b/c', username: 'carol', groups: ['devs'] })
})

test('to consent takes the right to approve for that signer, or for all of its domain', async () => {
  const old = request({ signerName: 'a.b/c' })
  const requested: string[] = []
  const may = (allowed: string) => async (verb: string, signer: string) => {
    requested.push(`${verb} ${signer}`)
    return signer === allowed
  }
  await expect(checkSignerUse('approval', old, old, may('a.b/*'))).resolves.toBeUndefined()
  expect(requested).toEqual(['approve a.b/c', 'approve a.b/*'])
  await expect(checkSignerUse('approval', old, old, may('a.c/*'))).rejects.toThrow(
    'certificatesigningrequests.certificates.k8s.io "a" is forbidden: user not permitted to approve requests with signerName "a.b/c"',
  )
})

test('a status may be written without the right to sign, but for certificates and failures', async () => {
  const old = request({ signerName: 'a.b/c' })
  const no = async () => false
  const noted = request({}, { conditions: [{ type: 'Noted', status: 'True' }] })
  await expect(checkSignerUse('status', noted, old, no)).resolves.toBeUndefined()
  const failed = request({}, { conditions: [{ type: 'Failed', status: 'True' }] })
  await expect(checkSignerUse('status', failed, old, no)).rejects.toThrow('not permitted to sign')
  await expect(checkSignerUse('status', request({}, { certificate: 'AAAA' }), old, no)).rejects.toThrow('to sign')
})
