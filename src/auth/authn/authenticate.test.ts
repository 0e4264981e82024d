import { expect, test } from 'vitest'
import { authenticate, byCertificate, byCertificateWithoutUid, byToken, type Credentials } from './authenticate.js'
import { parseTokenFile } from './token-file.js'

const tokens = parseTokenFile('admin-token,admin,admin-uid,"system:masters"\nbob-token,bob,bob-uid,""\n\nt,u,i,"a,b"\n')
const raw = Buffer.from('certificate')
const nothing: Credentials = { authorization: undefined, certificate: undefined }
const ask = (changes: Partial<Credentials>, anonymous = true) =>
  authenticate({ ...nothing, ...changes }, [byCertificate, byToken(tokens)], anonymous)

test('a valid token is its user, with its groups and system:authenticated', async () => {
  expect(await ask({ authorization: 'Bearer admin-token' })).toEqual({
    name: 'admin',
    uid: 'admin-uid',
    groups: ['system:masters', 'system:authenticated'],
    extra: {},
  })
  expect((await ask({ authorization: 'bearer t' }))?.groups).toEqual(['a', 'b', 'system:authenticated'])
})

test('a certificate names its user by the common name, and its groups by the organizations', async () => {
  const subject = { CN: 'kubernetes-admin', O: ['system:masters', 'ops'] }
  const user = await ask({ certificate: { subject, isValid: true, raw } })
  expect(user).toMatchObject({ name: 'kubernetes-admin', groups: ['system:masters', 'ops', 'system:authenticated'] })
  const twice = await ask({ certificate: { subject: { CN: ['one', 'two'] }, isValid: true, raw } })
  expect(twice).toMatchObject({ name: 'two', groups: ['system:authenticated'] })
})

test('a certificate may have a uid, and is named by its digest', async () => {
  const UID = '1.3.6.1.4.1.57683.2'
  const withUid = (uid: string | string[]) =>
    ask({ certificate: { subject: { CN: 'a', [UID]: uid }, isValid: true, raw } })
  expect(await withUid('u')).toMatchObject({
    uid: 'u',
    extra: {
      'authentication.kubernetes.io/credential-id': [
        'X509SHA256=03d66dd08835c1ca3f128cceacd1f31ac94163096b20f445ae84285bc0832d72',
      ],
    },
  })
  expect(await withUid(['u', 'v'])).toBeUndefined()
  expect(await withUid('')).toBeUndefined()
  for (const uid of ['u', ['u', 'v'], '']) {
    const certificate = { subject: { CN: 'a', [UID]: uid }, isValid: true, raw }
    expect(byCertificateWithoutUid({ ...nothing, certificate })).toMatchObject({ name: 'a', uid: '' })
  }
})

test('a request without credentials is anonymous, if that is allowed', async () => {
  expect(await ask({})).toMatchObject({ name: 'system:anonymous', groups: ['system:unauthenticated'] })
  expect(await ask({ authorization: 'Bearer' })).toMatchObject({ name: 'system:anonymous' })
  expect(await ask({ authorization: 'Basic dTpw' })).toMatchObject({ name: 'system:anonymous' })
  expect(await ask({}, false)).toBeUndefined()
})

test('an invalid certificate is refused, unless a token is valid', async () => {
  const certificate = { subject: { CN: 'forged' }, isValid: false, raw }
  expect(await ask({ certificate })).toBeUndefined()
  expect(await ask({ certificate, authorization: 'Bearer bob-token' })).toMatchObject({ name: 'bob' })
})

test('a certificate comes before a token, and one without a common name is ignored', async () => {
  const certificate = { subject: { CN: 'carol' }, isValid: true, raw }
  expect(await ask({ certificate, authorization: 'Bearer bob-token' })).toMatchObject({ name: 'carol' })
  expect(await ask({ certificate: { subject: {}, isValid: true, raw } })).toMatchObject({ name: 'system:anonymous' })
})

test('an invalid token is refused', async () => {
  expect(await ask({ authorization: 'Bearer nonsense' })).toBeUndefined()
})

test('a line without a user is refused', () => {
  expect(() => parseTokenFile('only-a-token')).toThrow(/line 1/)
})
