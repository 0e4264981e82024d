// MutatingAdmissionWebhook: the webhooks that match are called one after the other, and each of them sees the object as
// the one before has left it. A webhook with `reinvocationPolicy: IfNeeded` is called once more if the object was
// changed after its call.

import { inTurns, startTurnsOf } from '../../base/turns.js'
import { CodecError } from '../../codec/codec-error.js'
import { decodeJson } from '../../codec/json.js'
import { internalError, StatusError, unclassified } from '../../meta/errors/status.js'
import { printJson, quote } from '../../meta/go/go-text.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { checkTypeMeta } from '../../meta/object/type-meta.js'
import { checkChange, checkDecodedBody } from '../../meta/object/value-limit.js'
import { equalValues, type Value } from '../../meta/values/value.js'
import { applyJsonPatchInSteps, type JsonPatch, parseJsonPatch } from '../../patch/json-patch.js'
import { PatchError } from '../../patch/patch-error.js'
import type { Attributes } from '../attributes.js'
import type { AdmissionPlugin } from '../chain.js'
import { inRequestedVersion, type MatchedResource } from '../expressions/admission-request.js'
import type { Candidate } from '../matching/candidates.js'
import { CallError, callWebhook, failOpen, measured, type WebhookEnv } from './call.js'
import { isExempt, matchWebhook } from './match.js'
import { decodePatched } from './patched-object.js'
import { type AdmissionResponse, encodeRequest } from './review.js'
import type { Webhook, WebhookSource } from './source.js'

const PLUGIN = 'MutatingAdmissionWebhook'
const ANNOTATION = 'mutation.webhook.admission.k8s.io/'
const PATCH_ANNOTATION = 'patch.webhook.admission.k8s.io/'

