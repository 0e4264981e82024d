import { expect, test } from 'vitest'
import type { IssuerGet } from './issuer-requests.js'
import { remoteKeys } from './remote-keys.js'

test.each([
  ['is refused', 503, 'oidc: get keys failed: 503 Odd xxx'],
  ['holds no keys', 200, 'oidc: failed to decode keys: '],
])('an answer of an issuer that %s is quoted by its beginning', async (_, status, words) => {
  const body = Buffer.alloc(4 * 2 ** 20, 'x')
  const get: IssuerGet = async () => ({ status, statusText: 'Odd', headers: {}, body })
  const keys = remoteKeys(
    'https://issuer.example.com/keys',
    get,
    () => 0,
    () => {},
  )
  const message = await keys.refresh().then(
    () => '',
    (error: Error) => error.message,
  )
  expect(message).toContain(words)
  expect(message.length).toBeLessThan(3_000)
})
