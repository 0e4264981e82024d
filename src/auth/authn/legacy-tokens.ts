// Tokens without expiry, which are stored in Secrets: issuing and checking them. A token is valid as long as its Secret
// holds it and its account exists.
import { timingSafeEqual } from 'node:crypto'
import { quote } from '../../meta/go/go-text.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt, stringAt } from '../../meta/values/access.js'
import type { FindObject, TokenAuthority } from './account-tokens.js'
import type { TokenAuthenticator, TokenCheck } from './authenticate.js'
import { isSignedByOneOf, readToken, signToken } from './json-web-token.js'
import { accountGroups, accountUser } from './service-accounts.js'

const ISSUER = 'kubernetes/serviceaccount'
const CLAIM = `kubernetes.io/serviceaccount/`
const LAST_USED = 'kubernetes.io/legacy-token-last-used'
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since'

export function issueLegacyToken(account: ApiObject, secret: ApiObject, { signingKey }: TokenAuthority): string {
  const { namespace = '', name = '', uid = '' } = metaOf(account)
  return signToken(
    {
      iss: ISSUER,
      [`${CLAIM}namespace`]: namespace,
      [`${CLAIM}secret.name`]: metaOf(secret).name ?? '',
      [`${CLAIM}service-account.name`]: name,
      [`${CLAIM}service-account.uid`]: uid,
      sub: accountUser(namespace, name),
    },
    signingKey,
  )
}

/** Writes on the Secret that its token was used on a day: `2026-01-31`. */
export type MarkTokenUsed = (secret: ApiObject, label: string, day: string) => void

export function legacyTokens(
  authority: TokenAuthority,
  find: FindObject,
  now: () => number,
  markUsed: MarkTokenUsed,
): TokenAuthenticator {
  return async (token, audiences) => {
    const read = readToken(token)
    if (!read || stringAt(read.claims, 'iss') !== ISSUER) return undefined
    if (!isSignedByOneOf(read, authority.keys)) return no('the token is not signed by this server')
    const common = audiences.filter(each => authority.audiences.includes(each))
    if (common.length === 0) return no('the token is meant for the audiences of this server only')
    const claim = (name: string): string => stringAt(read.claims, `${CLAIM}${name}`)
    const [namespace, name, uid] = [claim('namespace'), claim('service-account.name'), claim('service-account.uid')]
    if (stringAt(read.claims, 'sub') !== accountUser(namespace, name)) return no('sub claim is invalid')
    const secret = await find('Secret', namespace, claim('secret.name'))
    if (!secret || metaOf(secret).deletionTimestamp !== undefined) return no('Token has been invalidated')
    if (!holds(secret, token)) return no("Token does not match server's copy")
    const error = await checkAccount(find, namespace, name, uid)
    if (error !== undefined) return no(error)
    markIfDue(secret)
    if (metaOf(secret).labels?.[INVALID_SINCE]) {
      return no(
        `the token in secret ${namespace}/${claim('secret.name')} for service account ${namespace}/${name} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${INVALID_SINCE}' label from the secret to temporarily allow use of this token`,
      )
    }
    const identity = { name: accountUser(namespace, name), uid, groups: accountGroups(namespace), extra: {} }
    return { ok: true, identity, audiences: common }
  }

  /** Once a day. Another server's clock may be a little ahead, so that tomorrow counts too. */
  function markIfDue(secret: ApiObject): void {
    const [today, tomorrow] = [now(), now() + 86_400_000].map(at => new Date(at).toISOString().slice(0, 10))
    const last = metaOf(secret).labels?.[LAST_USED]
    if (last !== today && last !== tomorrow) markUsed(secret, LAST_USED, today!)
  }
}

const no = (error: string): TokenCheck => ({ ok: false, error })

function holds(secret: ApiObject, token: string): boolean {
  const stored = Buffer.from(stringAt(objectAt(secret, 'data'), 'token'), 'base64')
  const given = Buffer.from(token)
  return stored.length === given.length && timingSafeEqual(stored, given)
}

async function checkAccount(
  find: FindObject,
  namespace: string,
  name: string,
  uid: string,
): Promise<string | undefined> {
  const account = await find('ServiceAccount', namespace, name)
  if (!account) return `serviceaccounts ${quote(name)} not found`
  if (metaOf(account).deletionTimestamp !== undefined) return `ServiceAccount ${namespace}/${name} has been deleted`
  const stored = metaOf(account).uid ?? ''
  return stored === uid ? undefined : `ServiceAccount UID (${stored}) does not match claim (${uid})`
}
