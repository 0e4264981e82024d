// How long a request waited for others: webhooks, the queue of its priority level, authenticators and authorizers that are
// asked over the network. The time says nothing of this server.

/** Names of kube-apiserver's annotations of latencies, `apiserver.latency.k8s.io/…`. */
export type Wait =
  | 'mutating-webhook'
  | 'validating-webhook'
  | 'apf-queue-wait'
  | 'authentication'
  | 'authorization'
  | 'impersonation'

/** What is done at the same time counts once. */
const SIMULTANEOUS: ReadonlySet<Wait> = new Set(['validating-webhook', 'apf-queue-wait', 'authorization'])

/** Milliseconds. */
export type Waits = ReadonlyMap<Wait, number>

export const NO_WAITS: Waits = new Map()

export function withWait(waits: Waits, wait: Wait, milliseconds: number): Waits {
  const before = waits.get(wait) ?? 0
  return new Map(waits).set(wait, SIMULTANEOUS.has(wait) ? Math.max(before, milliseconds) : before + milliseconds)
}

/** The time that does not count in the service level of the server. */
export function outsideOf(waits: Waits): number {
  let sum = 0
  for (const wait of ['mutating-webhook', 'validating-webhook', 'apf-queue-wait'] as const) sum += waits.get(wait) ?? 0
  return sum
}
