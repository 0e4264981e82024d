// The ReplicaSets of a Deployment: the new one, which has its template, the old ones, and their revisions.
import { hasReason } from '../../meta/errors/status.js'
import { equalValues, type Value } from '../../meta/values/value.js'
import type { Deployment, PodTemplate, ReplicaSet } from '../api/objects.js'
import { controllerRef, isControlledBy } from '../common/controller-ref.js'
import type { EventRecorder } from '../common/event-recorder.js'
import { hashOf } from '../common/hash.js'
import type { WorkloadEnv } from '../common/workload-env.js'
import type { Writes } from '../common/writes.js'
import { maxSurge, newReplicas } from './limits.js'

export const HASH_LABEL = 'pod-template-hash'
export const REVISION = 'deployment.kubernetes.io/revision'
const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history'
export const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas'
export const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas'
const MAX_HISTORY = 2000
/** Annotations that concern only the Deployment. */
const NOT_COPIED = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  'deprecated.deployment.rollback.to',
])

/** A name that is taken by another ReplicaSet: the Deployment counts that, and the next name differs. */
export class HashCollision extends Error {}

export const sizeOf = (set: ReplicaSet): number => set.spec.replicas ?? 1
export const totalSize = (sets: readonly ReplicaSet[]): number => sets.reduce((sum, set) => sum + sizeOf(set), 0)
export const isActiveSet = (set: ReplicaSet): boolean => sizeOf(set) > 0
export const revisionOf = ({ metadata: { annotations } }: { readonly metadata: ReplicaSet['metadata'] }): bigint =>
  readRevision(annotations?.[REVISION])

/** A revision is a number of 64 bits, and an annotation may begin with a high one. */
const readRevision = (text: string | undefined): bigint =>
  text !== undefined && /^[+-]?\d{1,19}$/.test(text) ? BigInt(text) : 0n

export const byCreation = (a: ReplicaSet, b: ReplicaSet): number =>
  Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp) ||
  (a.metadata.name < b.metadata.name ? -1 : 1)

