// The faults of a test server: those that are switched on, and a report of what was injected.
import type { RequestInfo } from '../../request/request-info.js'
import { type ChaosOptions, chaosFaults, createRandom } from './chaos.js'
import { checkFault, type Fault, matches } from './fault.js'

export interface InjectedFault {
  /** Milliseconds since 1970, by the clock of the server. */
  readonly at: number
  readonly verb: string
  readonly path: string
  readonly user: string
  readonly fault: Fault
}

export interface Faults {
  /** Switches a fault on. The result switches it off. */
  inject(fault: Fault): () => void
  /** A mixture of faults that is the same for the same seed. */
  chaos(options: ChaosOptions): () => void
  /** Switches all faults off; the report stays. */
  clear(): void
  /** The faults that are switched on. */
  readonly active: readonly Fault[]
  /** What was injected, the oldest first. */
  readonly report: readonly InjectedFault[]
}

export interface FaultInjector extends Faults {
  /** The faults for a request. Each counts as injected. */
  take(info: RequestInfo, kind: string, user: string): readonly Fault[]
  /** The faults for a call of a webhook. */
  takeCall(host: string): readonly Fault[]
}

/** How many entries the report keeps. */
const MAX_REPORT = 10_000

export function createFaults(now: () => number): FaultInjector {
  const active = new Map<symbol, { readonly fault: Fault; readonly random: () => number; left: number }>()
  const report: InjectedFault[] = []

  function add(fault: Fault, random: () => number): () => void {
    const key = Symbol('fault')
    active.set(key, { fault: checkFault(fault), random, left: fault.times ?? Infinity })
    return () => void active.delete(key)
  }

  function takeThose(
    isMeant: (fault: Fault) => boolean,
    about: Pick<InjectedFault, 'verb' | 'path' | 'user'>,
  ): Fault[] {
    const taken: Fault[] = []
    for (const [key, each] of active) {
      if (!isMeant(each.fault)) continue
      if (each.fault.probability !== undefined && each.random() >= each.fault.probability) continue
      taken.push(each.fault)
      if (--each.left <= 0) active.delete(key)
      if (report.length >= MAX_REPORT) report.shift()
      report.push({ at: now(), ...about, fault: each.fault })
    }
    return taken
  }

  return {
    inject: fault => add(fault, Math.random),
    chaos(options) {
      const faults = chaosFaults(options)
      const random = createRandom(options.seed)
      const ends = faults.map(fault => add(fault, random))
      return () => ends.forEach(end => end())
    },
    clear: () => active.clear(),
    get active() {
      return [...active.values()].map(({ fault }) => fault)
    },
    get report() {
      return report
    },
    take: (info, kind, user) =>
      takeThose(fault => matches(fault, info, kind, user), { verb: info.verb, path: info.path, user }),
    takeCall: host =>
      takeThose(({ webhook }) => webhook === '*' || webhook === host, { verb: 'webhook', path: host, user: '' }),
  }
}
