// The controllers of workloads, as one entry in the runner: they share their objects. Their code is loaded only where
// they run, since most servers have none.
import type { ControllerEnv, RegisteredController } from '../../controllers/start-controllers.js'
import type { Registry } from '../../kinds/registry.js'
import type { ApiContext } from '../../verbs/api-context.js'
import type { Simulation } from '../../workloads/start-workloads.js'
import { WORKLOAD_CONTROLLERS } from '../../workloads/workload-controllers.js'
import { DEFAULT_WORKLOADS, type WorkloadOptions } from '../../workloads/workload-options.js'
import { isControllerOn } from '../options/controllers.js'

export interface WorkloadParts {
  readonly context: ApiContext
  readonly registry: Registry
  readonly env: ControllerEnv
  /** Undefined: nothing is simulated, and only controllers that are named run. */
  readonly options: WorkloadOptions | undefined
  /** As --controllers gives them. */
  readonly controllers: readonly string[]
}

/** The simulation of a server. */
export interface SimulationHolder {
  /** Resolves when it has started; undefined if nothing is simulated. */
  readonly started: Promise<Simulation> | undefined
  readonly registered: RegisteredController | undefined
}

export function registerWorkloads({ context, registry, env, options, controllers }: WorkloadParts): SimulationHolder {
  const simulates = options !== undefined
  const named = simulates ? controllers : controllers.filter(name => name !== '*')
  const on = new Set(WORKLOAD_CONTROLLERS.filter(name => isControllerOn(name, named)))
  if (!simulates && on.size === 0) return { started: undefined, registered: undefined }
  let resolve: (simulation: Simulation) => void = () => {}
  const started = new Promise<Simulation>(done => (resolve = done))
  return {
    started,
    registered: {
      name: 'workloads',
      async start() {
        const { startWorkloads } = await import('../../workloads/start-workloads.js')
        const isOn = (name: string): boolean => on.has(name)
        const parts = { context, registry, env, options: options ?? DEFAULT_WORKLOADS, simulates, isOn }
        const workloads = await startWorkloads(parts)
        resolve(workloads.simulation)
        return workloads
      },
    },
  }
}
