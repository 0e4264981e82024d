// What functions were asked, and how they decided: for tests.

import type { AdmissionRequest } from './function.js'

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

const MAX_CALLS = 1000

export function createAdmissionCalls(): AdmissionCalls & { add(call: AdmissionCall): void } {
  let calls: AdmissionCall[] = []
  return {
    get calls() {
      return calls.slice(-MAX_CALLS)
    },
    clear: () => void (calls = []),
    add(call) {
      calls.push(call)
      // Twice the number is kept, so that calls are not moved each time.
      if (calls.length >= 2 * MAX_CALLS) calls = calls.slice(-MAX_CALLS)
    },
  }
}