/** The oldest ReplicaSet with the template of the Deployment. */
export const findNew = (deployment: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined =>
  sets.toSorted(byCreation).find(set => isSameTemplate(set.spec.template, deployment.spec.template))

function isSameTemplate(a: PodTemplate, b: PodTemplate): boolean {
  return equalValues(withoutHash(a), withoutHash(b))
}

function withoutHash({ metadata = {}, spec }: PodTemplate): Value {
  const { [HASH_LABEL]: _, ...labels } = metadata.labels ?? {}
  const { creationTimestamp: __, ...rest } = metadata
  return { metadata: { ...rest, labels }, spec } as unknown as Value
}

export interface ReplicaSets {
  /** The new ReplicaSet with its revision and annotations as they should be; created if that is asked for. */
  syncNew(deployment: Deployment, sets: readonly ReplicaSet[], mayCreate: boolean): Promise<ReplicaSet | undefined>
  /** Whether the size changed. */
  scale(deployment: Deployment, set: ReplicaSet, replicas: number, always?: boolean): Promise<boolean>
  /** Deletes old ReplicaSets beyond the history that the Deployment keeps. */
  cleanUp(deployment: Deployment, old: readonly ReplicaSet[]): Promise<void>
}

export function createReplicaSets(w: WorkloadEnv, writes: Writes, recorder: EventRecorder): ReplicaSets {
  return {
    async syncNew(deployment, sets, mayCreate) {
      const found = findNew(deployment, sets)
      const old = sets.filter(set => set !== found)
      const revision = old.map(revisionOf).reduce((max, each) => (each > max ? each : max), 0n) + 1n
      if (found) {
        const { minReadySeconds } = deployment.spec
        return writes.update(w.replicaSets, found, set => ({
          ...set,
          metadata: { ...set.metadata, annotations: annotationsOf(deployment, set, revision) },
          spec: { ...set.spec, ...(minReadySeconds !== undefined && { minReadySeconds }) },
        }))
      }
      return mayCreate ? create(deployment, sets, revision) : undefined
    },

    async scale(deployment, set, replicas, always = false) {
      const before = sizeOf(set)
      if (before === replicas && !always) return false
      const written = await writes.update(w.replicaSets, set, old => ({
        ...old,
        metadata: { ...old.metadata, annotations: { ...old.metadata.annotations, ...sizeAnnotations(deployment) } },
        spec: { ...old.spec, replicas },
      }))
      if (!written || before === replicas) return false
      const direction = before < replicas ? 'up' : 'down'
      recorder.record(
        deployment,
        'Normal',
        'ScalingReplicaSet',
        `Scaled ${direction} replica set ${set.metadata.name} from ${before} to ${replicas}`,
      )
      return true
    },

    async cleanUp(deployment, old) {
      const { revisionHistoryLimit } = deployment.spec
      if (revisionHistoryLimit === undefined || revisionHistoryLimit === 2 ** 31 - 1) return
      const alive = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      const excess = alive.length - revisionHistoryLimit
      if (excess <= 0) return
      for (const set of alive
        .toSorted((a, b) => Number(revisionOf(a) - revisionOf(b)) || byCreation(a, b))
        .slice(0, excess)) {
        const { generation = 0 } = set.metadata
        const isSeen = Number(generation) <= (set.status.observedGeneration ?? 0)
        if (set.status.replicas === 0 && sizeOf(set) === 0 && isSeen) await writes.delete(w.replicaSets, set)
      }
    },
  }

  async function create(
    deployment: Deployment,
    sets: readonly ReplicaSet[],
    revision: bigint,
  ): Promise<ReplicaSet | undefined> {
    const { template, selector = {}, minReadySeconds } = deployment.spec
    const { namespace = '', name } = deployment.metadata
    const hash = hashOf(template, deployment.status.collisionCount)
    const hashLabel = { [HASH_LABEL]: hash }
    const labels = { ...template.metadata?.labels, ...hashLabel }
    const replicas = newReplicas(deployment, totalSize(sets), 0)
    const setName = `${name}-${hash}`
    try {
      const created = await writes.create(w.replicaSets, {
        metadata: {
          name: setName,
          namespace,
          labels,
          annotations: { ...annotationsOf(deployment, undefined, revision), ...sizeAnnotations(deployment) },
          ownerReferences: [controllerRef(deployment)],
        },
        spec: {
          replicas,
          minReadySeconds,
          selector: { ...selector, matchLabels: { ...selector.matchLabels, ...hashLabel } },
          template: { ...template, metadata: { ...template.metadata, labels } },
        },
      })
      if (replicas > 0) {
        const message = `Scaled up replica set ${setName} from 0 to ${replicas}`
        recorder.record(deployment, 'Normal', 'ScalingReplicaSet', message)
      }
      return created
    } catch (error) {
      if (!hasReason(error, 'AlreadyExists')) throw error
      const taken = w.replicaSets.get(namespace, setName)
      if (taken && isControlledBy(taken, deployment) && isSameTemplate(taken.spec.template, template)) return taken
      throw new HashCollision(setName)
    }
  }
}

const sizeAnnotations = (deployment: Deployment): Readonly<Record<string, string>> => {
  const desired = deployment.spec.replicas ?? 1
  return { [DESIRED_REPLICAS]: String(desired), [MAX_REPLICAS]: String(desired + maxSurge(deployment)) }
}

/** Those of the Deployment, and the revision. One that gets a later revision again remembers its earlier ones. */
function annotationsOf(
  deployment: Deployment,
  set: ReplicaSet | undefined,
  revision: bigint,
): Readonly<Record<string, string>> {
  const annotations: Record<string, string> = { ...set?.metadata.annotations }
  for (const [name, value] of Object.entries(deployment.metadata.annotations ?? {})) {
    if (!NOT_COPIED.has(name)) annotations[name] = value
  }
  const before = annotations[REVISION]
  if (readRevision(before) >= revision) return annotations
  annotations[REVISION] = String(revision)
  if (before !== undefined) {
    const history = [...(annotations[REVISION_HISTORY] ?? '').split(',').filter(Boolean), before]
    while (history.join(',').length > MAX_HISTORY) history.shift()
    annotations[REVISION_HISTORY] = history.join(',')
  }
  return annotations
}
