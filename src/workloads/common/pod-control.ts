// Creates and deletes the pods of a controller, with its events. Creates come in batches that double as long as they
// succeed, so that a controller that is refused asks only once.
import { findCause, forbidden, hasReason } from '../../meta/errors/status.js'
import type { Pod, PodTemplate, WorkloadObject } from '../api/objects.js'
import { controllerRef } from './controller-ref.js'
import type { EventRecorder } from './event-recorder.js'
import type { WorkloadEnv } from './workload-env.js'
import type { Writes } from './writes.js'

export interface PodControl {
  /** `metadata` is put over that of the template; without a name, the name begins with that of the owner. */
  create(owner: WorkloadObject, template: PodTemplate, change?: PodChange): Promise<Pod>
  delete(owner: WorkloadObject, pod: Pod): Promise<void>
}

export interface PodChange {
  readonly name?: string
  readonly generateName?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly spec?: object
}

export function createPodControl(w: WorkloadEnv, writes: Writes, recorder: EventRecorder): PodControl {
  /** Creates under way, which count for the limit too. */
  let creating = 0
  return {
    async create(owner, template, change = {}) {
      const { namespace = '' } = owner.metadata
      const { labels = {}, annotations, finalizers } = template.metadata ?? {}
      const generateName = change.generateName ?? podNamePrefix(owner.metadata.name)
      const metadata = {
        ...(change.name === undefined ? { generateName } : { name: change.name }),
        namespace,
        labels: { ...labels, ...change.labels },
        ...((annotations || change.annotations) && { annotations: { ...annotations, ...change.annotations } }),
        ...((finalizers || change.finalizers) && {
          finalizers: [...(finalizers ?? []), ...(change.finalizers ?? [])],
        }),
        ownerReferences: [controllerRef(owner)],
      }
      creating++
      try {
        checkPodLimit(w, change.name ?? generateName, creating)
        const pod = await writes.create(w.pods, { metadata, spec: { ...template.spec, ...change.spec } })
        recorder.record(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`)
        return pod
      } catch (error) {
        if (!isNamespaceEnding(error) && !hasReason(error, 'AlreadyExists')) {
          recorder.record(owner, 'Warning', 'FailedCreate', `Error creating: ${messageOf(error)}`)
        }
        throw error
      } finally {
        creating--
      }
    },
    async delete(owner, pod) {
      if (pod.metadata.deletionTimestamp !== undefined) return
      try {
        await writes.delete(w.pods, pod)
      } catch (error) {
        recorder.record(owner, 'Warning', 'FailedDelete', `Error deleting: ${messageOf(error)}`)
        throw error
      }
      recorder.record(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`)
    },
  }
}

/** No more than a name may have before its random end. */
const podNamePrefix = (owner: string): string => `${owner}-`

/** Throws if there are as many pods as the simulation may have. `creating` counts those under way, this one included. */
export function checkPodLimit({ pods, options }: WorkloadEnv, name: string, creating = 1): void {
  if (pods.size + creating <= options.maxPods) return
  throw forbidden(
    { group: '', resource: 'pods' },
    name,
    `the simulation is limited to ${options.maxPods} pods, and there are ${pods.size}`,
  )
}

export const isNamespaceEnding = (error: unknown): boolean => findCause(error, 'NamespaceTerminating') !== undefined

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Runs `create` so often, in batches of 1, 2, 4, 8 …; stops after a batch with a failure, and rejects with it. */
export async function inSlowStartBatches(count: number, create: () => Promise<unknown>): Promise<number> {
  let made = 0
  for (let left = count, size = 1; left > 0; size *= 2) {
    const batch = Math.min(left, size, MAX_BATCH)
    const results = await Promise.allSettled(Array.from({ length: batch }, create))
    made += results.filter(({ status }) => status === 'fulfilled').length
    const failure = results.find(result => result.status === 'rejected')
    if (failure) throw failure.reason
    left -= batch
  }
  return made
}

const MAX_BATCH = 64
