// The cells of each kind's Table, as kubectl shows them: one function for each kind that has columns of its own.
// Which columns there are is data; a cell that a kind has no function for is its name, its age, or empty.
import { ageCell } from '../meta/table.js'
import {
  has,
  mapAt,
  numberAt,
  numberOrNone,
  objectAt,
  objectOrNone,
  objectsAt,
  stringAt,
  stringsAt,
} from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import { AUTOSCALER_CELLS } from './autoscaler-cells.js'
import { ageOf, NONE, nameOf, printLabels, type TableRow, UNKNOWN } from './common/table-cells.js'
import { CONTROL_PLANE_CELLS } from './control-plane-cells.js'
import { podCells } from './core/pod/table.js'
import { NETWORK_CELLS } from './network-cells.js'
import { STORAGE_CELLS } from './storage-cells.js'
import { WORKLOAD_CELLS } from './workload-cells.js'

// ---- services, endpoints

const serviceCells: TableRow = (service, now) => {
  const spec = objectAt(service, 'spec')
  return [
    nameOf(service),
    stringAt(spec, 'type'),
    stringsAt(spec, 'clusterIPs')[0] ?? NONE,
    externalAddress(service, spec),
    printPorts(spec),
    ageOf(service, now),
    printLabels(mapAt(spec, 'selector')),
  ]
}

function externalAddress(service: ValueObject, spec: ValueObject): string {
  const own = stringsAt(spec, 'externalIPs')
  switch (stringAt(spec, 'type')) {
    case 'ExternalName':
      return stringAt(spec, 'externalName')
    case 'LoadBalancer': {
      const ingress = objectsAt(objectAt(objectAt(service, 'status'), 'loadBalancer'), 'ingress')
      const given = ingress
        .map(entry => stringAt(entry, 'ip') || stringAt(entry, 'hostname'))
        .filter(text => text !== '')
      const all = [...[...new Set(given)].toSorted(), ...own]
      return all.length === 0 ? '<pending>' : all.join(',')
    }
    default:
      return own.length === 0 ? NONE : own.join(',')
  }
}

function printPorts(spec: ValueObject): string {
  const ports = objectsAt(spec, 'ports').map(port => {
    const nodePort = numberAt(port, 'nodePort')
    return `${numberAt(port, 'port')}${nodePort > 0 ? `:${nodePort}` : ''}/${stringAt(port, 'protocol')}`
  })
  return ports.length === 0 ? NONE : ports.join(',')
}

/** How many endpoints a cell shows. */
const MAX_ENDPOINTS = 3

function printEndpoints(endpoints: ValueObject): string {
  const subsets = objectsAt(endpoints, 'subsets')
  if (subsets.length === 0) return NONE
  const all = subsets.flatMap(subset => {
    const addresses = objectsAt(subset, 'addresses').map(address => stringAt(address, 'ip'))
    const ports = objectsAt(subset, 'ports')
    if (ports.length === 0) return addresses
    return ports.flatMap(port => addresses.map(address => hostAndPort(address, numberAt(port, 'port'))))
  })
  const shown = all.slice(0, MAX_ENDPOINTS).join(',')
  return all.length > MAX_ENDPOINTS ? `${shown} + ${all.length - MAX_ENDPOINTS} more...` : shown
}

