// The pods behind a Service, and the ports by which they are reached.
import { isIP } from 'node:net'
import { type LabelSelector, matchesLabels, selectorOf } from '../../meta/selectors/label-selectors.js'
import type { Pod, Service, ServicePort } from '../api/objects.js'
import { isFinished, isReady, isTerminating } from '../common/conditions.js'
import type { WorkloadEnv } from '../common/workload-env.js'

export const hasSelector = ({ spec: { selector, type } }: Service): boolean =>
  selector !== undefined && Object.keys(selector).length > 0 && type !== 'ExternalName'

export function selectorOfService({ spec: { selector = {} } }: Service): LabelSelector {
  const parsed = selectorOf({ matchLabels: selector })
  return parsed.ok ? parsed.value : 'nothing'
}

/** Keys of the Services that select a pod. */
export function* servicesOf(w: WorkloadEnv, { metadata: { namespace = '', labels = {} } }: Pod): Iterable<string> {
  for (const service of w.services.all(namespace)) {
    if (hasSelector(service) && matchesLabels(selectorOfService(service), labels)) {
      yield `${namespace}/${service.metadata.name}`
    }
  }
}

export interface Endpoint {
  readonly pod: Pod
  readonly address: string
  readonly isReady: boolean
  readonly isTerminating: boolean
  readonly isServing: boolean
}

/** The pods that a Service selects, also those without an address. */
export function podsOf(w: WorkloadEnv, service: Service): Pod[] {
  const selector = selectorOfService(service)
  const pods = [...w.pods.all(service.metadata.namespace ?? '')]
  return pods.filter(({ metadata: { labels = {} } }) => matchesLabels(selector, labels))
}

/** The pods of a Service that have an address of the family. */
export function endpointsOf(w: WorkloadEnv, service: Service, family: 4 | 6): Endpoint[] {
  const found: Endpoint[] = []
  for (const pod of podsOf(w, service)) {
    if (isFinished(pod)) continue
    const address = (pod.status?.podIPs ?? []).find(({ ip }) => isIP(ip) === family)?.ip
    if (address === undefined) continue
    const serving = isReady(pod)
    found.push({
      pod,
      address,
      isServing: serving,
      isTerminating: isTerminating(pod),
      isReady: (serving && !isTerminating(pod)) || service.spec.publishNotReadyAddresses === true,
    })
  }
  return found
}

export interface EndpointPort {
  readonly name: string
  readonly protocol: string
  readonly port: number
  readonly appProtocol?: string | undefined
}

/** The ports of a pod for those of a Service; a port by a name that the pod does not have is left out. */
export function portsOf({ spec: { ports = [] } }: Service, pod: Pod): EndpointPort[] {
  return ports.flatMap(port => {
    const number = numberOf(port, pod)
    if (number === undefined) return []
    const { name = '', protocol = 'TCP', appProtocol } = port
    return [{ name, protocol, port: number, ...(appProtocol !== undefined && { appProtocol }) }]
  })
}

function numberOf({ port, targetPort = port, protocol = 'TCP' }: ServicePort, { spec }: Pod): number | undefined {
  if (typeof targetPort === 'number') return targetPort === 0 ? port : targetPort
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  return [...spec.containers, ...sidecars]
    .flatMap(({ ports = [] }) => ports)
    .find(each => each.name === targetPort && (each.protocol ?? 'TCP') === protocol)?.containerPort
}

export const targetOf = ({ metadata: { namespace = '', name, uid } }: Pod): object => ({
  kind: 'Pod',
  namespace,
  name,
  uid,
})

export function hostnameOf(service: Service, { spec: { hostname, subdomain }, metadata }: Pod): string | undefined {
  return hostname && subdomain === service.metadata.name && metadata.namespace === service.metadata.namespace
    ? hostname
    : undefined
}
