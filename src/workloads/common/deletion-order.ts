// Which pods a controller deletes first when it has too many: those whose end costs least.
import type { Pod } from '../api/objects.js'
import { conditionOf, isReady, phaseOf } from './conditions.js'

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost'
const PHASES = ['Pending', 'Unknown', 'Running']

/** `related` are the pods that count for how many are together on a node. */
export function podsToDelete(
  pods: readonly Pod[],
  count: number,
  related: readonly Pod[],
  now: number,
): readonly Pod[] {
  if (count >= pods.length) return pods
  const together = new Map<string, number>()
  for (const pod of related) {
    const { nodeName } = pod.spec
    if (nodeName && isReady(pod)) together.set(nodeName, (together.get(nodeName) ?? 0) + 1)
  }
  const ranked = pods.map(pod => ranksOf(pod, together.get(pod.spec.nodeName ?? '') ?? 0, now))
  return ranked
    .toSorted((a, b) => compare(a, b))
    .slice(0, count)
    .map(({ pod }) => pod)
}

interface Ranked {
  readonly pod: Pod
  /** The lower goes first; the first rank that differs decides. */
  readonly ranks: readonly number[]
}

function ranksOf(pod: Pod, together: number, now: number): Ranked {
  const cost = Number(pod.metadata.annotations?.[DELETION_COST] ?? 0)
  const readySince = isReady(pod)
    ? Date.parse(conditionOf(pod.status?.conditions, 'Ready')?.lastTransitionTime ?? '')
    : Number.NaN
  const restarts = Math.max(0, ...(pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount))
  return {
    pod,
    ranks: [
      pod.spec.nodeName ? 1 : 0,
      PHASES.indexOf(phaseOf(pod)),
      isReady(pod) ? 1 : 0,
      Number.isFinite(cost) ? cost : 0,
      -together,
      Number.isNaN(readySince) ? 0 : magnitude(now - readySince),
      -restarts,
      magnitude(now - Date.parse(pod.metadata.creationTimestamp)),
    ],
  }
}

/** Ages of about the same length count as equal, so that among them chance decides. */
const magnitude = (ms: number): number => (ms <= 0 ? 0 : 1 + Math.floor(Math.log2(Math.max(1, ms * 1_000_000))))

function compare(a: Ranked, b: Ranked): number {
  for (const [i, rank] of a.ranks.entries()) {
    const difference = rank - b.ranks[i]!
    if (difference !== 0) return difference
  }
  return a.pod.metadata.uid < b.pod.metadata.uid ? -1 : 1
}
