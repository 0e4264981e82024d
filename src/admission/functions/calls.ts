// What functions were asked, and how they decided: for tests.

import type { ApiObject } from '../../meta/object/api-object.js'
import type { VersionedObjects } from '../attributes.js'
import { printRequest, type RequestParts } from '../expressions/admission-request.js'
import type { AdmissionRequest } from './function.js'
import { EncodedObject, encoded, isEncoded, type KeptObject, keptSize, readKept } from './kept-object.js'

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
  /** The last 1,000 calls, the oldest first; fewer if their objects have more than 64 MiB. */
  readonly calls: readonly AdmissionCall[]
  /** Forgets the calls. */
  clear(): void
}

/** A call as it is kept. */
export interface RecordedCall {
  readonly name: string
  readonly phase: AdmissionCall['phase']
  readonly parts: RequestParts
  object: KeptObject
  oldObject: KeptObject
  allowed: boolean
  message: string | undefined
  mutated: KeptObject
}

export interface RecordedCalls extends AdmissionCalls {
  /** Objects of the server may be added as they are if nothing changes them before they are stored. */
  add(call: RecordedCall): void
  /** `bytes`: the object as it was stored. */
  stored(object: ApiObject, bytes: Buffer): void
}

const MAX_CALLS = 1000
const MAX_BYTES = 64 * 1024 * 1024
/** The objects of so many calls are waited for. What is not stored by then, as on a dry run, is encoded. */
const MAX_WAITING = 32

export function createAdmissionCalls(): RecordedCalls {
  /** A ring. Slots from `next - count` to `next` are in use. */
  const recorded: (RecordedCall | undefined)[] = []
  /** The bytes of each slot, so that the call that is forgotten need not be looked at: it has long left the processor's cache. */
  const sizes = new Uint32Array(MAX_CALLS)
  let next = 0
  let count = 0
  let bytes = 0
  /** The slots of calls with objects that are not bytes yet, the oldest first. */
  let waiting: number[] = []

  function measure(at: number): void {
    const size = sizeOf(recorded[at]!)
    bytes += size - sizes[at]!
    sizes[at] = size
  }

  function forgetOldest(): void {
    const oldest = (next - count + MAX_CALLS) % MAX_CALLS
    bytes -= sizes[oldest]!
    sizes[oldest] = 0
    recorded[oldest] = undefined
    count--
  }

  function encode(at: number): void {
    const call = recorded[at]
    if (!call) return
    call.object = encoded(call.object)
    call.oldObject = encoded(call.oldObject)
    measure(at)
  }

  const shown = new WeakMap<RecordedCall, AdmissionCall>()
  const show = (call: RecordedCall): AdmissionCall => {
    let result = shown.get(call)
    if (!result) shown.set(call, (result = callOf(call)))
    return result
  }

  return {
    get calls() {
      return Array.from({ length: count }, (_, i) => show(recorded[(next - count + i + MAX_CALLS) % MAX_CALLS]!))
    },
    clear() {
      while (count > 0) forgetOldest()
      waiting = []
    },
    add(call) {
      const at = next
      recorded[at] = call
      next = (next + 1) % MAX_CALLS
      // The slot of the oldest call is taken when the ring is full.
      if (count < MAX_CALLS) count++
      measure(at)
      if (isWaiting(call)) waiting.push(at)
      if (waiting.length > MAX_WAITING) encode(waiting.shift()!)
      while (bytes > MAX_BYTES && count > 1) forgetOldest()
    },
    stored(object, asBytes) {
      for (let i = waiting.length - 1; i >= 0; i--) {
        const at = waiting[i]!
        const call = recorded[at]
        if (!call || (call.object !== object && call.oldObject !== object)) continue
        if (call.object === object) call.object = EncodedObject.stored(object, asBytes)
        else call.oldObject = EncodedObject.stored(object, asBytes)
        measure(at)
        if (isWaiting(call)) continue
        if (i === waiting.length - 1) waiting.pop()
        else waiting.splice(i, 1)
      }
    },
  }
}

const isWaiting = ({ object, oldObject }: RecordedCall): boolean => !isEncoded(object) || !isEncoded(oldObject)

const sizeOf = ({ object, oldObject, mutated }: RecordedCall): number =>
  keptSize(object) + keptSize(oldObject) + keptSize(mutated)

function callOf({ name, phase, parts, object, oldObject, allowed, message, mutated }: RecordedCall): AdmissionCall {
  const objects = { object: readKept(object), oldObject: readKept(oldObject) }
  return {
    name,
    phase,
    request: requestOf(parts, objects, () => {}),
    allowed,
    ...(message !== undefined && { message }),
    ...(mutated && { mutated: readKept(mutated)! }),
  }
}

/** What a function is called with. `objects`: copies, since a function may change its own. */
export function requestOf(
  parts: RequestParts,
  { object, oldObject }: VersionedObjects,
  warn: (text: string) => void,
): AdmissionRequest {
  const request = printRequest(parts) as unknown as {
    -readonly [Member in keyof AdmissionRequest]: AdmissionRequest[Member]
  }
  request.object = object ?? null
  request.oldObject = oldObject ?? null
  request.warn = warn
  return request
}
