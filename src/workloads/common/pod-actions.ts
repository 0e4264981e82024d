// Binding and eviction of pods, by the subresources that a scheduler and kubectl use.
import { encodeJson } from '../../codec/json.js'
import { systemRequest, withOptions } from '../../request/request.js'
import { createVirtual } from '../../verbs/create-virtual.js'
import { podSubresources } from '../../verbs/subresources.js'
import type { Pod } from '../api/objects.js'
import type { Component, WorkloadEnv } from './workload-env.js'

export interface PodActions {
  bind(pod: Pod, node: string): Promise<void>
  /** Rejects with TooManyRequests if a PodDisruptionBudget forbids it. */
  evict(pod: Pod): Promise<void>
}

export function createPodActions(w: WorkloadEnv, { user, groups, manager }: Component): PodActions {
  const resources = podSubresources(w.context, { pods: w.pods.kind, budgets: w.budgets.kind })
  const userInfo = { name: user, uid: '', groups: [...groups, 'system:authenticated'], extra: {} }

  async function send(name: string, pod: Pod, object: object): Promise<void> {
    const { namespace = '', name: podName, uid } = pod.metadata
    const resource = resources.find(each => each.resource.name === name)!
    const metadata = { name: podName, namespace, ...(name === 'pods/binding' && { uid }) }
    const bytes = Buffer.from(encodeJson({ ...object, metadata }))
    const request = withOptions(systemRequest({ user: userInfo, userAgent: manager, receivedAt: w.now() }), {
      dryRun: false,
      fieldManager: manager,
      fieldValidation: 'Ignore',
    } as const)
    await createVirtual(w.context, request, resource, { namespace, name: podName }, { bytes, mediaType: '' })
  }

  return {
    bind: (pod, node) =>
      send('pods/binding', pod, { apiVersion: 'v1', kind: 'Binding', target: { kind: 'Node', name: node } }),
    evict: pod => send('pods/eviction', pod, { apiVersion: 'policy/v1', kind: 'Eviction' }),
  }
}
