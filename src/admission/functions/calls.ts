// What functions were asked, and how they decided: for tests.

import type { ApiObject } from '../../meta/object/api-object.js'
import type { VersionedObjects } from '../attributes.js'
import { printRequest, type RequestParts } from '../expressions/admission-request.js'
import type { AdmissionRequest } from './function.js'
import { EncodedObject, encoded, type KeptObject, keptSize, readKept } from './kept-object.js'

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
  readonly allowed: boolean
  readonly message: string | undefined
  readonly mutated: KeptObject
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
  let next = 0
  let count = 0
  let bytes = 0
  const slot = (back: number): number => (next - back + MAX_CALLS) % MAX_CALLS

  function forgetOldest(): void {
    bytes -= sizeOf(recorded[slot(count)]!)
    recorded[slot(count)] = undefined
    count--
  }

  function encode(call: RecordedCall): void {
    bytes -= sizeOf(call)
    call.object = encoded(call.object)
    call.oldObject = encoded(call.oldObject)
    bytes += sizeOf(call)
  }

  const shown = new WeakMap<RecordedCall, AdmissionCall>()
  const show = (call: RecordedCall): AdmissionCall => {
    let result = shown.get(call)
    if (!result) shown.set(call, (result = callOf(call)))
    return result
  }

  return {
    get calls() {
      return Array.from({ length: count }, (_, i) => show(recorded[slot(count - i)]!))
    },
    clear() {
      while (count > 0) forgetOldest()
    },
    add(call) {
      if (count === MAX_CALLS) forgetOldest()
      recorded[next] = call
      next = (next + 1) % MAX_CALLS
      count++
      bytes += sizeOf(call)
      if (count > MAX_WAITING) encode(recorded[slot(MAX_WAITING + 1)]!)
      while (bytes > MAX_BYTES && count > 1) forgetOldest()
    },
    stored(object, asBytes) {
      for (let back = 1; back <= count && back <= MAX_WAITING; back++) {
        const call = recorded[slot(back)]!
        if (call.object !== object && call.oldObject !== object) continue
        bytes -= sizeOf(call)
        if (call.object === object) call.object = EncodedObject.stored(object, asBytes)
        else call.oldObject = EncodedObject.stored(object, asBytes)
        bytes += sizeOf(call)
      }
    },
  }
}

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
