// Plans of faults that reproduce from a seed: the same requests in the same order get the same faults.
import { refuseUnknownFields } from '../../base/known-fields.js'
import { UsageError } from '../../base/usage-error.js'
import { checkFault, type Fault } from './fault.js'

export interface ChaosOptions {
  readonly seed: number
  /** `mild`: delays, conflicts, throttling. `rough`: also errors, cut connections and dropped watches. Or faults of your own. */
  readonly plan?: 'mild' | 'rough' | readonly Fault[]
  /** How likely each of the faults is that does not say it itself; 0.02 by default. */
  readonly probability?: number
}

const WRITES = ['create', 'update', 'patch', 'delete'] as const

const MILD: readonly Fault[] = [
  { latency: 50 },
  { verb: ['update', 'patch'], status: 409 },
  { status: 429, retryAfter: 1 },
  { verb: 'watch', watch: { dropAfter: 5 } },
]

const ROUGH: readonly Fault[] = [
  ...MILD,
  { status: 500 },
  { status: 503, retryAfter: 1 },
  { verb: WRITES, cut: 'before' },
  { verb: WRITES, cut: 'after' },
  { verb: 'watch', watch: { expired: true } },
  { verb: 'watch', watch: { withholdBookmarks: true, delay: 20 } },
  { verb: 'list', behind: 5 },
]

export function chaosFaults(options: ChaosOptions): readonly Fault[] {
  refuseUnknownFields('chaos', options, ['seed', 'plan', 'probability'])
  const { seed, plan = 'rough', probability = 0.02 } = options
  if (!Number.isSafeInteger(seed)) throw new UsageError(`seed: ${seed}: it must be a whole number`)
  const faults = plan === 'mild' ? MILD : plan === 'rough' ? ROUGH : plan
  if (!Array.isArray(faults))
    throw new UsageError(`plan: ${JSON.stringify(plan)}: it must be mild, rough or a list of faults`)
  return (faults as readonly Fault[]).map(fault => Object.assign({ probability }, checkFault(fault)))
}

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), bits | 61)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}
