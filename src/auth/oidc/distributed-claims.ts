// A claim that an issuer keeps elsewhere: the token names the endpoint, which answers with a token that has the claim.

import { getOwn, isObject, setOwn, type ValueObject } from '../../meta/values/value.js'
import { readToken } from '../authn/json-web-token.js'
import { inStep } from './error-words.js'
import type { IssuerGet } from './issuer-requests.js'
import type { TokenVerifier } from './token-verifier.js'

/** Returns the claims with the one that was looked up. Rejects with an Error. */
export type ExpandClaims = (claims: ValueObject) => Promise<ValueObject>

/** At most this many issuers of such tokens are remembered. */
const MAX_ISSUERS = 16

export function distributedClaims(
  claim: string,
  get: IssuerGet,
  createVerifier: (issuer: string) => TokenVerifier,
): ExpandClaims {
  const verifiers = new Map<string, TokenVerifier>()

  async function verifierOf(issuer: string): Promise<TokenVerifier> {
    let verifier = verifiers.get(issuer)
    if (!verifier) {
      if (verifiers.size >= MAX_ISSUERS) throw new Error(`more than ${MAX_ISSUERS} issuers of distributed claims`)
      verifiers.set(issuer, (verifier = createVerifier(issuer)))
    }
    await verifier.attempted
    if (verifier.initError()) throw new Error(`verifier not initialized for issuer: ${JSON.stringify(issuer)}`)
    return verifier
  }

  return async claims => {
    const endpoint = endpointOf(claims, claim)
    if (!endpoint) return claims
    const token = await claimToken(get, endpoint).catch(
      inStep(`while getting distributed claim ${JSON.stringify(claim)}: `),
    )
    const issuer = issuerOf(token)
    if (issuer === undefined) {
      throw new Error(
        `getting untrusted issuer from endpoint ${endpoint.url} failed for claim ${JSON.stringify(claim)}`,
      )
    }
    const verifier = await verifierOf(issuer).catch(inStep(`verifying untrusted issuer ${issuer} failed: `))
    const found = await verifier.verify(token).catch(inStep(`verify distributed claim token: `))
    const value = getOwn(found, claim)
    if (value === undefined) {
      throw new Error(
        `jwt returned by distributed claim endpoint ${JSON.stringify(endpoint.url)} did not contain claim: ${claim}`,
      )
    }
    const expanded = { ...claims }
    setOwn(expanded, claim, value)
    return expanded
  }
}

interface Endpoint {
  readonly url: string
  readonly token: string | undefined
}

/** Undefined if the claim is in the token itself, or nowhere. Throws an Error. */
function endpointOf(claims: ValueObject, claim: string): Endpoint | undefined {
  const names = getOwn(claims, '_claim_names')
  if (getOwn(claims, claim) !== undefined || names === undefined) return undefined
  if (!isObject(names)) throw new Error('oidc: error parsing distributed claim names')
  const sources = getOwn(claims, '_claim_sources')
  if (sources === undefined) throw new Error('oidc: no claim sources')
  if (!isObject(sources)) throw new Error('oidc: could not parse claim sources')
  const name = getOwn(names, claim)
  if (typeof name !== 'string') return undefined
  const source = getOwn(sources, name)
  if (!isObject(source)) {
    throw new Error(`id token _claim_names contained a source ${name} missing in _claims_sources`)
  }
  const [url, token] = [getOwn(source, 'endpoint'), getOwn(source, 'access_token')]
  if (typeof url !== 'string' || url === '') return undefined
  return { url, token: typeof token === 'string' ? token : undefined }
}

async function claimToken(get: IssuerGet, { url, token }: Endpoint): Promise<string> {
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:') throw new Error(`${url} is not https`)
  const { status, statusText, body } = await get(url, token)
  if (status < 200 || status > 226) {
    throw new Error(`error while getting distributed claim JWT: ${status} ${statusText}`)
  }
  return body.toString()
}

/** The issuer that a token names, before it is verified. */
export function issuerOf(token: string): string | undefined {
  const issuer = readToken(token)?.claims['iss']
  if (issuer === 'accounts.google.com') return 'https://accounts.google.com'
  return typeof issuer === 'string' ? issuer : undefined
}
