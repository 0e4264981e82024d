import { expect, test } from 'vitest'
import { authenticate, byCertificate, byToken, type Credentials } from './authenticate.js'
import { parseTokenFile } from './token-file.js'

const tokens = parseTokenFile('admin-token,admin,admin-uid,"system:masters"\nbob-token,bob,bob-uid,""\n\nt,u,i,"a,b"\n')
const nothing: Credentials = { authorization: undefined, certificateSubject: undefined }
const ask = (changes: Partial<Credentials>, anonymous = true) =>
  authenticate({ ...nothing, ...changes }, [byCertificate, byToken(tokens)], anonymous)

test('a known token is its user, with its groups and that of all who are known', async () => {
  expect(await ask({ authorization: 'Bearer admin-token' })).toEqual({
    name: 'admin',
    uid: 'admin-uid',
    groups: ['system:masters', 'system:authenticated'],
    extra: {},
  })
  expect((await ask({ authorization: 'bearer t' }))?.groups).toEqual(['a', 'b', 'system:authenticated'])
})

test('a certificate is its common name, with its organizations as groups', async () => {
  const user = await ask({ certificateSubject: { CN: 'kubernetes-admin', O: ['system:masters', 'ops'] } })
  expect(user).toMatchObject({ name: 'kubernetes-admin', groups: ['system:masters', 'ops', 'system:authenticated'] })
})

test('who brings nothing is anonymous, where that is allowed', async () => {
  expect(await ask({})).toMatchObject({ name: 'system:anonymous', groups: ['system:unauthenticated'] })
  expect(await ask({ authorization: 'Bearer' })).toMatchObject({ name: 'system:anonymous' })
  expect(await ask({ authorization: 'Basic dTpw' })).toMatchObject({ name: 'system:anonymous' })
  expect(await ask({}, false)).toBeUndefined()
})

test('a wrong token is refused', async () => {
  expect(await ask({ authorization: 'Bearer nonsense' })).toBeUndefined()
})

test('a line without a user is refused', () => {
  expect(() => parseTokenFile('only-a-token')).toThrow(/line 1/)
})
