// What a test asks of simulated pods: to fail, to complete, to be ready or not, to be evicted.
import { refuseUnknownFields } from '../../base/known-fields.js'
import { badRequest, notFound } from '../../meta/errors/status.js'
import { matchesLabels, parseLabelSelector } from '../../meta/selectors/label-selectors.js'
import type { Pod, PodStatus } from '../api/objects.js'
import { isFinished, phaseOf } from '../common/conditions.js'
import { createPodActions } from '../common/pod-actions.js'
import type { WorkloadEnv } from '../common/workload-env.js'
import { kubeletUser } from '../nodes/kubelet-user.js'
import { ANNOTATIONS } from './plan.js'
import { disrupted, endedStatus, failedStatus } from './pod-status.js'

/** One pod by its name, or all that have the labels. The namespace is `default` if it is left out. */
export interface PodReference {
  readonly namespace?: string
  readonly name?: string
  /** Such as `app=web`. */
  readonly labels?: string
}

export interface PodFailure {
  /** 1 by default. */
  readonly exitCode?: number
  /** Why the container has ended: `Error` by default, `OOMKilled` … */
  readonly reason?: string
  readonly message?: string
  /** Only this container fails. */
  readonly container?: string
  /** The pod as a whole fails, whatever its restartPolicy: `Evicted`, `NodeShutdown` … */
  readonly podReason?: string
  /** It also gets the condition DisruptionTarget with this reason, such as `TerminationByKubelet`. */
  readonly disruption?: string
}

const FAILURE_FIELDS: readonly (keyof PodFailure)[] = [
  'exitCode',
  'reason',
  'message',
  'container',
  'podReason',
  'disruption',
]

export interface SimulatedPods {
  /** Its containers end with an exit code; its restartPolicy decides whether they start again. */
  fail(pod: PodReference | string, failure?: PodFailure): Promise<void>
  /** Its containers end with 0. */
  complete(pod: PodReference | string): Promise<void>
  /** As the eviction of the API does it, if the PodDisruptionBudgets allow it. */
  evict(pod: PodReference | string): Promise<void>
  setReady(pod: PodReference | string, isReady: boolean): Promise<void>
}

export function createSimulatedPods(w: WorkloadEnv): SimulatedPods {
  const tester = { user: 'system:binnacle-testing', groups: ['system:masters'], manager: 'binnacle-testing' }
  const actions = createPodActions(w, tester)

  function find(reference: PodReference | string): Pod[] {
    const given = typeof reference === 'string' ? { name: reference } : reference
    refuseUnknownFields('a pod', given, ['namespace', 'name', 'labels'])
    const { namespace = 'default', name, labels } = given
    if (name !== undefined) {
      const pod = w.pods.get(namespace, name)
      if (!pod) throw notFound({ group: '', resource: 'pods' }, name)
      return [pod]
    }
    if (labels === undefined) throw badRequest('a pod is named by name, or by labels such as app=web')
    const selector = parseLabelSelector(labels)
    if (!selector.ok) throw badRequest(`labels: ${selector.error}`)
    const found = [...w.pods.all(namespace)].filter(pod => matchesLabels(selector.value, pod.metadata.labels ?? {}))
    if (found.length === 0) throw notFound({ group: '', resource: 'pods' }, labels)
    return found
  }

  async function setStatus(pod: Pod, status: (live: Pod) => PodStatus): Promise<void> {
    const { nodeName } = pod.spec
    if (!nodeName) throw badRequest(`pod ${pod.metadata.name} is on no node yet`)
    await w
      .writesAs(kubeletUser(nodeName))
      .update(w.pods, pod, live => (isFinished(live) ? undefined : { ...live, status: status(live) }), 'status')
  }

  function requireRunning(pod: Pod): void {
    if (phaseOf(pod) !== 'Running') throw badRequest(`pod ${pod.metadata.name} is ${phaseOf(pod)}, not Running`)
  }

  return {
    async fail(reference, failure = {}) {
      refuseUnknownFields('the failure of a pod', failure, FAILURE_FIELDS)
      const { exitCode = 1, reason = 'Error', message, container, podReason, disruption } = failure
      if (!Number.isInteger(exitCode) || exitCode < 1 || exitCode > 255) {
        throw badRequest('exitCode must be a whole number from 1 to 255')
      }
      for (const pod of find(reference)) {
        if (podReason === undefined) requireRunning(pod)
        if (container !== undefined && !pod.spec.containers.some(({ name }) => name === container)) {
          const names = pod.spec.containers.map(({ name }) => name).join(', ')
          throw badRequest(`pod ${pod.metadata.name} has no container ${container}: there are ${names}`)
        }
        await setStatus(pod, live => {
          const status =
            podReason === undefined
              ? endedStatus(live, w.now(), { exitCode, reason, message }, container)
              : failedStatus(live, w.now(), podReason, message ?? '')
          return disruption === undefined ? status : disrupted(live, status, disruption, message ?? '', w.now())
        })
      }
    },
    async complete(reference) {
      for (const pod of find(reference)) {
        requireRunning(pod)
        await setStatus(pod, live => endedStatus(live, w.now(), { exitCode: 0, reason: 'Completed' }))
      }
    },
    async evict(reference) {
      for (const pod of find(reference)) await actions.evict(pod)
    },
    async setReady(reference, isReady) {
      const writes = w.writesAs(tester)
      for (const pod of find(reference)) {
        await writes.update(w.pods, pod, old => ({
          ...old,
          metadata: {
            ...old.metadata,
            annotations: { ...old.metadata.annotations, [ANNOTATIONS.ready]: String(isReady) },
          },
        }))
      }
    },
  }
}
