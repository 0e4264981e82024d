// The pods of a StatefulSet: their names, identities and claims.
import { hasReason } from '../../meta/errors/status.js'
import type { Claim, ControllerRevision, Pod, StatefulSet } from '../api/objects.js'
import { controllerRef } from '../common/controller-ref.js'
import type { EventRecorder } from '../common/event-recorder.js'
import { checkPodLimit, messageOf } from '../common/pod-control.js'
import type { WorkloadEnv } from '../common/workload-env.js'
import type { Writes } from '../common/writes.js'
import { REVISION_HASH, storedTemplate } from '../revisions/controller-revisions.js'

export const POD_NAME = 'statefulset.kubernetes.io/pod-name'
const POD_INDEX = 'apps.kubernetes.io/pod-index'

export const podName = (set: StatefulSet, ordinal: number): string => `${set.metadata.name}-${ordinal}`

/** The number at the end of its name; -1 if it has another name. */
export function ordinalOf(set: StatefulSet, pod: Pod): number {
  const match = /^(.*)-(\d+)$/.exec(pod.metadata.name)
  return match && match[1] === set.metadata.name ? Number(match[2]) : -1
}

const claimName = (set: StatefulSet, template: string, ordinal: number): string =>
  `${template}-${set.metadata.name}-${ordinal}`

export interface StatefulPods {
  create(set: StatefulSet, ordinal: number, revision: ControllerRevision): Promise<void>
  delete(set: StatefulSet, pod: Pod): Promise<void>
  /** Brings the identity of a pod and the owners of its claims in line. */
  correct(set: StatefulSet, pod: Pod): Promise<void>
}

