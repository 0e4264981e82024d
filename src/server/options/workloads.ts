// Simulated workloads: whether nodes, a scheduler and kubelets are played, and how fast.
import { refuseUnknownFields } from '../../base/known-fields.js'
import { UsageError } from '../../base/usage-error.js'
import { durationOf } from '../../workloads/durations.js'
import { DEFAULT_WORKLOADS, type WorkloadOptions } from '../../workloads/workload-options.js'
import type { FlagTable, FlagValues } from './flag.js'
import { count, duration, toggle } from './flag-values.js'

export const workloadFlags = {
  'simulate-workloads': toggle(
    'run the controllers of workloads, and play the nodes, the scheduler and the kubelets: pods start and become ready',
    false,
  ),
  'simulated-nodes': count('how many nodes are created if there are none', DEFAULT_WORKLOADS.nodes),
  'simulated-pods': count('how many pods there may be before controllers create no more', DEFAULT_WORKLOADS.maxPods),
  'pod-start-after': duration('from the binding of a pod to its start', DEFAULT_WORKLOADS.startAfterMs),
  'pod-ready-after': duration('from the start of a pod until it is ready', DEFAULT_WORKLOADS.readyAfterMs),
} satisfies FlagTable

export const workloadsFromFlags = (flags: FlagValues<typeof workloadFlags>): WorkloadOptions | undefined =>
  flags['simulate-workloads']
    ? {
        ...DEFAULT_WORKLOADS,
        nodes: checkNodes(flags['simulated-nodes'], '--simulated-nodes'),
        maxPods: flags['simulated-pods'],
        startAfterMs: flags['pod-start-after'],
        readyAfterMs: flags['pod-ready-after'],
      }
    : undefined

const MAX_NODES = 1000

function checkNodes(nodes: number, label: string): number {
  if (nodes > MAX_NODES) throw new UsageError(`${label}: there may be at most ${MAX_NODES} simulated nodes`)
  return nodes
}

// ---- the library

/** Milliseconds, or a text such as `500ms`, `30s`, `1h`. */
export type Duration = number | string

export interface SimulatedWorkloads {
  /** How many nodes are created if there are none. 3 by default. */
  readonly nodes?: number
  /** What each of them offers. `{ cpu: '32', memory: '128Gi', pods: 110 }` by default. */
  readonly node?: { readonly cpu?: string; readonly memory?: string; readonly pods?: number }
  /** How many pods there may be before controllers create no more. 1000 by default. */
  readonly maxPods?: number
  /** From the binding of a pod to its start. 0 by default. */
  readonly startAfter?: Duration
  /** From its start until it is ready. 0 by default. */
  readonly readyAfter?: Duration
  /** From the start of a pod that is not restarted always until it completes. 0 by default; `never` lets it run on. */
  readonly completeAfter?: Duration
  /** How long a pod takes to end when it is deleted, at most its grace period. 0 by default. */
  readonly terminateAfter?: Duration
  /** False: pods are not bound to nodes, since another scheduler does it. */
  readonly scheduler?: boolean
}

const NAMES = ['nodes', 'node', 'maxPods', 'startAfter', 'readyAfter', 'completeAfter', 'terminateAfter', 'scheduler']

/** The options of the library; throws a UsageError with what would be right. */
export function readWorkloads(given: boolean | SimulatedWorkloads | undefined): WorkloadOptions | undefined {
  if (given === undefined || given === false) return undefined
  if (given === true) return DEFAULT_WORKLOADS
  if (typeof given !== 'object' || given === null) throw new UsageError('workloads: it must be true or an object')
  const unknown = Object.keys(given).find(name => !NAMES.includes(name))
  if (unknown !== undefined) throw new UsageError(`workloads: there is no ${unknown}: there are ${NAMES.join(', ')}`)
  refuseUnknownFields('workloads.node', given.node ?? {}, ['cpu', 'memory', 'pods'])
  const completeAfterMs = readTime('completeAfter', given.completeAfter, DEFAULT_WORKLOADS.completeAfterMs ?? 0)
  return {
    nodes: checkNodes(readCount('nodes', given.nodes, DEFAULT_WORKLOADS.nodes), 'workloads.nodes'),
    node: { ...DEFAULT_WORKLOADS.node, ...given.node },
    maxPods: readCount('maxPods', given.maxPods, DEFAULT_WORKLOADS.maxPods),
    startAfterMs: readTime('startAfter', given.startAfter, DEFAULT_WORKLOADS.startAfterMs),
    readyAfterMs: readTime('readyAfter', given.readyAfter, DEFAULT_WORKLOADS.readyAfterMs),
    completeAfterMs: Number.isFinite(completeAfterMs) ? completeAfterMs : undefined,
    terminateAfterMs: readTime('terminateAfter', given.terminateAfter, DEFAULT_WORKLOADS.terminateAfterMs),
    scheduler: given.scheduler ?? true,
  }
}

function readCount(name: string, value: unknown, otherwise: number): number {
  if (value === undefined) return otherwise
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new UsageError(`workloads.${name}: it must be a whole number, 0 or more`)
}

function readTime(name: string, value: unknown, otherwise: number): number {
  if (value === undefined) return otherwise
  const milliseconds = typeof value === 'string' ? durationOf(value) : value
  if (typeof milliseconds === 'number' && milliseconds >= 0) return milliseconds
  throw new UsageError(`workloads.${name}: it must be milliseconds, or a text such as 500ms, 30s or 1h`)
}
