// One call of a webhook: the review is sent, and the response checked. Mutating and validating webhooks share it.

import { type Attributes as SpanAttributes, traced } from '../../base/tracing/span.js'
import { GoStructError } from '../../codec/go-struct.js'
import { badRequest, StatusError } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import { RANDOM_IDS } from '../../meta/object/ids.js'
import type { Webhooks } from '../../webhook/client.js'
import { hostPortOf } from '../../webhook/client-config.js'
import { WebhookError } from '../../webhook/webhook-error.js'
import { type Credentials, type FindCredentials, NO_CREDENTIALS } from '../../webhook/webhook-users.js'
import { type AdmittedRequest, type Attributes, loggedReason } from '../attributes.js'
import type { WebhookMatchEnv } from './match.js'
import type { WebhookMetrics } from './metrics.js'
import {
  type AdmissionResponse,
  encodeReview,
  InvalidReview,
  readReview,
  refusalBy,
  reviewVersionOf,
} from './review.js'
import type { Webhook } from './source.js'

/** What the plugins of webhooks get from the server. */
export interface WebhookEnv extends WebhookMatchEnv {
  readonly client: Webhooks
  readonly findCredentials: FindCredentials
  readonly metrics: WebhookMetrics
  readonly now: () => number
}

/** A webhook could not be called, or its response is not acceptable. The failure policy decides what follows. */
export class CallError extends Error {
  constructor(
    webhook: string,
    why: string,
    /** For metrics only. */
    readonly code: number,
  ) {
    super(`failed calling webhook ${quote(webhook)}: ${why}`)
  }
}

/** A webhook has refused the request. */
export class WebhookRefusal extends StatusError {}

/** The two kinds of webhooks, as metrics name them. */
export type WebhookType = 'admit' | 'validating'

/**
 * The response of a webhook that allows the request. Rejects with a WebhookRefusal, a CallError, another StatusError, or
 * with the reason why the request was aborted. `encoded`: the request as `encodeRequest` gives it.
 */
export async function callWebhook(
  { client, findCredentials, now }: WebhookEnv,
  type: WebhookType,
  webhook: Webhook,
  attributes: Attributes,
  encoded: () => string,
): Promise<AdmissionResponse> {
  const { request } = attributes
  const { name, sideEffects } = webhook
  if (request.dryRun) {
    if (sideEffects === undefined) throw new CallError(name, 'Webhook SideEffects is nil', 400)
    if (sideEffects !== 'None' && sideEffects !== 'NoneOnDryRun') {
      throw badRequest(`admission webhook ${quote(name)} does not support dry run`)
    }
  }
  const version = reviewVersionOf(webhook.reviewVersions)
  if (version === undefined) {
    const why = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)'
    throw new CallError(name, `could not create admission objects: ${why}`, 400)
  }
  const uid = RANDOM_IDS.uid()
  const left = Math.min(webhook.timeoutSeconds * 1000, request.deadline - now())
  const credentials = await credentialsFor(findCredentials, webhook)
  let response: AdmissionResponse
  try {
    const body = await traced(
      type === 'admit' ? 'Call mutating webhook' : 'Call validating webhook',
      () => spanAttributes(webhook, attributes, uid),
      () =>
        client.post({ ...webhook.client, credentials }, encodeReview(version, uid, encoded()), left, request.signal),
    )
    response = readReview(version, uid, type === 'admit', body)
  } catch (error) {
    throw asCallError(name, error)
  }
  for (const [key, value] of Object.entries(response.auditAnnotations)) request.annotate(`${name}/${key}`, value)
  for (const text of response.warnings) request.warn(text)
  if (!response.allowed) throw new WebhookRefusal(refusalBy(`admission webhook ${quote(name)}`, response.result).status)
  return response
}

const spanAttributes = (
  { configuration, name }: Webhook,
  { operation, resource: { group, resource }, version, subresource }: Attributes,
  uid: string,
): SpanAttributes => ({
  configuration,
  webhook: name,
  resource: `${group}/${version}, Resource=${resource}`,
  subresource,
  operation,
  UID: uid,
})

async function credentialsFor(find: FindCredentials, { name, client }: Webhook): Promise<Credentials | undefined> {
  if (find === NO_CREDENTIALS) return undefined
  try {
    return await find(hostPortOf(client))
  } catch (error) {
    throw new CallError(name, `could not get REST client: ${(error as Error).message}`, 500)
  }
}

function asCallError(name: string, error: unknown): unknown {
  if (error instanceof WebhookError) return new CallError(name, `failed to call webhook: ${error.message}`, error.code)
  if (error instanceof GoStructError) return new CallError(name, `failed to call webhook: ${error.message}`, 503)
  if (error instanceof InvalidReview)
    return new CallError(name, `received invalid webhook response: ${error.message}`, 503)
  return error
}

const WAITS = { admit: 'mutating-webhook', validating: 'validating-webhook' } as const

/** Runs a call and counts it. What refuses the request is logged. */
export async function measured<T>(
  { metrics }: WebhookEnv,
  type: WebhookType,
  webhook: Webhook,
  { operation, request }: Attributes,
  call: () => Promise<T>,
): Promise<T> {
  const { log } = request
  const start = performance.now()
  const count = (code: number, isRejected: boolean): void => {
    const milliseconds = performance.now() - start
    request.waitedFor(WAITS[type], milliseconds)
    metrics.called(webhook.name, type, operation, milliseconds / 1000, code, isRejected)
  }
  try {
    const result = await call()
    count(200, false)
    return result
  } catch (error) {
    if (error instanceof CallError) {
      if (!webhook.isFailureIgnored) {
        log.warn('a webhook failed, and the request is refused', { webhook: webhook.name, reason: error.message })
        metrics.rejected(webhook.name, type, operation, 'calling_webhook_error', error.code)
      }
      count(error.code, !webhook.isFailureIgnored)
    } else if (error instanceof WebhookRefusal) {
      const { code = 0 } = error.status
      log.info('a webhook has refused the request', { webhook: webhook.name, reason: loggedReason(error.message) })
      metrics.rejected(webhook.name, type, operation, 'no_error', code)
      count(code, true)
    } else {
      metrics.rejected(webhook.name, type, operation, 'apiserver_internal_error', 0)
      count(0, true)
    }
    throw error
  }
}

/** A failed call that the failure policy ignores is logged, counted, and noted for the audit. */
export function failOpen(
  { metrics }: WebhookEnv,
  type: WebhookType,
  { name }: Webhook,
  request: AdmittedRequest,
  annotation: string,
  error: CallError,
): void {
  request.log.warn('a webhook failed and is ignored', { webhook: name, reason: error.message })
  metrics.failedOpen(name, type)
  request.annotate(`failed-open.${annotation}`, name)
}
