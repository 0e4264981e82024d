// Tokens of service accounts: issuing and checking them. A token is valid until it expires, and as long as its account and
// the object that it is bound to exist.

import { randomUUID } from 'node:crypto'
import { type Awaitable, andThen } from '../../base/awaitable.js'
import { quote } from '../../meta/go/go-text.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { numberAt, objectAt, objectOrNone, stringAt, stringsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { API_AUDIENCE, type Notes, type TokenAuthenticator, type TokenCheck } from './authenticate.js'
import { isSignedByOneOf, readToken, signToken } from './json-web-token.js'
import { accountGroups, accountUser } from './service-accounts.js'
import type { SigningKey, TokenKey } from './signing-key.js'
import type { TokenUses } from './token-metrics.js'

/** Finds an object of the core group: a ServiceAccount, Secret, Pod or Node. */
export type FindObject = (kind: string, namespace: string, name: string) => Promise<ApiObject | undefined>

/** The kinds of objects that a token can be bound to. */
export type BoundKind = 'Secret' | 'Pod' | 'Node'

export interface TokenSpec {
  readonly account: ApiObject
  readonly audiences: readonly string[]
  readonly seconds: number
  /** The object that it is bound to, and for a pod also its node. */
  readonly bound: readonly { readonly kind: BoundKind; readonly object: ApiObject }[]
  readonly now: number
}

/** By which issuer and keys tokens are issued and accepted. */
export interface TokenAuthority {
  /** The issuer of new tokens, followed by further issuers whose tokens are accepted. */
  readonly issuers: readonly [string, ...string[]]
  /** The audiences of this server: those of a token for which none are requested. */
  readonly audiences: readonly string[]
  /** Undefined if tokens are signed outside. */
  readonly signingKey: SigningKey | undefined
  /** All keys whose tokens are accepted, the signing key among them; none if tokens are signed outside. */
  readonly keys: readonly TokenKey[]
  /** Signs tokens in the place of `signingKey`, and knows the keys by which they are verified. */
  readonly outside?: OutsideSigner | undefined
  /** The longest time for which a token is issued. */
  readonly maxSeconds: number | undefined
  /** Whether tokens of pods that are renewed each hour stay valid longer; true if absent. */
  readonly extendsExpiration?: boolean | undefined
}

export interface OutsideSigner {
  /** The token with these claims. */
  sign(claims: ValueObject): Promise<string>
  /** Those of an id, or all. */
  keysFor(id: string | undefined): Promise<readonly TokenKey[]>
  /** Those that are published; `isHidden` are those that only verify. */
  known(): readonly (TokenKey & { readonly isHidden: boolean })[]
}

/** The keys by which a token is verified that names this one. */
export const keysFor = ({ keys, outside }: TokenAuthority, id: string | undefined): Awaitable<readonly TokenKey[]> =>
  outside ? outside.keysFor(id) : keys

/** The keys that others may verify tokens by. */
export const publishedKeys = ({ keys, outside }: TokenAuthority): readonly TokenKey[] =>
  outside ? outside.known().filter(({ isHidden }) => !isHidden) : keys

export const DEFAULT_ISSUER = 'https://kubernetes.default.svc'

/** The authority of a server without further settings. */
export const defaultAuthority = (signingKey: SigningKey): TokenAuthority => ({
  issuers: [DEFAULT_ISSUER],
  audiences: [API_AUDIENCE],
  signingKey,
  keys: [signingKey],
  maxSeconds: undefined,
})

/** What kubelets request for the tokens that they mount: an hour, and a little more by which these requests are known. */
const MOUNTED_SECONDS = 3_607
const EXTENDED_SECONDS = 365 * 24 * 3_600

/** The token of a pod is valid for a year, because programs may not read it again. It says when they should have. */
function isExtended({ audiences, seconds, bound }: TokenSpec, authority: TokenAuthority): boolean {
  return (
    seconds === MOUNTED_SECONDS &&
    bound.some(({ kind }) => kind === 'Pod') &&
    audiences.every(audience => authority.audiences.includes(audience)) &&
    authority.extendsExpiration !== false
  )
}

export function issueToken(spec: TokenSpec, authority: TokenAuthority): Awaitable<string> {
  const { account, audiences, seconds, bound, now } = spec
  const { issuers, signingKey, outside, maxSeconds = EXTENDED_SECONDS } = authority
  const { namespace = '', name = '' } = metaOf(account)
  const at = Math.floor(now / 1000)
  const extended = isExtended(spec, authority)
  // Only a signer outside limits how long an extended token may be valid.
  const longest = outside ? Math.min(maxSeconds, EXTENDED_SECONDS) : EXTENDED_SECONDS
  const ties = bound.map(({ kind, object }) => [kind.toLowerCase(), referenceTo(object)] as const)
  const claims = {
    aud: [...audiences],
    exp: at + (extended ? longest : seconds),
    iat: at,
    iss: issuers[0],
    jti: randomUUID(),
    'kubernetes.io': {
      namespace,
      ...Object.fromEntries(ties),
      serviceaccount: referenceTo(account),
      ...(extended && { warnafter: at + seconds }),
    },
    nbf: at,
    sub: accountUser(namespace, name),
  }
  return outside ? outside.sign(claims) : signToken(claims, signingKey!)
}

function referenceTo(object: ApiObject): ValueObject {
  const { name = '', uid = '' } = metaOf(object)
  return { name, ...(uid !== '' && { uid }) }
}

