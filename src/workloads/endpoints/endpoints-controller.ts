// Keeps the Endpoints of Services with a selector, for clients that do not read EndpointSlices.
import type { Controller } from '../../controllers/start-controllers.js'
import { hasReason } from '../../meta/errors/status.js'
import type { Service, WorkloadObject } from '../api/objects.js'
import { withoutZeros } from '../common/status.js'
import { follow, keyOf, readKey, startWorkloadController } from '../common/workload-controller.js'
import type { WorkloadEnv } from '../common/workload-env.js'
import { endpointsOf, hasSelector, hostnameOf, podsOf, portsOf, servicesOf, targetOf } from './endpoint-addresses.js'
import { createTriggerTimes, triggerAnnotations, withTriggerTime } from './trigger-times.js'

const COMPONENT = 'endpoint-controller'
const MANAGED_BY = 'endpoints.kubernetes.io/managed-by'
const HEADLESS = 'service.kubernetes.io/headless'
const MAX_ADDRESSES = 1000

export function startEndpointsController(w: WorkloadEnv): Controller {
  const writes = w.writesOf(COMPONENT)
  const triggerTimes = createTriggerTimes()
  return startWorkloadController(w, {
    name: 'endpoint',
    follow: queue => [
      follow(w.services, queue, each => [keyOf(each)]),
      follow(w.pods, queue, pod => servicesOf(w, pod)),
      follow(w.endpoints, queue, each => [keyOf(each)]),
    ],
    async reconcile(key) {
      const [namespace, name] = readKey(key)
      const service = w.services.get(namespace, name)
      const existing = w.endpoints.get(namespace, name)
      if (!service) {
        triggerTimes.forget(namespace, name)
        // Endpoints that were written by hand stay.
        if (existing?.metadata.labels?.[MANAGED_BY] === COMPONENT) await writes.delete(w.endpoints, existing)
        return
      }
      if (!hasSelector(service)) return
      const labels = {
        ...service.metadata.labels,
        [MANAGED_BY]: COMPONENT,
        ...(service.spec.clusterIP === 'None' && { [HEADLESS]: '' }),
      }
      const triggered = triggerTimes.take(service, podsOf(w, service))
      const subsets = subsetsOf(w, service)
      if (existing) {
        await writes.update(w.endpoints, existing, old =>
          withTriggerTime(old, withSubsets(old, labels, subsets), triggered),
        )
        return
      }
      try {
        await writes.create(w.endpoints, {
          metadata: { name, namespace, labels, annotations: triggerAnnotations(triggered) },
          ...(subsets.length > 0 && { subsets }),
        })
      } catch (error) {
        if (!hasReason(error, 'AlreadyExists') && !hasReason(error, 'Forbidden')) throw error
      }
    },
  })
}

function withSubsets(
  old: WorkloadObject,
  labels: Readonly<Record<string, string>>,
  subsets: readonly object[],
): WorkloadObject {
  const { subsets: _, ...rest } = old as WorkloadObject & { readonly subsets?: unknown }
  return { ...rest, metadata: { ...rest.metadata, labels }, ...(subsets.length > 0 && { subsets }) }
}

function subsetsOf(w: WorkloadEnv, service: Service): object[] {
  const family = service.spec.ipFamilies?.[0] === 'IPv6' ? 6 : 4
  const groups = new Map<string, { ports: object[]; addresses: object[]; notReadyAddresses: object[] }>()
  for (const { pod, address, isReady, isTerminating } of endpointsOf(w, service, family).slice(0, MAX_ADDRESSES)) {
    if (isTerminating && service.spec.publishNotReadyAddresses !== true) continue
    const ports = portsOf(service, pod)
    const key = JSON.stringify(ports)
    const group = groups.get(key) ?? { ports, addresses: [], notReadyAddresses: [] }
    const hostname = hostnameOf(service, pod)
    const entry = {
      ip: address,
      ...(hostname !== undefined && { hostname }),
      ...(pod.spec.nodeName && { nodeName: pod.spec.nodeName }),
      targetRef: targetOf(pod),
    }
    if (isReady) group.addresses.push(entry)
    else group.notReadyAddresses.push(entry)
    groups.set(key, group)
  }
  return [...groups.values()].map(group => withoutZeros(group))
}
