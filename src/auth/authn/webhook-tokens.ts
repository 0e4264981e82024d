// --authentication-token-webhook-config-file: another server is asked by a TokenReview. Its answers are kept for a while.
import { createHmac, randomBytes } from 'node:crypto'
import { createExpiringCache } from '../../base/expiring-cache.js'
import { mapAt, objectAt, stringAt, stringsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { CallReview } from '../webhook-calls.js'
import { type Identity, type TokenAuthenticator, type TokenCheck, withAuthenticated } from './authenticate.js'

export interface WebhookTokenOptions {
  readonly call: CallReview
  /** Of the TokenReview: `v1` or `v1beta1`. */
  readonly version: string
  /** How long an answer is kept; 0 keeps none. Failed calls are not kept. */
  readonly ttlMs: number
  /** Those of this server: a webhook that names no audiences means them. */
  readonly ownAudiences: readonly string[]
  readonly now: () => number
  /** Is given the error of a call. */
  readonly onError?: ((error: unknown) => void) | undefined
}

const MAX_ENTRIES = 32_768

type Answer = { readonly check: TokenCheck | undefined }

export function webhookTokens(options: WebhookTokenOptions): TokenAuthenticator {
  const { call, version, ttlMs, ownAudiences, now, onError } = options
  const answers = createExpiringCache<Answer>(MAX_ENTRIES, now)
  /** Equal questions at the same time are one call. */
  const running = new Map<string, Promise<Answer>>()
  // Tokens are not kept, only keyed hashes of them.
  const secret = randomBytes(32)

  async function ask(token: string, audiences: readonly string[], key: string): Promise<Answer> {
    try {
      const review = await call({
        apiVersion: `authentication.k8s.io/${version}`,
        kind: 'TokenReview',
        metadata: {},
        spec: { token, audiences: [...audiences] },
        status: { user: {} },
      })
      const answer = { check: checkOf(objectAt(review, 'status'), audiences, ownAudiences) }
      answers.put(key, answer, ttlMs)
      return answer
    } catch (error) {
      onError?.(error)
      return { check: { ok: false, error: error instanceof Error ? error.message : String(error) } }
    } finally {
      running.delete(key)
    }
  }

  return (token, audiences) => {
    const key = createHmac('sha256', secret)
      .update(JSON.stringify([audiences, token]))
      .digest('base64')
    const known = answers.get(key)
    if (known) return known.check
    let asked = running.get(key)
    if (!asked) running.set(key, (asked = ask(token, audiences, key)))
    return asked.then(({ check }) => check)
  }
}

function checkOf(
  status: ValueObject,
  wanted: readonly string[],
  ownAudiences: readonly string[],
): TokenCheck | undefined {
  const named = stringsAt(status, 'audiences')
  const meant = named.length > 0 ? named : ownAudiences
  const audiences = wanted.filter(each => meant.includes(each))
  if (audiences.length === 0) return undefined
  if (status['authenticated'] !== true) {
    const error = stringAt(status, 'error')
    return error === '' ? undefined : { ok: false, error }
  }
  return { ok: true, identity: withAuthenticated(userOf(objectAt(status, 'user'))), audiences }
}

function userOf(user: ValueObject): Identity {
  const extra = mapAt(user, 'extra')
  return {
    name: stringAt(user, 'username'),
    uid: stringAt(user, 'uid'),
    groups: stringsAt(user, 'groups'),
    extra: Object.fromEntries(Object.keys(extra).map(key => [key, stringsAt(extra, key)])),
  }
}
