// What objects of the built-in kinds get where their clients say nothing. First come the facts of the type table,
// then the rules of the kind, as a table from kind to function. An object is filled in in place; it comes out in the
// order of its type when it is printed.

import { ensureObject, has, objectAt, objectOrNone, objectsAt, setDefault, stringAt } from '../meta/values/access.js'
import { setOwn, type ValueObject } from '../meta/values/value.js'
import { defaultAutoscalerV1, defaultAutoscalerV2 } from './autoscaler-forms.js'
import { CONTROL_PLANE_DEFAULTS } from './control-plane-defaults.js'
import { defaultPod, defaultPodTemplate } from './core/pod/defaults.js'
import { DEVICE_DEFAULTS } from './device-defaults.js'
import { NETWORK_DEFAULTS } from './network-defaults.js'
import { defaultService } from './service-defaults.js'
import { STORAGE_DEFAULTS } from './storage-defaults.js'
import { WORKLOAD_DEFAULTS } from './workload-defaults.js'

const RBAC_GROUP = 'rbac.authorization.k8s.io'

/** The label that names a namespace by itself, so that selectors can. */
export const NAMESPACE_NAME_LABEL = 'kubernetes.io/metadata.name'

export const DEFAULTS: Readonly<Record<string, ((object: ValueObject) => void) | undefined>> = {
  'v1 Namespace': namespace => {
    setNamespaceLabel(namespace)
    setDefault(ensureObject(namespace, 'status'), 'phase', 'Active')
  },
  'v1 Secret': secret => {
    setDefault(secret, 'type', 'Opaque')
    takeInStringData(secret)
  },
  'v1 Service': defaultService,
  'v1 Endpoints': endpoints => {
    for (const subset of objectsAt(endpoints, 'subsets')) {
      for (const port of objectsAt(subset, 'ports')) setDefault(port, 'protocol', 'TCP')
    }
  },
  'v1 Pod': defaultPod,
  'v1 PodTemplate': template => defaultPodTemplate(ensureObject(template, 'template')),
  'v1 Node': node => {
    const status = objectAt(node, 'status')
    if (has(status, 'capacity') && !has(status, 'allocatable')) {
      status['allocatable'] = { ...objectAt(status, 'capacity') }
    }
    syncPodCidrs(objectAt(node, 'spec'))
  },
  'v1 LimitRange': range => {
    for (const limit of objectsAt(objectAt(range, 'spec'), 'limits')) defaultLimit(limit)
  },
  'scheduling.k8s.io/v1 PriorityClass': made => setDefault(made, 'preemptionPolicy', 'PreemptLowerPriority', false),
  ...WORKLOAD_DEFAULTS,
  ...NETWORK_DEFAULTS,
  'autoscaling/v1 HorizontalPodAutoscaler': defaultAutoscalerV1,
  'autoscaling/v2 HorizontalPodAutoscaler': defaultAutoscalerV2,
  ...STORAGE_DEFAULTS,
  ...CONTROL_PLANE_DEFAULTS,
  ...DEVICE_DEFAULTS,
  'rbac.authorization.k8s.io/v1 RoleBinding': defaultBinding,
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding': defaultBinding,
}

export function setNamespaceLabel(namespace: ValueObject): void {
  const metadata = ensureObject(namespace, 'metadata')
  const name = stringAt(metadata, 'name')
  if (name !== '') ensureObject(metadata, 'labels')[NAMESPACE_NAME_LABEL] = name
}

/** What is written as text becomes data; the text itself is not kept. */
function takeInStringData(secret: ValueObject): void {
  const texts = objectOrNone(secret, 'stringData')
  if (texts === undefined) return
  const data = { ...objectAt(secret, 'data') }
  for (const key of Object.keys(texts)) {
    setOwn(data, key, Buffer.from(stringAt(texts, key)).toString('base64'))
  }
  secret['data'] = data
  delete secret['stringData']
}

/** The first of several and the only one of before: either may be given. */
function syncPodCidrs(spec: ValueObject): void {
  const one = stringAt(spec, 'podCIDR')
  const all = spec['podCIDRs']
  const first = Array.isArray(all) ? all[0] : undefined
  if (one !== '' && first !== one) spec['podCIDRs'] = [one]
  else if (one === '' && typeof first === 'string') spec['podCIDR'] = first
}

/** A container that says nothing gets the most there is, and asks for as much, or for what its limit says. */
function defaultLimit(limit: ValueObject): void {
  if (stringAt(limit, 'type') !== 'Container') return
  limit['default'] = { ...objectAt(limit, 'max'), ...objectAt(limit, 'default') }
  const requested = objectAt(limit, 'defaultRequest')
  limit['defaultRequest'] = { ...objectAt(limit, 'min'), ...objectAt(limit, 'default'), ...requested }
}

function defaultBinding(binding: ValueObject): void {
  setDefault(ensureObject(binding, 'roleRef'), 'apiGroup', RBAC_GROUP)
  for (const subject of objectsAt(binding, 'subjects')) {
    const kind = stringAt(subject, 'kind')
    if (kind === 'User' || kind === 'Group') setDefault(subject, 'apiGroup', RBAC_GROUP)
  }
}