export const mutatingWebhooks = (source: WebhookSource, env: WebhookEnv): AdmissionPlugin => ({
  name: PLUGIN,
  operations: new Set(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']),
  mutate(attributes) {
    if (isExempt(attributes.kind)) return undefined
    const candidates = source(attributes)
    return candidates.length === 0 ? undefined : callInTurn(env, candidates, attributes)
  },
})

/** What is kept between the two runs of the plugins, by the uids of webhooks. */
interface Invocations {
  /** Called with IfNeeded, and nothing has changed since. */
  called: Set<string>
  /** To be called again. */
  readonly again: Set<string>
  /** The object after the last webhook. */
  output: ApiObject | undefined
}

async function callInTurn(
  env: WebhookEnv,
  candidates: readonly Candidate<Webhook>[],
  attributes: Attributes,
): Promise<ApiObject | undefined> {
  const { reinvocation, request } = attributes
  const round = reinvocation.isReinvoke ? 1 : 0
  const invocations = reinvocation.slot<Invocations>(PLUGIN, () => ({
    called: new Set(),
    again: new Set(),
    output: undefined,
  }))
  // Another plugin has changed the object in the second run.
  if (round === 1 && !equalValues(invocations.output, attributes.object)) callAgain(invocations)
  let current = attributes
  const turns = startTurnsOf(request)
  for (const candidate of candidates) {
    if (turns.isDue()) await turns.give()
    const webhook = candidate.item
    const matched = await matchWebhook(env, candidate, current)
    if (!matched || (round === 1 && !invocations.again.has(webhook.uid))) continue
    const place = `round_${round}_index_${webhook.index}`
    const at = `${ANNOTATION}${place}`
    let changed = false
    try {
      const before = current
      const object = await measured(env, 'admit', webhook, before, () => mutateBy(env, webhook, before, matched, place))
      if (object) {
        current = before.withObject(object.converted)
        changed = object.isChanged || (before === attributes && round === 0 && hasNewTimes(attributes))
      }
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      if (!webhook.isFailureIgnored) throw internalError(error.message)
      failOpen(env, 'admit', webhook, request, at, error)
      if (request.aborted) throw request.aborted
    }
    const { configuration, name } = webhook
    request.annotate(at, JSON.stringify({ configuration, webhook: name, mutated: changed }))
    if (changed) {
      callAgain(invocations)
      reinvocation.request()
    }
    if (webhook.isReinvoked) invocations.called.add(webhook.uid)
  }
  invocations.output = current.object
  return current === attributes ? undefined : current.object
}

/**
 * In kube-apiserver, the times that this request has set in managedFields of a built-in kind have fractions of a second
 * until the first patch, which is applied to JSON. So the first patch always counts as a change there.
 */
function hasNewTimes({ storedKind, object, oldObject }: Attributes): boolean {
  if (storedKind?.versions[0]?.type.dialect !== 'go' || !object) return false
  const before = new Set((oldObject && metaOf(oldObject).managedFields)?.map(({ time }) => time))
  return metaOf(object).managedFields?.some(({ time }) => time !== undefined && !before.has(time)) ?? false
}

function callAgain(invocations: Invocations): void {
  for (const uid of invocations.called) invocations.again.add(uid)
  invocations.called = new Set()
}

interface Mutated {
  /** In the version of the request. */
  readonly converted: ApiObject
  readonly isChanged: boolean
}

/** The object as the webhook changes it; undefined if it sends no patch. */
async function mutateBy(
  env: WebhookEnv,
  webhook: Webhook,
  attributes: Attributes,
  matched: MatchedResource,
  place: string,
): Promise<Mutated | undefined> {
  const objects = await attributes.inVersion(matched.kind)
  const response = await callWebhook(env, 'admit', webhook, attributes, () =>
    encodeRequest(attributes, matched, objects),
  )
  const patch = patchIn(webhook, response)
  if (!patch) return undefined
  const { object: before } = objects
  if (!before) {
    throw internalError(
      `admission webhook ${quote(webhook.name)} attempted to modify the object, which is not supported for this operation`,
    )
  }
  if (response.patchType !== 'JSONPatch') {
    throw new CallError(webhook.name, `unsupported patch type ${quote(response.patchType)}`, 400)
  }
  const after = await patched(attributes, matched, before, patch)
  attributes.request.annotate(`${PATCH_ANNOTATION}${place}`, patchAnnotation(webhook, response))
  const isChanged = !equalValues(before, after.decoded)
  return { converted: await inRequestedVersion(attributes, matched, after.defaulted), isChanged }
}

function patchIn({ name }: Webhook, { patch }: AdmissionResponse): JsonPatch | undefined {
  if (patch.length === 0) return undefined
  try {
    const { value } = decodeJson(patch)
    checkDecodedBody(value, patch.length)
    const parsed = parseJsonPatch(value, { text: patch.toString(), fieldValidation: 'Ignore' })
    return parsed.operations.length === 0 ? undefined : parsed
  } catch (error) {
    if (!(error instanceof PatchError || error instanceof CodecError)) throw error
    throw new CallError(name, `received undecodable patch in webhook response: ${error.message}`, 503)
  }
}

/** The patch is written as Go writes JSON, without the spaces that the webhook has sent. */
const patchAnnotation = ({ configuration, name }: Webhook, { patch, patchType }: AdmissionResponse): string =>
  `{"configuration":${JSON.stringify(configuration)},"webhook":${JSON.stringify(name)},"patch":${printJson(decodeJson(patch).value, { keepOrder: true })},"patchType":"${patchType}"}`

/** An error of the patch or of the patched object is the webhook's, and the failure policy does not ignore it. */
async function patched(
  attributes: Attributes,
  matched: MatchedResource,
  before: ApiObject,
  patch: JsonPatch,
): Promise<ReturnType<typeof decodePatched>> {
  try {
    const after: Value = await inTurns(applyJsonPatchInSteps(before, patch))
    checkChange(after, before)
    checkTypeMeta(after, why => internalError(why))
    return decodePatched(attributes, matched, after)
  } catch (error) {
    if (error instanceof PatchError) throw internalError(error.detail)
    if (!(error instanceof StatusError) || KEPT_REASONS.has(error.status.reason)) throw error
    const why = withoutPrefix(error.message)
    // kube-apiserver decodes an object of another kind, and cannot convert it when all webhooks were called.
    throw why.endsWith(': unknown conversion') ? unclassified(why) : internalError(why)
  }
}

const KEPT_REASONS: ReadonlySet<string | undefined> = new Set(['InternalError', 'RequestEntityTooLarge'])

/** The message of the decoder behind `X in version "v1" cannot be handled as a X: `. */
const withoutPrefix = (message: string): string => message.replace(/^.* cannot be handled as an? \S+: /, '')
