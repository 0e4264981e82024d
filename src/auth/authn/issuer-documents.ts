// The documents by which other programs verify tokens of service accounts: the issuer, and its public keys.
import type { ValueObject } from '../../meta/values/value.js'
import { publishedKeys, type TokenAuthority } from './account-tokens.js'
import type { TokenKey } from './signing-key.js'

export const ISSUER_PATH = '/.well-known/openid-configuration'
export const KEYS_PATH = '/openid/v1/jwks'

/** `jwksUri` is the URL of the keys. */
export const issuerDocument = (authority: TokenAuthority, jwksUri: string): ValueObject => ({
  issuer: authority.issuers[0],
  jwks_uri: jwksUri,
  response_types_supported: ['id_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: [
    ...new Set(publishedKeys(authority).map(({ algorithm }) => algorithm)),
  ].toSorted(),
})

export const keysDocument = (authority: TokenAuthority): ValueObject => ({
  keys: publishedKeys(authority).map(jsonWebKey),
})

function jsonWebKey({ id, algorithm, publicKey }: TokenKey): ValueObject {
  const { kty = '', crv, x, y, n, e } = publicKey.export({ format: 'jwk' })
  const numbers = kty === 'RSA' ? { alg: algorithm, n: n!, e: e! } : { crv: crv!, alg: algorithm, x: x!, y: y! }
  return { use: 'sig', kty, kid: id, ...numbers }
}
