import { expect, test } from 'vitest'
import { authenticate, byCertificate, byToken, type Credentials } from './authenticate.js'
import { parseTokenFile } from './token-file.js'

const tokens = parseTokenFile('admin-token,admin,admin-uid,"system:masters"\nbob-token,bob,bob-uid,""\n\nt,u,i,"a,b"\n')
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
  const user = await ask({ certificate: { subject, isValid: true } })
  expect(user).toMatchObject({ name: 'kubernetes-admin', groups: ['system:masters', 'ops', 'system:authenticated'] })
  const twice = await ask({ certificate: { subject: { CN: ['one', 'two'] }, isValid: true } })
  expect(twice).toMatchObject({ name: 'two', groups: ['system:authenticated'] })
})

test('a request without credentials is anonymous, if that is allowed', async () => {
  expect(await ask({})).toMatchObject({ name: 'system:anonymous', groups: ['system:unauthenticated'] })
  expect(await ask({ authorization: 'Bearer' })).toMatchObject({ name: 'system:anonymous' })
  expect(await ask({ authorization: 'Basic dTpw' })).toMatchObject({ name: 'system:anonymous' })
  expect(await ask({}, false)).toBeUndefined()
})

test('an invalid certificate is refused, unless a token is valid', async () => {
  const certificate = { subject: { CN: 'forged' }, isValid: false }
  expect(await ask({ certificate })).toBeUndefined()
  expect(await ask({ certificate, authorization: 'Bearer bob-token' })).toMatchObject({ name: 'bob' })
})

test('a certificate comes before a token, and one without a common name is ignored', async () => {
  const certificate = { subject: { CN: 'carol' }, isValid: true }
  expect(await ask({ certificate, authorization: 'Bearer bob-token' })).toMatchObject({ name: 'carol' })
  expect(await ask({ certificate: { subject: {}, isValid: true } })).toMatchObject({ name: 'system:anonymous' })
})

test('an invalid token is refused', async () => {
  expect(await ask({ authorization: 'Bearer nonsense' })).toBeUndefined()
})

test('a line without a user is refused', () => {
  expect(() => parseTokenFile('only-a-token')).toThrow(/line 1/)
})
