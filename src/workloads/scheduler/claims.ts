// The PersistentVolumeClaims of a pod that is to be scheduled: those that must be bound before, and those that wait for
// the choice of a node.
import type { Claim, Node, Pod, Volume } from '../api/objects.js'
import { matchesTerms } from '../common/node-matching.js'
import type { WorkloadEnv } from '../common/workload-env.js'
import type { Writes } from '../common/writes.js'

/** The node that was chosen for the pod that uses the claim: the volume is provisioned there. */
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node'

/** The name of the claim of a volume, also of one that is made for the pod. */
export const claimNames = (pod: Pod): string[] =>
  (pod.spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) =>
    persistentVolumeClaim ? [persistentVolumeClaim.claimName] : ephemeral ? [`${pod.metadata.name}-${name}`] : [],
  )

const isBound = (claim: Claim): boolean => claim.status?.phase === 'Bound' && Boolean(claim.spec.volumeName)

export const waitsForConsumer = (w: WorkloadEnv, { spec: { storageClassName } }: Claim): boolean =>
  Boolean(storageClassName) && w.storageClasses.get('', storageClassName!)?.volumeBindingMode === 'WaitForFirstConsumer'

/** Why no node is looked for yet; undefined if the claims allow it. */
export function claimsAgainst(w: WorkloadEnv, pod: Pod): string | undefined {
  const all = `0/${w.nodes.size} nodes are available`
  const message = (why: string): string =>
    `${all}: ${why}. not found, preemption: ${all}: ${w.nodes.size} Preemption is not helpful for scheduling.`
  for (const name of claimNames(pod)) {
    const claim = w.claims.get(pod.metadata.namespace ?? '', name)
    if (!claim) return message(`persistentvolumeclaim "${name}" not found`)
    if (claim.metadata.deletionTimestamp !== undefined)
      return message(`persistentvolumeclaim "${name}" is being deleted`)
    if (!isBound(claim) && !waitsForConsumer(w, claim)) {
      return message('pod has unbound immediate PersistentVolumeClaims')
    }
  }
  return undefined
}

/** Whether all claims are bound to volumes that the node can reach. Those that wait are marked with the node. */
export async function chooseVolumes(w: WorkloadEnv, writes: Writes, pod: Pod, node: Node): Promise<boolean> {
  let areBound = true
  for (const name of claimNames(pod)) {
    const claim = w.claims.get(pod.metadata.namespace ?? '', name)
    if (!claim) return false
    if (isBound(claim)) continue
    areBound = false
    const { name: nodeName } = node.metadata
    await writes.update(w.claims, claim, old => ({
      ...old,
      metadata: { ...old.metadata, annotations: { ...old.metadata.annotations, [SELECTED_NODE]: nodeName } },
    }))
  }
  return areBound
}

export const reaches = (volume: Volume, node: Node): boolean => {
  const terms = volume.spec.nodeAffinity?.required?.nodeSelectorTerms
  return !terms || matchesTerms(terms, node)
}
