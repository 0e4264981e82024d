// Makes the claims of ephemeral volumes, which belong to one pod.
import type { Controller } from '../../controllers/start-controllers.js'
import { hasReason } from '../../meta/errors/status.js'
import { isFinished, isTerminating } from '../common/conditions.js'
import { controllerRef } from '../common/controller-ref.js'
import { messageOf } from '../common/pod-control.js'
import { follow, keyOf, readKey, startWorkloadController } from '../common/workload-controller.js'
import type { WorkloadEnv } from '../common/workload-env.js'

export function startEphemeralVolumes(w: WorkloadEnv): Controller {
  const writes = w.writesOf('ephemeral-volume-controller')
  const recorder = w.recorder('ephemeral_volume')
  return startWorkloadController(w, {
    name: 'ephemeral_volume',
    follow: queue => [
      follow(w.pods, queue, (pod, now) => (now && pod.spec.volumes?.some(each => each.ephemeral) ? [keyOf(pod)] : [])),
    ],
    async reconcile(key) {
      const pod = w.pods.get(...readKey(key))
      if (!pod || isTerminating(pod) || isFinished(pod)) return
      for (const { name, ephemeral } of pod.spec.volumes ?? []) {
        const claimName = `${pod.metadata.name}-${name}`
        if (!ephemeral || w.claims.get(pod.metadata.namespace ?? '', claimName)) continue
        const { metadata = {}, spec } = ephemeral.volumeClaimTemplate
        try {
          await writes.create(w.claims, {
            metadata: {
              ...metadata,
              name: claimName,
              namespace: pod.metadata.namespace,
              ownerReferences: [controllerRef({ ...pod, apiVersion: 'v1', kind: 'Pod' })],
            },
            spec,
          })
        } catch (error) {
          if (hasReason(error, 'AlreadyExists')) continue
          const message = `ephemeral volume ${name}: create PVC ${claimName}: ${messageOf(error)}`
          recorder.record(pod, 'Warning', 'FailedBinding', message)
          throw error
        }
      }
    },
  })
}
