// What functions were asked, and how they decided: for tests.

import { copyValue, type ValueObject } from '../../meta/values/value.js'
import type { VersionedObjects } from '../attributes.js'
import { printRequest, type RequestParts } from '../expressions/admission-request.js'
import type { AdmissionObject, AdmissionRequest } from './function.js'

export interface AdmissionCall {
  /** The name of the function. */
  readonly name: string
  readonly phase: 'mutate' | 'validate'
  /** As it was before the function changed its object. */
  readonly request: AdmissionRequest
  readonly allowed: boolean
  /** Why it is not allowed, or why the function failed. */
  readonly message?: string
  /** The object after a function that has changed it. */
  readonly mutated?: AdmissionRequest['object']
}

export interface AdmissionCalls {
  /** The last 1,000 calls, the oldest first. */
  readonly calls: readonly AdmissionCall[]
  /** Forgets the calls. */
  clear(): void
}

/** A call as it is kept: with the objects of the server, which are copied when a program reads the calls. */
export interface RecordedCall {
  readonly name: string
  readonly phase: AdmissionCall['phase']
  readonly parts: RequestParts
  readonly objects: VersionedObjects
  readonly allowed: boolean
  readonly message: string | undefined
  readonly mutated: ValueObject | undefined
}

const MAX_CALLS = 1000

export function createAdmissionCalls(): AdmissionCalls & { add(call: RecordedCall): void } {
  let recorded: RecordedCall[] = []
  const shown = new WeakMap<RecordedCall, AdmissionCall>()
  const show = (call: RecordedCall): AdmissionCall => {
    let result = shown.get(call)
    if (!result) shown.set(call, (result = callOf(call)))
    return result
  }
  return {
    get calls() {
      return recorded.slice(-MAX_CALLS).map(show)
    },
    clear: () => void (recorded = []),
    add(call) {
      recorded.push(call)
      // Twice the number is kept, so that calls are not moved each time.
      if (recorded.length >= 2 * MAX_CALLS) recorded = recorded.slice(-MAX_CALLS)
    },
  }
}

const callOf = ({ name, phase, parts, objects, allowed, message, mutated }: RecordedCall): AdmissionCall => ({
  name,
  phase,
  request: requestOf(parts, objects, () => {}),
  allowed,
  ...(message !== undefined && { message }),
  ...(mutated && { mutated: copyOf(mutated)! }),
})

/** What a function is called with. The objects are copies, since a function may change its own. */
export function requestOf(
  parts: RequestParts,
  { object, oldObject }: VersionedObjects,
  warn: (text: string) => void,
): AdmissionRequest {
  const request = printRequest(parts) as unknown as {
    -readonly [Member in keyof AdmissionRequest]: AdmissionRequest[Member]
  }
  request.object = copyOf(object)
  request.oldObject = copyOf(oldObject)
  request.warn = warn
  return request
}

const copyOf = (object: ValueObject | undefined): AdmissionObject | null => (object ? copyValue(object) : null)
