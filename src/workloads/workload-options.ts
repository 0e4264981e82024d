// The options of simulated workloads.

export interface WorkloadOptions {
  /** The number of simulated nodes. */
  readonly nodes: number
  /** What each node offers. */
  readonly node: { readonly cpu: string; readonly memory: string; readonly pods: number }
  /** How many pods there may be in all before the controllers create no more. */
  readonly maxPods: number
  /** How long a pod takes from its binding to its start, in milliseconds. */
  readonly startAfterMs: number
  /** From its start until it is ready. */
  readonly readyAfterMs: number
  /** From its start until its containers end with 0, for pods that are not restarted always; undefined: they run on. */
  readonly completeAfterMs: number | undefined
  /** How long containers take to end when the pod is deleted; at most its grace period. */
  readonly terminateAfterMs: number
  /** Whether pods are bound to nodes; else another scheduler does it. */
  readonly scheduler: boolean
}

export const DEFAULT_WORKLOADS: WorkloadOptions = {
  nodes: 3,
  node: { cpu: '32', memory: '128Gi', pods: 110 },
  maxPods: 1000,
  startAfterMs: 0,
  readyAfterMs: 0,
  completeAfterMs: 0,
  terminateAfterMs: 0,
  scheduler: true,
}