/** A token is accepted this long after it has expired, because clocks differ. */
const LEEWAY_SECONDS = 10
/** At most this many verified tokens are remembered. */
const REMEMBERED = 4_096
/** Longer ones are not remembered: who may request a token chooses its audiences, of which there may be a megabyte. */
const MAX_REMEMBERED_LENGTH = 8 * 1024

export function accountTokens(
  authority: TokenAuthority,
  find: FindObject,
  now: () => number,
  uses?: TokenUses,
): TokenAuthenticator {
  const signed = new Map<string, ValueObject>()

  function claimsOf(token: string): Awaitable<ValueObject | 'forged' | undefined> {
    const known = signed.get(token)
    if (known) return known
    const read = readToken(token)
    if (!read || !authority.issuers.includes(stringAt(read.claims, 'iss'))) return undefined
    return andThen(keysFor(authority, read.keyId), keys => {
      if (!isSignedByOneOf(read, keys)) return 'forged'
      if (!authority.outside) remember(token, read.claims)
      return read.claims
    })
  }

  /** Not with a signer outside: it may withdraw a key at any time. */
  function remember(token: string, claims: ValueObject): void {
    if (token.length > MAX_REMEMBERED_LENGTH) return
    if (signed.size >= REMEMBERED) signed.clear()
    signed.set(token, claims)
  }

  /** Programs that never read their token again are found by these. */
  function countUse(claims: ValueObject, own: ValueObject, seconds: number, notes: Notes | undefined): void {
    const warnAfter = numberAt(own, 'warnafter')
    if (warnAfter === 0) return
    if (seconds <= warnAfter) return uses?.valid.inc()
    uses?.stale.inc()
    const late = `subject: ${stringAt(claims, 'sub')}, seconds after warning threshold: ${Math.floor(seconds) - warnAfter}`
    notes?.annotate('authentication.k8s.io/stale-token', late)
  }

  return async (token, audiences, notes) => {
    const claims = await claimsOf(token)
    if (!claims) return undefined
    if (claims === 'forged') return no('the token is not signed by this server')
    const meant = stringsAt(claims, 'aud')
    const common = meant.filter(each => audiences.includes(each))
    if (common.length === 0) {
      return no(`token audiences ${printList(meant)} is invalid for the target audiences ${printList(audiences)}`)
    }
    const seconds = now() / 1000
    if (numberAt(claims, 'exp') + LEEWAY_SECONDS < seconds) return no('service account token has expired')
    // A token that is valid from its issue on was issued: if it seems to be of the future, a clock was set or differs.
    const validFrom = numberAt(claims, 'nbf')
    if (validFrom - LEEWAY_SECONDS > seconds && validFrom > numberAt(claims, 'iat')) {
      return no('service account token is not valid yet')
    }
    const own = objectAt(claims, 'kubernetes.io')
    const error = await checkBinding(own, find)
    if (error !== undefined) return no(error)
    countUse(claims, own, seconds, notes)
    return { ok: true, identity: identityOf(own, stringAt(claims, 'jti')), audiences: common }
  }
}

const no = (error: string): TokenCheck => ({ ok: false, error })

const printList = (texts: readonly string[]): string => `[${texts.map(quote).join(' ')}]`

/** Why the account or the bound object is no longer the one that the token was issued for. */
async function checkBinding(own: ValueObject, find: FindObject): Promise<string | undefined> {
  const namespace = stringAt(own, 'namespace')
  const account = objectAt(own, 'serviceaccount')
  const stored = await find('ServiceAccount', namespace, stringAt(account, 'name'))
  if (!stored) return `serviceaccounts ${quote(stringAt(account, 'name'))} not found`
  if (isTerminating(stored)) return 'service account token has been invalidated'
  const { uid = '' } = metaOf(stored)
  if (uid !== stringAt(account, 'uid')) {
    return `service account UID (${uid}) does not match claim (${stringAt(account, 'uid')})`
  }
  // The node of a pod is only information: the token is bound to the pod.
  const kinds: BoundKind[] = objectOrNone(own, 'pod') ? ['Pod', 'Secret'] : ['Node', 'Secret']
  for (const kind of kinds) {
    const reference = objectOrNone(own, kind.toLowerCase())
    if (!reference) continue
    const object = await find(kind, kind === 'Node' ? '' : namespace, stringAt(reference, 'name'))
    if (!object || isTerminating(object) || metaOf(object).uid !== stringAt(reference, 'uid')) {
      return 'service account token has been invalidated'
    }
  }
  return undefined
}

const isTerminating = (object: ApiObject): boolean => metaOf(object).deletionTimestamp !== undefined

function identityOf(own: ValueObject, id: string) {
  const namespace = stringAt(own, 'namespace')
  const account = objectAt(own, 'serviceaccount')
  const extra: Record<string, readonly string[]> = { 'authentication.kubernetes.io/credential-id': [`JTI=${id}`] }
  for (const kind of ['node', 'pod']) {
    const reference = objectOrNone(own, kind)
    if (!reference) continue
    extra[`authentication.kubernetes.io/${kind}-name`] = [stringAt(reference, 'name')]
    const uid = stringAt(reference, 'uid')
    if (uid !== '') extra[`authentication.kubernetes.io/${kind}-uid`] = [uid]
  }
  return {
    name: accountUser(namespace, stringAt(account, 'name')),
    uid: stringAt(account, 'uid'),
    groups: accountGroups(namespace),
    extra,
  }
}
