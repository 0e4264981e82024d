// The addresses of pods: of one range for all nodes, each given to one pod at a time.
import type { Pod } from '../api/objects.js'
import type { WorkloadEnv } from '../common/workload-env.js'

const SIZE = 65_000

export interface Addresses {
  /** The address of a pod; undefined if all are taken. */
  of(pod: Pod): string | undefined
  stop(): void
}

export function createAddresses(w: WorkloadEnv): Addresses {
  const used = new Map<string, string>()
  let last = 0
  const stop = w.pods.follow((now, before) => {
    const address = before?.status?.podIP
    if (!now && address !== undefined && used.get(address) === before?.metadata.uid) used.delete(address)
    if (now?.status?.podIP && !now.spec.hostNetwork) used.set(now.status.podIP, now.metadata.uid)
  })
  return {
    of(pod) {
      if (pod.status?.podIP) return pod.status.podIP
      for (let i = 0; i < SIZE; i++) {
        last = (last + 1) % SIZE
        const address = `10.244.${Math.floor(last / 254)}.${(last % 254) + 1}`
        if (used.has(address)) continue
        used.set(address, pod.metadata.uid)
        return address
      }
      return undefined
    },
    stop,
  }
}
