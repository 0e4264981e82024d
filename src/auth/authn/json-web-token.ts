// Signed tokens: three parts in base64url, a header, claims, and a signature over both (ES256).
import { sign, verify } from 'node:crypto'
import { decodeJson } from '../../codec/json.js'
import { getOwn, isObject, type ValueObject } from '../../meta/values/value.js'
import type { SigningKey } from './signing-key.js'

export function signToken(claims: ValueObject, { id, privateKey }: SigningKey): string {
  const content = `${part({ alg: 'ES256', kid: id })}.${part(claims)}`
  const signature = sign('sha256', Buffer.from(content), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${content}.${signature.toString('base64url')}`
}

const part = (value: ValueObject): string => Buffer.from(JSON.stringify(value)).toString('base64url')

export interface ReadToken {
  readonly claims: ValueObject
  isSignedBy(key: SigningKey): boolean
}

/** What a token says, which is not yet true; undefined for what is no such token. */
export function readToken(token: string): ReadToken | undefined {
  const [header = '', claims = '', signature = '', ...rest] = token.split('.')
  const head = readPart(header)
  const given = readPart(claims)
  if (!head || !given || rest.length > 0) return undefined
  return {
    claims: given,
    isSignedBy: ({ publicKey }) =>
      getOwn(head, 'alg') === 'ES256' &&
      verify(
        'sha256',
        Buffer.from(`${header}.${claims}`),
        { key: publicKey, dsaEncoding: 'ieee-p1363' },
        Buffer.from(signature, 'base64url'),
      ) &&
      // Other spellings of the same bytes are other tokens.
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
