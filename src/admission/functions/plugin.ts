// The plugin of one function: calls it for the requests that match, and carries out what it decides.

import { type Awaitable, andThen, orElse } from '../../base/awaitable.js'
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
import type { AdmissionFunction, AdmissionObject } from './function.js'
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
  function ifMatched<T>(
    attributes: Attributes,
    proceed: (matched: MatchedResource, objects: VersionedObjects) => Awaitable<T | undefined>,
  ): Awaitable<T | undefined> {
    const [candidate] = candidates(attributes)
    if (!candidate || isExempt(attributes.kind)) return undefined
    return andThen(matchWebhook(env, candidate, attributes), matched =>
      matched ? andThen(attributes.inVersion(matched.kind), objects => proceed(matched, objects)) : undefined,
    )
  }

  /** Calls the function, records the call, and decides about errors. Undefined after an error that is ignored. */
  function call(
    { request }: Attributes,
    asked: Pick<RecordedCall, 'phase' | 'parts'> & { readonly objects: VersionedObjects },
    action: () => Awaitable<ApiObject | undefined>,
  ): Awaitable<ApiObject | undefined> {
    const { name } = called
    const { phase, parts, objects } = asked
    const record = (result: Pick<RecordedCall, 'allowed' | 'message' | 'mutated'>): void => {
      const { object, oldObject } = objects
      // The steps after a mutating function may change the object; after a validating one, nothing does.
      calls.add({ name, phase, parts, object: phase === 'mutate' ? encoded(object) : object, oldObject, ...result })
    }
    return orElse<ApiObject | undefined>(
      () =>
        andThen(inTime(action(), webhook.timeoutSeconds, request, env.now), changed => {
          record({ allowed: true, message: undefined, mutated: encoded(changed) })
          return changed
        }),
      error => {
        if (error === request.aborted) throw error
        const isIgnored =
          webhook.isFailureIgnored && !(error instanceof AdmissionDenial || error instanceof StatusError)
        const message = error instanceof Error ? error.message : String(error)
        record({ allowed: isIgnored, message, mutated: undefined })
        if (!isIgnored) throw refusalOf(name, error, message)
        request.log.warn('an admission function failed and is ignored', { function: name, reason: message })
        return undefined
      },
    )
  }

  const { mutate, validate } = called
  return {
    name: `function ${called.name}`,
    operations: OPERATIONS,
    stored: calls.stored,
    ...(mutate && {
      mutate: attributes =>
        ifMatched(attributes, (matched, objects) => {
          const parts = requestParts(attributes, matched)
          const own = requestOf(parts, copiesOf(objects), text => attributes.request.warn(text))
          const decide = () =>
            andThen(promised(mutate.call(called, own)), returned =>
              changedObject(attributes, matched, objects, returned ?? own.object),
            )
          const changed = call(attributes, { phase: 'mutate', parts, objects }, decide)
          return andThen(changed, after => after && inRequestedVersion(attributes, matched, after))
        }),
    }),
    ...(validate && {
      validate: attributes => {
        const decided = ifMatched(attributes, (matched, objects) => {
          const parts = requestParts(attributes, matched)
          const own = requestOf(parts, copiesOf(objects), text => attributes.request.warn(text))
          return call(attributes, { phase: 'validate', parts, objects }, () =>
            andThen(promised(validate.call(called, own)), () => undefined),
          )
        })
        return andThen(decided, () => {})
      },
    }),
  }
}

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

/** Rejects when a promise takes longer than it may, or when the request has ended before. */
function inTime<T>(
  result: Awaitable<T>,
  timeoutSeconds: number,
  request: AdmittedRequest,
  now: () => number,
): Awaitable<T> {
  if (!(result instanceof Promise)) return result
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
