// Keeps the EndpointSlices of Services with a selector: one for each address family and set of ports, of up to 100 pods.
import type { Controller } from '../../controllers/start-controllers.js'
import type { Service, WorkloadObject } from '../api/objects.js'
import { controllerRef } from '../common/controller-ref.js'
import { follow, keyOf, readKey, startWorkloadController } from '../common/workload-controller.js'
import type { WorkloadEnv } from '../common/workload-env.js'
import {
  type Endpoint,
  endpointsOf,
  hasSelector,
  hostnameOf,
  podsOf,
  portsOf,
  servicesOf,
  targetOf,
} from './endpoint-addresses.js'
import { createTriggerTimes, triggerAnnotations, withTriggerTime } from './trigger-times.js'

const COMPONENT = 'endpointslice-controller'
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'
const MANAGER = 'endpointslice-controller.k8s.io'
const SERVICE_NAME = 'kubernetes.io/service-name'
const HEADLESS = 'service.kubernetes.io/headless'
const MAX_ENDPOINTS = 100

interface Slice extends WorkloadObject {
  readonly addressType: string
  readonly endpoints: readonly object[]
  readonly ports: readonly object[]
}

type Desired = Pick<Slice, 'addressType' | 'endpoints' | 'ports'>

export function startEndpointSliceController(w: WorkloadEnv): Controller {
  const writes = w.writesOf(COMPONENT)
  const triggerTimes = createTriggerTimes()

  const slicesOf = (namespace: string, service: string): Slice[] =>
    ([...w.endpointSlices.all(namespace)] as Slice[]).filter(
      ({ metadata: { labels } }) => labels?.[MANAGED_BY] === MANAGER && labels[SERVICE_NAME] === service,
    )

  return startWorkloadController(w, {
    name: 'endpoint_slice',
    follow: queue => [
      follow(w.services, queue, each => [keyOf(each)]),
      follow(w.pods, queue, pod => servicesOf(w, pod)),
      follow(w.endpointSlices, queue, ({ metadata: { labels, namespace = '' } }) =>
        labels?.[MANAGED_BY] === MANAGER ? [`${namespace}/${labels[SERVICE_NAME]}`] : [],
      ),
    ],
    async reconcile(key) {
      const [namespace, name] = readKey(key)
      const service = w.services.get(namespace, name)
      const existing = slicesOf(namespace, name)
      const isLive = service && service.metadata.deletionTimestamp === undefined && hasSelector(service)
      if (!service) triggerTimes.forget(namespace, name)
      const triggered = isLive ? triggerTimes.take(service, podsOf(w, service)) : undefined
      const desired = isLive ? desiredSlices(w, service) : []
      for (const wanted of desired) await keep(service!, wanted, existing, triggered)
      for (const slice of existing) await writes.delete(w.endpointSlices, slice)
    },
  })

  /** Changes a slice that has the same ports, or another one, or makes one. */
  async function keep(
    service: Service,
    wanted: Desired,
    existing: Slice[],
    triggered: string | undefined,
  ): Promise<void> {
    const ofType = existing.filter(({ addressType }) => addressType === wanted.addressType)
    const ports = JSON.stringify(wanted.ports)
    const kept = ofType.find(slice => JSON.stringify(slice.ports) === ports) ?? ofType[0]
    const { name, namespace = '', labels = {} } = service.metadata
    const ownLabels = {
      ...labels,
      ...((service.spec.clusterIP ?? '') === 'None' && { [HEADLESS]: '' }),
      [MANAGED_BY]: MANAGER,
      [SERVICE_NAME]: name,
    }
    if (kept) {
      existing.splice(existing.indexOf(kept), 1)
      await writes.update(w.endpointSlices, kept, old =>
        withTriggerTime(
          old,
          Object.assign({}, old, { metadata: { ...old.metadata, labels: ownLabels } }, wanted),
          triggered,
        ),
      )
      return
    }
    await writes.create(w.endpointSlices, {
      metadata: {
        generateName: `${name}-`,
        namespace,
        labels: ownLabels,
        annotations: triggerAnnotations(triggered),
        ownerReferences: [controllerRef({ ...service, apiVersion: 'v1', kind: 'Service' })],
      },
      ...wanted,
    })
  }
}

function desiredSlices(w: WorkloadEnv, service: Service): Desired[] {
  const families = service.spec.ipFamilies ?? ['IPv4']
  return families.flatMap(addressType => {
    const groups = new Map<string, { ports: object[]; endpoints: object[] }>()
    for (const endpoint of endpointsOf(w, service, addressType === 'IPv6' ? 6 : 4)) {
      const ports = portsOf(service, endpoint.pod)
      const key = JSON.stringify(ports)
      const group = groups.get(key) ?? { ports, endpoints: [] }
      group.endpoints.push(endpointObject(w, service, endpoint))
      groups.set(key, group)
    }
    // A Service without pods has an empty slice, so that readers know that there are none.
    if (groups.size === 0) return [{ addressType, endpoints: [], ports: [] }]
    return [...groups.values()].flatMap(({ ports, endpoints }) => {
      const slices: Desired[] = []
      for (let i = 0; i < endpoints.length; i += MAX_ENDPOINTS) {
        slices.push({ addressType, ports, endpoints: endpoints.slice(i, i + MAX_ENDPOINTS) })
      }
      return slices
    })
  })
}

function endpointObject(w: WorkloadEnv, service: Service, { pod, address, ...state }: Endpoint): object {
  const { nodeName } = pod.spec
  const zone = nodeName && w.nodes.get('', nodeName)?.metadata.labels?.['topology.kubernetes.io/zone']
  const hostname = hostnameOf(service, pod)
  return {
    addresses: [address],
    conditions: { ready: state.isReady, serving: state.isServing, terminating: state.isTerminating },
    ...(hostname !== undefined && { hostname }),
    ...(nodeName && { nodeName }),
    targetRef: targetOf(pod),
    ...(zone && { zone }),
  }
}
