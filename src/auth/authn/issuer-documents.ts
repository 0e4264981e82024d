// How others can check tokens of service accounts by themselves: who issues them, and by which key they are signed.
import type { ValueObject } from '../../meta/values/value.js'
import { ISSUER } from './account-tokens.js'
import type { SigningKey } from './signing-key.js'

export const ISSUER_PATH = '/.well-known/openid-configuration'
export const KEYS_PATH = '/openid/v1/jwks'

/** `serverAddress` is where the keys are: `HOST:PORT`. */
export const issuerDocument = (serverAddress: string): ValueObject => ({
  issuer: ISSUER,
  jwks_uri: `https://${serverAddress}${KEYS_PATH}`,
  response_types_supported: ['id_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256'],
})

export function keysDocument({ id, publicKey }: SigningKey): ValueObject {
  const { kty = '', crv = '', x = '', y = '' } = publicKey.export({ format: 'jwk' })
  return { keys: [{ use: 'sig', kty, kid: id, crv, alg: 'ES256', x, y }] }
}
