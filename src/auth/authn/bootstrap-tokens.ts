// Bootstrap tokens, by which new nodes introduce themselves: `<id>.<secret>`, stored in the Secret `bootstrap-token-<id>` of
// kube-system. A token that does not count is left to the other authenticators.
import { timingSafeEqual } from 'node:crypto'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt, stringAt } from '../../meta/values/access.js'
import { millisOf, parseTime } from '../../meta/values/time.js'
import type { FindObject } from './account-tokens.js'
import { type TokenAuthenticator, withAuthenticated } from './authenticate.js'

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const NAMESPACE = 'kube-system'
const SECRET_TYPE = 'bootstrap.kubernetes.io/token'
const GROUP = 'system:bootstrappers'
const FURTHER_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/

export function bootstrapTokens(
  ownAudiences: readonly string[],
  find: FindObject,
  now: () => number,
): TokenAuthenticator {
  return async (token, audiences) => {
    const [, id = '', given = ''] = TOKEN.exec(token) ?? []
    if (id === '') return undefined
    const secret = await find('Secret', NAMESPACE, `bootstrap-token-${id}`)
    if (!secret || !isUsable(secret, id, given, now())) return undefined
    const groups = groupsOf(secret)
    const common = audiences.filter(each => ownAudiences.includes(each))
    if (!groups || common.length === 0) return undefined
    const identity = withAuthenticated({ name: `system:bootstrap:${id}`, uid: '', groups, extra: {} })
    return { ok: true, identity, audiences: common }
  }
}

const isUsable = (secret: ApiObject, id: string, given: string, now: number): boolean =>
  metaOf(secret).deletionTimestamp === undefined &&
  stringAt(secret, 'type') === SECRET_TYPE &&
  isSame(dataOf(secret, 'token-secret'), given) &&
  dataOf(secret, 'token-id') === id &&
  !hasExpired(dataOf(secret, 'expiration'), now) &&
  dataOf(secret, 'usage-bootstrap-authentication') === 'true'

const dataOf = (secret: ApiObject, key: string): string =>
  Buffer.from(stringAt(objectAt(secret, 'data'), key), 'base64').toString()

function isSame(stored: string, given: string): boolean {
  const [a, b] = [Buffer.from(stored), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** A time that cannot be read has passed. */
function hasExpired(expiration: string, now: number): boolean {
  if (expiration === '') return false
  const time = parseTime(expiration)
  return !time.ok || millisOf(time.value) <= now
}

/** Sorted; undefined if one of the further groups has a name that is not for bootstrap tokens. */
function groupsOf(secret: ApiObject): string[] | undefined {
  const further = dataOf(secret, 'auth-extra-groups')
  const groups = further === '' ? [] : further.split(',')
  if (!groups.every(group => FURTHER_GROUP.test(group))) return undefined
  return [...new Set([GROUP, ...groups])].toSorted()
}