export function createStatefulPods(w: WorkloadEnv, writes: Writes, recorder: EventRecorder): StatefulPods {
  function record(set: StatefulSet, verb: string, pod: string, error?: unknown): void {
    const reason = verb[0]!.toUpperCase() + verb.slice(1)
    const what = `${reason} Pod ${pod} in StatefulSet ${set.metadata.name}`
    if (error === undefined) recorder.record(set, 'Normal', `Successful${reason}`, `${what} successful`)
    else recorder.record(set, 'Warning', `Failed${reason}`, `${what} failed error: ${messageOf(error)}`)
  }

  async function createClaims(set: StatefulSet, ordinal: number): Promise<void> {
    const { namespace = '', name } = set.metadata
    for (const template of set.spec.volumeClaimTemplates ?? []) {
      const own = claimName(set, template.metadata.name ?? '', ordinal)
      const found = w.claims.get(namespace, own)
      if (found?.metadata.deletionTimestamp !== undefined) throw new Error(`pvc ${own} is being deleted`)
      if (found) continue
      const what = `Create Claim ${own} Pod ${podName(set, ordinal)} in StatefulSet ${name}`
      try {
        await writes.create(w.claims, {
          metadata: {
            name: own,
            namespace,
            labels: { ...template.metadata.labels, ...set.spec.selector?.matchLabels },
            annotations: template.metadata.annotations,
            ...(set.spec.persistentVolumeClaimRetentionPolicy?.whenDeleted === 'Delete' && {
              ownerReferences: [controllerRef(set)],
            }),
          },
          spec: template.spec,
        })
      } catch (error) {
        if (hasReason(error, 'AlreadyExists')) continue
        recorder.record(set, 'Warning', 'FailedCreate', `${what} failed error: ${messageOf(error)}`)
        throw error
      }
      recorder.record(set, 'Normal', 'SuccessfulCreate', `${what} success`)
    }
  }

  return {
    async create(set, ordinal, revision) {
      const { namespace = '', name } = set.metadata
      const template = storedTemplate(revision) ?? set.spec.template
      const own = podName(set, ordinal)
      try {
        checkPodLimit(w, own)
        await createClaims(set, ordinal)
        await writes.create(w.pods, {
          metadata: {
            name: own,
            generateName: `${name}-`,
            namespace,
            labels: {
              ...template.metadata?.labels,
              [REVISION_HASH]: revision.metadata.name,
              [POD_NAME]: own,
              [POD_INDEX]: String(ordinal),
            },
            annotations: template.metadata?.annotations,
            finalizers: template.metadata?.finalizers,
            ownerReferences: [controllerRef(set)],
          },
          spec: {
            ...template.spec,
            volumes: volumesOf(set, template.spec.volumes ?? [], ordinal),
            hostname: own,
            subdomain: set.spec.serviceName,
          },
        })
      } catch (error) {
        if (hasReason(error, 'AlreadyExists')) throw error
        record(set, 'create', own, error)
        throw error
      }
      record(set, 'create', own)
    },
    async delete(set, pod) {
      try {
        await writes.delete(w.pods, pod)
      } catch (error) {
        record(set, 'delete', pod.metadata.name, error)
        throw error
      }
      record(set, 'delete', pod.metadata.name)
    },
    async correct(set, pod) {
      const ordinal = ordinalOf(set, pod)
      if (
        pod.metadata.labels?.[POD_NAME] !== pod.metadata.name ||
        pod.metadata.labels?.[POD_INDEX] !== String(ordinal)
      ) {
        await writes.update(w.pods, pod, old => ({
          ...old,
          metadata: {
            ...old.metadata,
            labels: { ...old.metadata.labels, [POD_NAME]: pod.metadata.name, [POD_INDEX]: String(ordinal) },
          },
        }))
      }
      for (const template of set.spec.volumeClaimTemplates ?? []) {
        const claim = w.claims.get(set.metadata.namespace ?? '', claimName(set, template.metadata.name ?? '', ordinal))
        if (claim) await setOwners(set, pod, claim)
      }
    },
  }

  /** The claims go with the set, or with a pod that is scaled away, if the retention policy says so. */
  async function setOwners(set: StatefulSet, pod: Pod, claim: Claim): Promise<void> {
    const { whenDeleted, whenScaled } = set.spec.persistentVolumeClaimRetentionPolicy ?? {}
    const isCondemned = !isInRange(set, ordinalOf(set, pod))
    const { apiVersion, kind, name, uid } = { ...pod, ...pod.metadata }
    const wanted = [
      ...(whenScaled === 'Delete' && isCondemned ? [{ apiVersion, kind, name, uid }] : []),
      ...(whenDeleted === 'Delete' && !(whenScaled === 'Delete' && isCondemned) ? [controllerRef(set)] : []),
    ]
    const isManaged = (owner: { readonly uid: string }): boolean => owner.uid === set.metadata.uid || owner.uid === uid
    await writes.update(w.claims, claim, old => {
      const before = old.metadata.ownerReferences ?? []
      const ownerReferences = [...before.filter(each => !isManaged(each)), ...wanted]
      if (ownerReferences.length === 0) {
        const { ownerReferences: _, ...metadata } = old.metadata
        return { ...old, metadata }
      }
      return { ...old, metadata: { ...old.metadata, ownerReferences } }
    })
  }
}

export const startOrdinal = (set: StatefulSet): number => set.spec.ordinals?.start ?? 0

export const isInRange = (set: StatefulSet, ordinal: number): boolean =>
  ordinal >= startOrdinal(set) && ordinal < startOrdinal(set) + (set.spec.replicas ?? 1)

/** Volumes of the claims come before those of the template, and in the place of those of the same name. */
function volumesOf(set: StatefulSet, volumes: readonly { readonly name: string }[], ordinal: number): object[] {
  const claims = (set.spec.volumeClaimTemplates ?? []).map(({ metadata: { name = '' } }) => ({
    name,
    persistentVolumeClaim: { claimName: claimName(set, name, ordinal) },
  }))
  const own = new Set(claims.map(({ name }) => name))
  return [...claims, ...volumes.filter(({ name }) => !own.has(name))]
}
