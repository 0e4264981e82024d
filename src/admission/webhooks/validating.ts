// ValidatingAdmissionWebhook: all webhooks that match are called side by side, and each of them may refuse the request.

import { startTurnsOf } from '../../base/turns.js'
import { internalError, timeout } from '../../meta/errors/status.js'
import { printGroupVersion } from '../../meta/group-version.js'
import type { Attributes } from '../attributes.js'
import type { AdmissionPlugin } from '../chain.js'
import type { MatchedResource } from '../expressions/admission-request.js'
import type { Candidate } from '../matching/candidates.js'
import { CallError, callWebhook, failOpen, measured, type WebhookEnv } from './call.js'
import { isExempt, matchWebhook } from './match.js'
import { encodeRequest } from './review.js'
import type { Webhook, WebhookSource } from './source.js'

const ANNOTATION = 'validating.webhook.admission.k8s.io/'

export const validatingWebhooks = (source: WebhookSource, env: WebhookEnv): AdmissionPlugin => ({
  name: 'ValidatingAdmissionWebhook',
  operations: new Set(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']),
  validate(attributes) {
    if (isExempt(attributes.kind)) return undefined
    const candidates = source(attributes)
    return candidates.length === 0 ? undefined : callMatching(env, candidates, attributes)
  },
})

interface Invocation {
  readonly webhook: Webhook
  /** The encoded request. */
  readonly request: () => string
}

async function callMatching(
  env: WebhookEnv,
  candidates: readonly Candidate<Webhook>[],
  attributes: Attributes,
): Promise<void> {
  const invocations: Invocation[] = []
  const requests = new Map<string, () => string>()
  const turns = startTurnsOf(attributes.request)
  for (const candidate of candidates) {
    if (turns.isDue()) await turns.give()
    const matched = await matchWebhook(env, candidate, attributes)
    if (!matched) continue
    const key = `${printGroupVersion(matched.resource)} ${printGroupVersion(matched.kind)}`
    let request = requests.get(key)
    if (!request) requests.set(key, (request = await requestIn(attributes, matched)))
    invocations.push({ webhook: candidate.item, request })
  }
  if (invocations.length === 0) return
  if (attributes.request.aborted) throw timeout('request did not complete within requested timeout')
  const errors = await Promise.all(invocations.map((invocation, i) => errorOf(env, attributes, invocation, i)))
  // With several refusals, the client gets the first in the order of the webhooks.
  const error = errors.find(each => each !== undefined)
  if (error !== undefined) throw error
}

/** The request in a version, converted now and encoded once when it is first sent. */
async function requestIn(attributes: Attributes, matched: MatchedResource): Promise<() => string> {
  const objects = await attributes.inVersion(matched.kind)
  let encoded: string | undefined
  return () => (encoded ??= encodeRequest(attributes, matched, objects))
}

/** Why the request is refused; undefined if the webhook allows it. */
async function errorOf(
  env: WebhookEnv,
  attributes: Attributes,
  { webhook, request }: Invocation,
  index: number,
): Promise<unknown> {
  try {
    await measured(env, 'validating', webhook, attributes, () =>
      callWebhook(env, 'validating', webhook, attributes, request),
    )
    return undefined
  } catch (error) {
    if (!(error instanceof CallError)) return error
    if (!webhook.isFailureIgnored) return internalError(error.message)
    failOpen(env, 'validating', webhook, attributes.request, `${ANNOTATION}round_0_index_${index}`, error)
    return undefined
  }
}
