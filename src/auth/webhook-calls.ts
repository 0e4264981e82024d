// Calls of the webhooks of authentication and authorization, repeated while the webhook is overloaded or broken.
import { decodeJson } from '../codec/json.js'
import { stringAt } from '../meta/values/access.js'
import { isObject, type ValueObject } from '../meta/values/value.js'
import type { Webhooks } from '../webhook/client.js'
import type { ClientConfig } from '../webhook/client-config.js'
import { WebhookError } from '../webhook/webhook-error.js'

/** Sends a review and resolves with the review that comes back. Rejects with an Error. */
export type CallReview = (review: ValueObject) => Promise<ValueObject>

const ATTEMPTS = 5
const FIRST_PAUSE_MS = 500
const PAUSE_FACTOR = 1.5
const JITTER = 0.2
/** A failure with one of these codes may pass. */
const TRANSIENT = new Set([429, 500, 504])

/** How an attempt ended. */
export type AttemptResult = 'success' | 'timeout' | 'error'

export interface CallOptions {
  readonly pause?: ((ms: number) => Promise<void>) | undefined
  readonly onAttempt?: ((result: AttemptResult, seconds: number) => void) | undefined
}

export function reviewCaller(
  webhooks: Pick<Webhooks, 'post'>,
  target: () => Promise<ClientConfig>,
  timeoutMs: number,
  { pause = sleep, onAttempt }: CallOptions = {},
): CallReview {
  return async review => {
    const body = JSON.stringify(review)
    for (let attempt = 1; ; attempt++) {
      const began = performance.now()
      const report = (result: AttemptResult): void => onAttempt?.(result, (performance.now() - began) / 1000)
      try {
        const answer = readReview(await webhooks.post(await target(), body, timeoutMs), review)
        report('success')
        return answer
      } catch (error) {
        report(resultOf(error))
        const isTransient = error instanceof WebhookError && TRANSIENT.has(error.code)
        if (!isTransient || attempt === ATTEMPTS) throw error
        await pause(FIRST_PAUSE_MS * PAUSE_FACTOR ** (attempt - 1) * (1 + JITTER * Math.random()))
      }
    }
  }
}

/** Whether the webhook took too long, or answered that something behind it did. */
export const resultOf = (error: unknown): Exclude<AttemptResult, 'success'> =>
  error instanceof Error && (/deadline exceeded|timeout/i.test(error.message) || (error as WebhookError).code === 504)
    ? 'timeout'
    : 'error'

const sleep = (ms: number): Promise<void> => new Promise(resolve => void setTimeout(resolve, ms))

function readReview(body: Buffer, review: ValueObject): ValueObject {
  const { value } = decodeJson(body)
  if (!isObject(value)) throw new Error('the webhook did not answer with an object')
  const kind = stringAt(review, 'kind')
  const apiVersion = stringAt(review, 'apiVersion')
  if (value['kind'] !== kind || value['apiVersion'] !== apiVersion) {
    throw new Error(`the webhook did not answer with a ${kind} of ${apiVersion}`)
  }
  return value
}
