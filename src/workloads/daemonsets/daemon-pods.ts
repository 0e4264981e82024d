// Where the pods of a DaemonSet belong: which nodes, and how a pod says on which one it must be.
import type { DaemonSet, Node, Pod, PodSpec, Toleration } from '../api/objects.js'
import { matchesNode, untolerated } from '../common/node-matching.js'

const exists = (key: string, effect: string): Toleration => ({
  key: `node.kubernetes.io/${key}`,
  operator: 'Exists',
  effect,
})

/** Problems of a node that end other pods and not those of a DaemonSet. */
const tolerationsOf = ({ hostNetwork }: PodSpec): Toleration[] => [
  exists('not-ready', 'NoExecute'),
  exists('unreachable', 'NoExecute'),
  exists('disk-pressure', 'NoSchedule'),
  exists('memory-pressure', 'NoSchedule'),
  exists('pid-pressure', 'NoSchedule'),
  exists('unschedulable', 'NoSchedule'),
  ...(hostNetwork ? [exists('network-unavailable', 'NoSchedule')] : []),
]

function withTolerations(spec: PodSpec): Toleration[] {
  const added = tolerationsOf(spec)
  const isAdded = (each: Toleration): boolean =>
    added.some(({ key, effect }) => key === each.key && effect === each.effect)
  return [...(spec.tolerations ?? []).filter(each => !isAdded(each)), ...added]
}

/** The spec of the pod for a node: the scheduler binds it to that one only. */
export function specFor(spec: PodSpec, node: string): PodSpec {
  return {
    ...spec,
    tolerations: withTolerations(spec),
    affinity: {
      ...spec.affinity,
      nodeAffinity: {
        ...spec.affinity?.nodeAffinity,
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
        },
      },
    },
  }
}

/** The node of a pod: where it is, or where it is to be. */
export function nodeOf({ spec }: Pod): string | undefined {
  if (spec.nodeName) return spec.nodeName
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  for (const { matchFields = [] } of terms) {
    const named = matchFields.find(({ key, operator }) => key === 'metadata.name' && operator === 'In')
    if (named?.values?.length === 1) return named.values[0]
  }
  return undefined
}

/** Whether a pod should be started on the node, and whether one that is there may stay. */
export function shouldRun(set: DaemonSet, node: Node): { readonly starts: boolean; readonly stays: boolean } {
  const { spec } = set.spec.template
  if (spec.nodeName && spec.nodeName !== node.metadata.name) return { starts: false, stays: false }
  if (!matchesNode(spec, node)) return { starts: false, stays: false }
  const tolerations = withTolerations(spec)
  if (!untolerated(node.spec.taints, tolerations, ['NoSchedule', 'NoExecute'])) return { starts: true, stays: true }
  return { starts: false, stays: !untolerated(node.spec.taints, tolerations, ['NoExecute']) }
}
