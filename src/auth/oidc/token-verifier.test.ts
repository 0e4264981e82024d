import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { createTokenVerifier } from './token-verifier.js'

const ISSUER = 'https://issuer.example.com'
const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })

test('a token that names no key is tried with thousands of keys in turns', async () => {
  const keys = Array.from({ length: 3_000 }).fill(newKey().publicKey.export({ format: 'jwk' }))
  const documents: Readonly<Record<string, unknown>> = {
    [`${ISSUER}/.well-known/openid-configuration`]: { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` },
    [`${ISSUER}/keys`]: { keys },
  }
  const body = (url: string): Buffer => Buffer.from(JSON.stringify(documents[url]))
  const verifier = createTokenVerifier({
    issuer: ISSUER,
    audiences: ['a'],
    algorithms: ['ES256'],
    get: async url => ({
      status: 200,
      statusText: 'OK',
      headers: { 'cache-control': 'max-age=3600' },
      body: body(url),
    }),
    now: () => 0,
    signal: new AbortController().signal,
  })
  await verifier.attempted
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const token = `${part({ alg: 'ES256' })}.${part({ iss: ISSUER })}.${Buffer.alloc(64, 1).toString('base64url')}`
  const refused = verifier.verify(token).then(
    () => '',
    (error: Error) => error.message,
  )
  let rounds = 0
  const count = (): void => {
    rounds++
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  expect(await refused).toContain('failed to verify id token signature')
  clearImmediate(counting)
  // Read and tried at once, they would take one round each.
  expect(rounds).toBeGreaterThan(5)
})
