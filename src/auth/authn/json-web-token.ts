// JSON Web Tokens: a header, claims, and a signature over both, each in base64url.
import { type KeyObject, type SignKeyObjectInput, sign, verify } from 'node:crypto'
import { decodeJson } from '../../codec/json.js'
import { getOwn, isObject, type ValueObject } from '../../meta/values/value.js'
import type { SigningKey, TokenAlgorithm, TokenKey } from './signing-key.js'

const HASHES: Readonly<Record<TokenAlgorithm, string>> = {
  RS256: 'sha256',
  ES256: 'sha256',
  ES384: 'sha384',
  ES512: 'sha512',
}

export function signToken(claims: ValueObject, { id, algorithm, privateKey }: SigningKey): string {
  const content = `${part({ alg: algorithm, kid: id })}.${part(claims)}`
  const signature = sign(HASHES[algorithm], Buffer.from(content), withEncoding(privateKey))
  return `${content}.${signature.toString('base64url')}`
}

const part = (value: ValueObject): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The two numbers of an ECDSA signature side by side, as JWS has them. It does not matter for RSA. */
const withEncoding = (key: KeyObject): SignKeyObjectInput => ({ key, dsaEncoding: 'ieee-p1363' })

export interface ReadToken {
  readonly claims: ValueObject
  /** The id of the key that the header names, if it names one. */
  readonly keyId: string | undefined
  isSignedBy(key: TokenKey): boolean
}

/** The content of a token, whose signature is not verified yet; undefined for a text that is no such token. */
export function readToken(token: string): ReadToken | undefined {
  const [header = '', claims = '', signature = '', ...rest] = token.split('.')
  const head = readPart(header)
  const given = readPart(claims)
  if (!head || !given || rest.length > 0) return undefined
  const keyId = getOwn(head, 'kid')
  return {
    claims: given,
    keyId: typeof keyId === 'string' && keyId !== '' ? keyId : undefined,
    isSignedBy: ({ algorithm, publicKey }) =>
      getOwn(head, 'alg') === algorithm &&
      verify(
        HASHES[algorithm],
        Buffer.from(`${header}.${claims}`),
        withEncoding(publicKey),
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