const hostAndPort = (address: string, port: number): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`

// ---- nodes

const ROLE_LABEL = 'node-role.kubernetes.io/'

const nodeCells: TableRow = (node, now) => {
  const status = objectAt(node, 'status')
  const info = objectAt(status, 'nodeInfo')
  const addressOf = (type: string): string => {
    const found = objectsAt(status, 'addresses').find(address => stringAt(address, 'type') === type)
    return found === undefined ? NONE : stringAt(found, 'address')
  }
  const ready = objectsAt(status, 'conditions').find(condition => stringAt(condition, 'type') === 'Ready')
  const states = [ready === undefined ? 'Unknown' : stringAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady']
  if (objectAt(node, 'spec')['unschedulable'] === true) states.push('SchedulingDisabled')
  return [
    nameOf(node),
    states.join(','),
    rolesOf(node),
    ageOf(node, now),
    stringAt(info, 'kubeletVersion'),
    addressOf('InternalIP'),
    addressOf('ExternalIP'),
    stringAt(info, 'osImage') || UNKNOWN,
    stringAt(info, 'kernelVersion') || UNKNOWN,
    stringAt(info, 'containerRuntimeVersion') || UNKNOWN,
  ]
}

function rolesOf(node: ValueObject): string {
  const labels = mapAt(objectAt(node, 'metadata'), 'labels')
  const roles = Object.keys(labels).flatMap(key => {
    if (key.startsWith(ROLE_LABEL)) return [key.slice(ROLE_LABEL.length)]
    return key === 'kubernetes.io/role' ? [labels[key]!] : []
  })
  const named = [...new Set(roles.filter(role => role !== ''))].toSorted()
  return named.length === 0 ? NONE : named.join(',')
}

// ---- events

interface EventNames {
  readonly object: string
  readonly controller: string
  readonly message: string
  readonly source: string
  readonly first: string
  readonly last: string
  readonly count: string
}

const eventCells =
  (names: EventNames): TableRow =>
  (event, now) => {
    const series = objectOrNone(event, 'series')
    const about = objectAt(event, names.object)
    const source = objectAt(event, names.source)
    const first = event[names.first] ?? event['eventTime']
    const last = series === undefined ? (event[names.last] ?? first) : series['lastObservedTime']
    const count = series === undefined ? numberAt(event, names.count) || 1 : numberAt(series, 'count')
    const kind = stringAt(about, 'kind').toLowerCase()
    const reporter = stringAt(source, 'component') || stringAt(event, names.controller)
    const instance = stringAt(source, 'host') || stringAt(event, 'reportingInstance')
    return [
      ageCell(last, now),
      stringAt(event, 'type'),
      stringAt(event, 'reason'),
      stringAt(about, 'name') === '' ? kind : `${kind}/${stringAt(about, 'name')}`,
      stringAt(about, 'fieldPath'),
      instance === '' ? reporter : `${reporter}, ${instance}`,
      stringAt(event, names.message).trim(),
      ageCell(first, now),
      count,
      nameOf(event),
    ]
  }

// ---- roles, the rest

const bindingCells: TableRow = (binding, now) => {
  const role = objectAt(binding, 'roleRef')
  const subjectsOf = (kind: string): string =>
    objectsAt(binding, 'subjects')
      .filter(subject => stringAt(subject, 'kind') === kind)
      .map(
        subject => (kind === 'ServiceAccount' ? `${stringAt(subject, 'namespace')}/` : '') + stringAt(subject, 'name'),
      )
      .join(', ')
  return [
    nameOf(binding),
    `${stringAt(role, 'kind')}/${stringAt(role, 'name')}`,
    ageOf(binding, now),
    subjectsOf('User'),
    subjectsOf('Group'),
    subjectsOf('ServiceAccount'),
  ]
}

const disruptionBudgetCells: TableRow = (budget, now) => {
  const count = (field: string): string => {
    const spec = objectAt(budget, 'spec')
    return stringAt(spec, field) || String(numberOrNone(spec, field) ?? 'N/A')
  }
  return [
    nameOf(budget),
    count('minAvailable'),
    count('maxUnavailable'),
    numberAt(objectAt(budget, 'status'), 'disruptionsAllowed'),
    ageOf(budget, now),
  ]
}

/** What is used of what there is: `cpu: 1/2, pods: 3/5`. */
const quotaCells: TableRow = (quota, now) => {
  const status = objectAt(quota, 'status')
  const [used, hard] = [mapAt(status, 'used'), mapAt(status, 'hard')]
  const names = Object.keys(hard).toSorted()
  const shown = (ofLimits: boolean): string =>
    names
      .filter(name => name.startsWith('limits') === ofLimits)
      .map(name => `${name}: ${used[name] ?? '0'}/${hard[name]!}`)
      .join(', ')
  return [nameOf(quota), shown(false), shown(true), ageOf(quota, now)]
}

const sizeOf = (object: ValueObject, field: string): number => Object.keys(objectAt(object, field)).length

/** Who has an address: `services/default/kubernetes`. */
function printParent(address: ValueObject): string {
  const parent = objectAt(objectAt(address, 'spec'), 'parentRef')
  const [group, resource] = [stringAt(parent, 'group'), stringAt(parent, 'resource')]
  const parts = [
    group === '' ? resource : `${resource}.${group}`,
    stringAt(parent, 'namespace'),
    stringAt(parent, 'name'),
  ]
  return parts.filter(Boolean).join('/')
}

/** How far a claim to devices has come. */
function claimState(claim: ValueObject): string {
  const status = objectAt(claim, 'status')
  const isLeaving = has(objectAt(claim, 'metadata'), 'deletionTimestamp')
  const states = isLeaving ? ['deleted'] : []
  if (has(status, 'allocation')) states.push('allocated')
  else if (!isLeaving) states.push('pending')
  if (has(status, 'allocation') && objectsAt(status, 'reservedFor').length > 0) states.push('reserved')
  return states.join(',')
}

export const CELLS: Readonly<Record<string, TableRow | undefined>> = {
  'v1 namespaces': (namespace, now) => [
    nameOf(namespace),
    stringAt(objectAt(namespace, 'status'), 'phase'),
    ageOf(namespace, now),
  ],
  'v1 configmaps': (map, now) => [nameOf(map), sizeOf(map, 'data') + sizeOf(map, 'binaryData'), ageOf(map, now)],
  'v1 secrets': (secret, now) => [nameOf(secret), stringAt(secret, 'type'), sizeOf(secret, 'data'), ageOf(secret, now)],
  'v1 services': serviceCells,
  'v1 endpoints': (endpoints, now) => [nameOf(endpoints), printEndpoints(endpoints), ageOf(endpoints, now)],
  'v1 pods': podCells,
  'v1 nodes': nodeCells,
  'v1 resourcequotas': quotaCells,
  'node.k8s.io/v1 runtimeclasses': (made, now) => [nameOf(made), stringAt(made, 'handler'), ageOf(made, now)],
  'scheduling.k8s.io/v1 priorityclasses': (made, now) => [
    nameOf(made),
    numberAt(made, 'value'),
    made['globalDefault'] === true,
    ageOf(made, now),
    stringAt(made, 'preemptionPolicy'),
  ],
  'v1 events': eventCells({
    object: 'involvedObject',
    controller: 'reportingComponent',
    message: 'message',
    source: 'source',
    first: 'firstTimestamp',
    last: 'lastTimestamp',
    count: 'count',
  }),
  'events.k8s.io/v1 events': eventCells({
    object: 'regarding',
    controller: 'reportingController',
    message: 'note',
    source: 'deprecatedSource',
    first: 'deprecatedFirstTimestamp',
    last: 'deprecatedLastTimestamp',
    count: 'deprecatedCount',
  }),
  'coordination.k8s.io/v1 leases': (lease, now) => [
    nameOf(lease),
    stringAt(objectAt(lease, 'spec'), 'holderIdentity'),
    ageOf(lease, now),
  ],
  ...WORKLOAD_CELLS,
  ...NETWORK_CELLS,
  ...AUTOSCALER_CELLS,
  ...STORAGE_CELLS,
  ...CONTROL_PLANE_CELLS,
  'resource.k8s.io/v1 resourceclaims': (claim, now) => [nameOf(claim), claimState(claim), ageOf(claim, now)],
  'resource.k8s.io/v1 resourceslices': (slice, now) => {
    const spec = objectAt(slice, 'spec')
    const pool = stringAt(objectAt(spec, 'pool'), 'name')
    return [nameOf(slice), stringAt(spec, 'nodeName'), stringAt(spec, 'driver'), pool, ageOf(slice, now)]
  },
  'policy/v1 poddisruptionbudgets': disruptionBudgetCells,
  'networking.k8s.io/v1 ipaddresses': address => [nameOf(address), printParent(address)],
  'networking.k8s.io/v1 servicecidrs': (range, now) => [
    nameOf(range),
    stringsAt(objectAt(range, 'spec'), 'cidrs').join(','),
    ageOf(range, now),
  ],
  'rbac.authorization.k8s.io/v1 rolebindings': bindingCells,
  'rbac.authorization.k8s.io/v1 clusterrolebindings': bindingCells,
}
