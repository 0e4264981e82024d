// The plugin of one function: calls it for the requests that match, and carries out what it decides.

import { type Awaitable, andThen } from '../../base/awaitable.js'
import { internalError, StatusError } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import type { AdmittedRequest, Attributes, Operation, VersionedObjects } from '../attributes.js'
import type { AdmissionPlugin } from '../chain.js'
import { inRequestedVersion, type MatchedResource, requestParts } from '../expressions/admission-request.js'
import { createCandidates } from '../matching/candidates.js'
import { isExempt, matchWebhook, type WebhookMatchEnv } from '../webhooks/match.js'
import { decodePatched } from '../webhooks/patched-object.js'
import { refusalBy } from '../webhooks/review.js'
import type { Webhook } from '../webhooks/source.js'
import { type RecordedCall, type RecordedCalls, requestOf } from './calls.js'
import { copyForFunction } from './copy.js'
import { AdmissionDenial } from './denial.js'
import type { AdmissionFunction, AdmissionObject, AdmissionRequest } from './function.js'
import { encoded } from './kept-object.js'
import { plainValue } from './plain-value.js'

export interface FunctionEnv extends WebhookMatchEnv {
  readonly now: () => number
}

const OPERATIONS: ReadonlySet<Operation> = new Set(['CREATE', 'UPDATE', 'DELETE', 'CONNECT'])

/** `webhook`: the matching of the function, compiled. */
export function functionPlugin(
  called: AdmissionFunction,
  webhook: Webhook,
  env: FunctionEnv,
  calls: Pick<RecordedCalls, 'add' | 'stored'>,
): AdmissionPlugin {
  const candidates = createCandidates([webhook], ({ resources }) => resources)

  /** Calls `proceed` if the request matches. */
  function ifMatched(attributes: Attributes, proceed: Proceed): Awaitable<ApiObject | undefined> {
    const candidate = candidates(attributes)[0]
    if (!candidate || isExempt(attributes.kind)) return undefined
    const matched = matchWebhook(env, candidate, attributes)
    if (matched instanceof Promise) return matched.then(found => found && withObjects(attributes, found, proceed))
    return matched && withObjects(attributes, matched, proceed)
  }

  const withObjects = (attributes: Attributes, matched: MatchedResource, proceed: Proceed) =>
    andThen(attributes.inVersion(matched.kind), objects => proceed(attributes, matched, objects))

  /** Calls the function, records the call, and decides about errors. Undefined after an error that is ignored. */
  function call(
    attributes: Attributes,
    phase: RecordedCall['phase'],
    matched: MatchedResource,
    objects: VersionedObjects,
    decide: (own: AdmissionRequest) => Awaitable<ApiObject | undefined>,
  ): Awaitable<ApiObject | undefined> {
    const { request } = attributes
    const recorded: RecordedCall = {
      name: called.name,
      phase,
      parts: requestParts(attributes, matched),
      object: objects.object,
      oldObject: objects.oldObject,
      allowed: true,
      message: undefined,
      mutated: undefined,
    }
    const own = requestOf(recorded.parts, copiesOf(objects), text => request.warn(text))
    try {
      const decided = decide(own)
      if (!(decided instanceof Promise)) return accept(recorded, decided)
      return inTime(decided, webhook.timeoutSeconds, request, env.now).then(
        changed => accept(recorded, changed),
        error => fail(recorded, request, error),
      )
    } catch (error) {
      return fail(recorded, request, error)
    }
  }

  function accept(recorded: RecordedCall, changed: ApiObject | undefined): ApiObject | undefined {
    if (changed) recorded.mutated = encoded(changed)
    record(recorded)
    return changed
  }

  function fail(recorded: RecordedCall, request: AdmittedRequest, error: unknown): undefined {
    if (error === request.aborted) throw error
    const isDecision = error instanceof AdmissionDenial || error instanceof StatusError
    const message = error instanceof Error ? error.message : String(error)
    recorded.allowed = webhook.isFailureIgnored && !isDecision
    recorded.message = message
    record(recorded)
    if (!recorded.allowed) throw refusalOf(called.name, error, message)
    request.log.warn('an admission function failed and is ignored', { function: called.name, reason: message })
  }

  function record(recorded: RecordedCall): void {
    // The steps after a mutating function may change the object; after a validating one, nothing does.
    if (recorded.phase === 'mutate') recorded.object = encoded(recorded.object)
    calls.add(recorded)
  }

  const mutateBy: Proceed = (attributes, matched, objects) => {
    const changed = call(attributes, 'mutate', matched, objects, own =>
      andThen(promised(called.mutate!(own)), returned =>
        changedObject(attributes, matched, objects, returned ?? own.object),
      ),
    )
    return andThen(changed, after => after && inRequestedVersion(attributes, matched, after))
  }

  const validateBy: Proceed = (attributes, matched, objects) =>
    call(attributes, 'validate', matched, objects, validated)

  const validated = (own: AdmissionRequest): Awaitable<undefined> =>
    andThen(promised(called.validate!(own)), () => undefined)

  return {
    name: `function ${called.name}`,
    operations: OPERATIONS,
    stored: calls.stored,
    ...(called.mutate && { mutate: attributes => ifMatched(attributes, mutateBy) }),
    ...(called.validate && { validate: attributes => andThen(ifMatched(attributes, validateBy), () => {}) }),
  }
}

/** What a phase does with a request that matches. */
type Proceed = (
  attributes: Attributes,
  matched: MatchedResource,
  objects: VersionedObjects,
) => Awaitable<ApiObject | undefined>

/** A function may change its objects. */
const copiesOf = ({ object, oldObject }: VersionedObjects): VersionedObjects => ({
  object: object && copyForFunction(object),
  oldObject: oldObject && copyForFunction(oldObject),
})

/** The object as the function has left it, decoded and with defaults; undefined if nothing has changed. */
function changedObject(
  attributes: Attributes,
  matched: MatchedResource,
  { object: before }: VersionedObjects,
  after: AdmissionObject | null,
): ApiObject | undefined {
  if (!before || after === null) return undefined
  const value = plainValue(after)
  return equalValues(before, value) ? undefined : decodePatched(attributes, matched, value).defaulted
}

/** The Status with which the request is refused. */
function refusalOf(name: string, error: unknown, message: string): StatusError {
  if (error instanceof AdmissionDenial) {
    const { code, reason, details } = error.status
    const status: Record<string, unknown> = { message, reason, details, code: Number.isInteger(code) ? code : 0 }
    return refusalBy(`admission function ${quote(name)}`, plainValue(status) as ValueObject)
  }
  return internalError(`failed calling admission function ${quote(name)}: ${message}`)
}

/** Rejects when the promise takes longer than it may, or when the request has ended before. */
function inTime<T>(
  result: Promise<T>,
  timeoutSeconds: number,
  request: AdmittedRequest,
  now: () => number,
): Promise<T> {
  // The signal of a request is made when it is first read, and costs more than the rest of a call.
  const { deadline, signal } = request
  const left = Math.max(Math.min(timeoutSeconds * 1000, deadline - now()), 0)
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => end(() => reject(new Error(`no result within ${timeoutSeconds}s`))), left)
    const onAbort = (): void => end(() => reject(signal.reason as Error))
    const end = (answer: () => void): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      answer()
    }
    signal.addEventListener('abort', onAbort)
    result.then(
      value => end(() => resolve(value)),
      (error: unknown) => end(() => reject(error)),
    )
  })
}

/** A program may have promises of its own kind. */
const promised = <T>(value: Awaitable<T>): Awaitable<T> =>
  typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function' ? Promise.resolve(value) : value
