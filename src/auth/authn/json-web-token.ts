// JSON Web Tokens: a header, claims, and a signature over both, each in base64url.
import {
  constants,
  type KeyObject,
  type SignKeyObjectInput,
  sign,
  type VerifyKeyObjectInput,
  verify,
} from 'node:crypto'
import { decodeJson } from '../../codec/json.js'
import { getOwn, isObject, type ValueObject } from '../../meta/values/value.js'
import type { SigningKey, TokenAlgorithm, TokenKey } from './signing-key.js'

/** The algorithms of JWS that sign with a key pair, and by which tokens of other issuers may be signed. */
export const JWS_ALGORITHMS = ['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'] as const
export type JwsAlgorithm = (typeof JWS_ALGORITHMS)[number]

const hashOf = (algorithm: JwsAlgorithm | TokenAlgorithm): string => `sha${algorithm.slice(2)}`

export function signToken(claims: ValueObject, { id, algorithm, privateKey }: SigningKey): string {
  const content = `${part({ alg: algorithm, kid: id })}.${part(claims)}`
  const signature = sign(hashOf(algorithm), Buffer.from(content), withEncoding(privateKey))
  return `${content}.${signature.toString('base64url')}`
}

const part = (value: ValueObject): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The two numbers of an ECDSA signature side by side, as JWS has them. It does not matter for RSA. */
const withEncoding = (key: KeyObject): SignKeyObjectInput => ({ key, dsaEncoding: 'ieee-p1363' })

const { RSA_PKCS1_PSS_PADDING, RSA_PSS_SALTLEN_DIGEST } = constants

/** False also for a key that the algorithm cannot use. */
function isSignature(algorithm: JwsAlgorithm, key: KeyObject, content: Buffer, signature: Buffer): boolean {
  if (key.asymmetricKeyType !== (algorithm.startsWith('ES') ? 'ec' : 'rsa')) return false
  const options: VerifyKeyObjectInput = algorithm.startsWith('PS')
    ? { key, padding: RSA_PKCS1_PSS_PADDING, saltLength: RSA_PSS_SALTLEN_DIGEST }
    : withEncoding(key)
  try {
    return verify(hashOf(algorithm), content, options, signature)
  } catch {
    return false
  }
}

export interface ReadToken {
  readonly claims: ValueObject
  /** The id of the key that the header names, if it names one. */
  readonly keyId: string | undefined
  /** As the header names it. */
  readonly algorithm: string
  isSignedBy(key: Pick<TokenKey, 'publicKey'> & { readonly algorithm: JwsAlgorithm }): boolean
}

/** The content of a token, whose signature is not verified yet; undefined for a text that is no such token. */
export function readToken(token: string): ReadToken | undefined {
  const [header = '', claims = '', signature = '', ...rest] = token.split('.')
  const head = readPart(header)
  const given = readPart(claims)
  if (!head || !given || rest.length > 0) return undefined
  const keyId = getOwn(head, 'kid')
  const algorithm = getOwn(head, 'alg')
  return {
    claims: given,
    keyId: typeof keyId === 'string' && keyId !== '' ? keyId : undefined,
    algorithm: typeof algorithm === 'string' ? algorithm : '',
    isSignedBy: key =>
      algorithm === key.algorithm &&
      // No extension is known that a token could require.
      getOwn(head, 'crit') === undefined &&
      isSignature(
        key.algorithm,
        key.publicKey,
        Buffer.from(`${header}.${claims}`),
        Buffer.from(signature, 'base64url'),
      ) &&
      // Another spelling of the same bytes is another token.
      Buffer.from(signature, 'base64url').toString('base64url') === signature,
  }
}

function readPart(text: string): ValueObject | undefined {
  try {
    const { value } = decodeJson(Buffer.from(text, 'base64url'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A token that names its key is verified by that one only. */
export const isSignedByOneOf = ({ keyId, isSignedBy }: ReadToken, keys: readonly TokenKey[]): boolean =>
  keys.some(key => (keyId === undefined || keyId === key.id) && isSignedBy(key))
