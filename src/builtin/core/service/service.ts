// Service. Addresses and node ports are assigned between the strategy and the validation (`service-addresses.ts`).
import {
  asStruct,
  asTypedText,
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  indexPath,
  keyPath,
} from '../../../meta/errors/field-errors.js'
import {
  checkDns1035Label,
  checkDnsLabel,
  checkDnsSubdomain,
  checkPortName,
  checkQualifiedName,
  type NameRule,
} from '../../../meta/object/names.js'
import { checkLabels } from '../../../meta/selectors/label-selectors.js'
import {
  ensureObject,
  has,
  mapAt,
  numberAt,
  numberOrNone,
  objectAt,
  objectOrNone,
  objectsAt,
  setDefault,
  stringAt,
  stringsAt,
} from '../../../meta/values/access.js'
import type { Value, ValueObject } from '../../../meta/values/value.js'
import type { TypeTable } from '../../../types/type-table.js'
import { defineKind } from '../../common/define-kind.js'
import { checkOneOf, checkPortNumber, checkText, sameValue } from '../../common/field-checks.js'
import { checkCidr, checkIp, checkRoutableIp, familyOf } from '../../common/ip-rules.js'
import { cidrWarnings, ipWarnings, loadBalancerWarnings } from '../../common/ip-warnings.js'
import { metadata, metadataUpdate } from '../../common/metadata.js'
import { check, checkUpdate, field, oneOf, type Rule } from '../../common/rules.js'
import { selectableFields, stringField } from '../../common/selectable-fields.js'
import {
  type BuiltinStrategy,
  clearStatus,
  inTurn,
  keepGeneration,
  keepSpec,
  keepStatus,
} from '../../common/strategies.js'
import { ageOf, NONE, nameOf, printLabels, type TableRow } from '../../common/table-cells.js'
import { type Validation, validationRules } from '../../common/validation.js'
import { PROTOCOLS } from '../endpoints.js'
import { checkClusterIps, checkClusterIpsChange, isHeadless } from './address-rules.js'
import {
  dropForType,
  isExternallyAccessible,
  keepAssigned,
  needsHealthPort,
  syncClusterIps,
} from './service-addresses.js'

// ---- defaults and strategy

/** The default of session affinity: three hours. */
const AFFINITY_SECONDS = 10_800

function defaults(service: ValueObject): void {
  const spec = ensureObject(service, 'spec')
  setDefault(spec, 'sessionAffinity', 'None')
  if (stringAt(spec, 'sessionAffinity') === 'None') delete spec['sessionAffinityConfig']
  if (stringAt(spec, 'sessionAffinity') === 'ClientIP') {
    const config = ensureObject(ensureObject(spec, 'sessionAffinityConfig'), 'clientIP')
    setDefault(config, 'timeoutSeconds', AFFINITY_SECONDS, false)
  }
  setDefault(spec, 'type', 'ClusterIP')
  for (const port of objectsAt(spec, 'ports')) {
    setDefault(port, 'protocol', 'TCP')
    setDefault(port, 'targetPort', port['port'] ?? 0)
  }
  const type = stringAt(spec, 'type')
  if (isExternallyAccessible(spec)) setDefault(spec, 'externalTrafficPolicy', 'Cluster')
  if (['ClusterIP', 'NodePort', 'LoadBalancer'].includes(type))
    setDefault(spec, 'internalTrafficPolicy', 'Cluster', false)
  if (type !== 'LoadBalancer') return
  setDefault(spec, 'allocateLoadBalancerNodePorts', true)
  for (const ingress of objectsAt(objectAt(objectAt(service, 'status'), 'loadBalancer'), 'ingress')) {
    if (stringAt(ingress, 'ip') !== '') setDefault(ingress, 'ipMode', 'VIP', false)
  }
}

const TRAFFIC_POLICIES = ['Cluster', 'Local']

const strategy = (table: TypeTable): BuiltinStrategy => {
  const clear = clearStatus(table, 'core/v1.ServiceStatus')
  return {
    prepareForCreate: (service, context) => {
      clear(service, context)
      // A service that a write of its status creates gets no addresses.
      if (context.subresource !== 'status') syncClusterIps(ensureObject(service, 'spec'), undefined)
    },
    prepareForUpdate: inTurn(keepGeneration, keepStatus, (service, old, context) => {
      const spec = ensureObject(service, 'spec')
      const oldSpec = objectAt(old, 'spec')
      keepAssigned(spec, oldSpec)
      syncClusterIps(spec, oldSpec)
      dropForType(spec, oldSpec)
      // The status is that of the load balancer, which the new type does not have.
      const before = stringAt(oldSpec, 'type')
      if (before === 'LoadBalancer' && stringAt(spec, 'type') !== before) clear(service, context)
    }),
    prepareForStatusUpdate: inTurn(keepGeneration, keepSpec),
    // Older versions set this field for services without it; clients may still send it. A wrong value is refused.
    finish: service => {
      const spec = objectAt(service, 'spec')
      const isDropped = TRAFFIC_POLICIES.includes(stringAt(spec, 'internalTrafficPolicy'))
      if (stringAt(spec, 'type') === 'ExternalName' && isDropped) delete spec['internalTrafficPolicy']
    },
    allowCreateOnUpdate: true,
    returnsDeletedObject: true,
  }
}

// ---- validation

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']

function checkFieldsOfType(spec: ValueObject): FieldError[] {
  const type = stringAt(spec, 'type')
  const errors: FieldError[] = []
  if (objectsAt(spec, 'ports').length === 0 && !isHeadless(spec) && type !== 'ExternalName') {
    errors.push(fieldRequired('spec.ports'))
  }
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless(spec)) {
    errors.push(fieldInvalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`))
  }
  if (type !== 'ExternalName') return errors
  for (const name of ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
    if (has(spec, name)) errors.push(fieldForbidden(`spec.${name}`, 'may not be set for ExternalName services'))
  }
  const target = stringAt(spec, 'externalName').replace(/\.$/, '')
  if (target === '') return [...errors, fieldRequired('spec.externalName')]
  return [...errors, ...checkText(target, checkDnsSubdomain, 'spec.externalName')]
}

// ---- ports

function checkPorts(spec: ValueObject): FieldError[] {
  const ports = objectsAt(spec, 'ports')
  const names = new Set<string>()
  const numbers = new Set<string>()
  const nodePorts = new Set<string>()
  const type = stringAt(spec, 'type')
  return ports.flatMap((port, i) => {
    const path = indexPath('spec.ports', i)
    const errors = checkPort(port, ports.length > 1, names, path)
    if (type === 'LoadBalancer' && numberAt(port, 'port') === KUBELET_PORT) {
      const why = `may not expose port ${KUBELET_PORT} externally since it is used by kubelet`
      errors.push(fieldInvalid(path, KUBELET_PORT, why))
    }
    const protocol = stringAt(port, 'protocol')
    const nodePort = numberAt(port, 'nodePort')
    if (type === 'ClusterIP' && nodePort !== 0) {
      errors.push(fieldForbidden(childPath(path, 'nodePort'), "may not be used when `type` is 'ClusterIP'"))
    }
    if (nodePort !== 0) {
      const key = `${protocol} ${nodePort}`
      if (nodePorts.has(key)) errors.push(fieldDuplicate(childPath(path, 'nodePort'), nodePort))
      nodePorts.add(key)
    }
    const key = `${protocol} ${numberAt(port, 'port')}`
    if (numbers.has(key)) errors.push(fieldDuplicate(path, asStruct(shownPort(port))))
    numbers.add(key)
    return errors
  })
}

const KUBELET_PORT = 10_250

/** A port as Go prints it, with only the fields that make it equal to another. */
const shownPort = (port: ValueObject): Value => ({
  Name: '',
  Protocol: stringAt(port, 'protocol'),
  AppProtocol: null,
  Port: numberAt(port, 'port'),
  TargetPort: 0,
  NodePort: 0,
})

function checkPort(port: ValueObject, nameRequired: boolean, names: Set<string>, path: string): FieldError[] {
  const errors: FieldError[] = []
  const name = stringAt(port, 'name')
  const at = childPath(path, 'name')
  if (name === '') {
    if (nameRequired) errors.push(fieldRequired(at))
  } else {
    errors.push(...checkText(name, checkDnsLabel, at))
    if (names.has(name)) errors.push(fieldDuplicate(at, name))
    names.add(name)
  }
  const target = port['targetPort'] ?? 0
  const targetPath = childPath(path, 'targetPort')
  return [
    ...errors,
    ...checkPortNumber(numberAt(port, 'port'), childPath(path, 'port')),
    ...checkOneOf(stringAt(port, 'protocol'), PROTOCOLS, childPath(path, 'protocol'), { required: true }),
    ...(typeof target === 'string'
      ? checkText(target, checkPortName, targetPath)
      : checkPortNumber(Number(target), targetPath)),
    ...(has(port, 'appProtocol')
      ? checkText(stringAt(port, 'appProtocol'), checkQualifiedName, childPath(path, 'appProtocol'))
      : []),
  ]
}

// ---- affinity and traffic

/** The most that session affinity may last: a day. */
const AFFINITY_MAX = 86_400

function checkAffinity(spec: ValueObject): FieldError[] {
  const affinity = stringAt(spec, 'sessionAffinity')
  const errors = checkOneOf(affinity, ['ClientIP', 'None'], 'spec.sessionAffinity', { required: true })
  const config = objectOrNone(spec, 'sessionAffinityConfig')
  if (affinity === 'None' && config !== undefined) {
    errors.push(fieldForbidden('spec.sessionAffinityConfig', 'must not be set when session affinity is None'))
  }
  if (affinity === 'ClientIP') {
    const seconds = numberOrNone(objectAt(config ?? {}, 'clientIP'), 'timeoutSeconds')
    if (seconds !== undefined && (seconds <= 0 || seconds > AFFINITY_MAX)) {
      const why = `must be greater than 0 and less than ${AFFINITY_MAX}`
      errors.push(fieldInvalid('spec.sessionAffinityConfig.clientIP.timeoutSeconds', seconds, why))
    }
  }
  return errors
}

const checkExternalIps = (spec: ValueObject): FieldError[] =>
  stringsAt(spec, 'externalIPs').flatMap((ip, i) => {
    const path = indexPath('spec.externalIPs', i)
    const errors = checkIp(ip, path)
    return errors.length > 0 ? errors : checkRoutableIp(ip, path)
  })

function checkTraffic(spec: ValueObject): FieldError[] {
  const errors: FieldError[] = []
  const external = stringAt(spec, 'externalTrafficPolicy')
  if (isExternallyAccessible(spec)) {
    errors.push(...checkOneOf(external, TRAFFIC_POLICIES, 'spec.externalTrafficPolicy', { required: true }))
  } else if (external !== '') {
    const why = 'may only be set for externally-accessible services'
    errors.push(fieldInvalid('spec.externalTrafficPolicy', asTypedText(external), why))
  }
  const healthPort = numberAt(spec, 'healthCheckNodePort')
  if (needsHealthPort(spec)) {
    errors.push(...checkPortNumber(healthPort, 'spec.healthCheckNodePort'))
  } else if (healthPort !== 0) {
    const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
    errors.push(fieldInvalid('spec.healthCheckNodePort', healthPort, why))
  }
  if (has(spec, 'internalTrafficPolicy')) {
    const policy = stringAt(spec, 'internalTrafficPolicy')
    errors.push(...checkOneOf(policy, TRAFFIC_POLICIES, 'spec.internalTrafficPolicy'))
  }
  if (has(spec, 'trafficDistribution')) {
    const supported = ['PreferClose', 'PreferSameZone', 'PreferSameNode']
    const given = stringAt(spec, 'trafficDistribution')
    errors.push(...checkOneOf(given, supported, 'spec.trafficDistribution', { isString: true }))
  }
  return errors
}

// ---- load balancers

const ONLY_LOAD_BALANCER = "may only be used when `type` is 'LoadBalancer'"

function checkLoadBalancer(spec: ValueObject): FieldError[] {
  const errors: FieldError[] = []
  const balanced = stringAt(spec, 'type') === 'LoadBalancer'
  // kube-apiserver's messages spell the field like this.
  const rangesPath = 'spec.LoadBalancerSourceRanges'
  const ranges = stringsAt(spec, 'loadBalancerSourceRanges')
  if (ranges.length > 0 && !balanced) errors.push(fieldForbidden(rangesPath, ONLY_LOAD_BALANCER))
  ranges.forEach((range, i) => errors.push(...checkCidr(range.trim(), indexPath(rangesPath, i))))
  if (has(spec, 'allocateLoadBalancerNodePorts') && !balanced) {
    errors.push(fieldForbidden('spec.allocateLoadBalancerNodePorts', ONLY_LOAD_BALANCER))
  }
  return [...errors, ...checkLoadBalancerClass(spec)]
}

function checkLoadBalancerClass(spec: ValueObject): FieldError[] {
  if (!has(spec, 'loadBalancerClass')) return []
  const path = 'spec.loadBalancerClass'
  return stringAt(spec, 'type') === 'LoadBalancer'
    ? checkText(stringAt(spec, 'loadBalancerClass'), checkQualifiedName, path)
    : [fieldForbidden(path, ONLY_LOAD_BALANCER)]
}

const TOPOLOGY_HINTS = 'service.kubernetes.io/topology-aware-hints'
const TOPOLOGY_MODE = 'service.kubernetes.io/topology-mode'

/** The old and the new name of an annotation have the same value. */
function checkTopologyAnnotations(service: ValueObject): FieldError[] {
  const annotations = mapAt(objectAt(service, 'metadata'), 'annotations')
  const [hints, mode] = [annotations[TOPOLOGY_HINTS], annotations[TOPOLOGY_MODE]]
  if (hints === undefined || mode === undefined || hints === mode) return []
  const why = `must match annotations[${TOPOLOGY_HINTS}] when both are specified`
  return [fieldInvalid(keyPath('metadata.annotations', TOPOLOGY_MODE), mode, why)]
}

const SOURCE_RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges'

/** The annotation counts if the field is not set. */
function checkSourceRangesAnnotation(service: ValueObject, _: string, old: ValueObject | undefined): FieldError[] {
  const annotationOf = (object: ValueObject): string | undefined =>
    mapAt(objectAt(object, 'metadata'), 'annotations')[SOURCE_RANGES]
  const spec = objectAt(service, 'spec')
  const given = annotationOf(service)
  if (given === undefined || stringsAt(spec, 'loadBalancerSourceRanges').length > 0) return []
  const path = keyPath('metadata.annotations', SOURCE_RANGES)
  const isUnchanged = old !== undefined && annotationOf(old) === given
  return [
    ...(stringAt(spec, 'type') === 'LoadBalancer' ? [] : [fieldForbidden(path, ONLY_LOAD_BALANCER)]),
    ...(isUnchanged || given.trim() === '' ? [] : given.split(',').flatMap(range => checkCidr(range.trim(), path))),
  ]
}

function checkLoadBalancerClassChange(service: ValueObject, old: ValueObject): FieldError[] {
  const spec = objectAt(service, 'spec')
  const oldSpec = objectAt(old, 'spec')
  const areBalanced = [spec, oldSpec].every(each => stringAt(each, 'type') === 'LoadBalancer')
  const isChanged = areBalanced && !sameValue(spec['loadBalancerClass'], oldSpec['loadBalancerClass'])
  return [
    ...(isChanged
      ? [fieldInvalid('spec.loadBalancerClass', spec['loadBalancerClass'] ?? null, 'may not change once set')]
      : []),
    ...checkLoadBalancerClass(spec),
  ]
}

function checkHealthPortChange(service: ValueObject, old: ValueObject): FieldError[] {
  const [spec, oldSpec] = [objectAt(service, 'spec'), objectAt(old, 'spec')]
  if (!needsHealthPort(spec) || !needsHealthPort(oldSpec)) return []
  return numberAt(spec, 'healthCheckNodePort') === numberAt(oldSpec, 'healthCheckNodePort')
    ? []
    : [fieldForbidden('spec.healthCheckNodePort', 'field is immutable')]
}

function checkLoadBalancerStatus(service: ValueObject): FieldError[] {
  const path = 'status.loadBalancer.ingress'
  const ingress = objectsAt(objectAt(objectAt(service, 'status'), 'loadBalancer'), 'ingress')
  if (ingress.length > 0 && stringAt(objectAt(service, 'spec'), 'type') !== 'LoadBalancer') {
    return [fieldForbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")]
  }
  return ingress.flatMap((entry, i) => {
    const at = indexPath(path, i)
    const ip = stringAt(entry, 'ip')
    const hostname = stringAt(entry, 'hostname')
    const errors = ip === '' ? [] : checkIp(ip, childPath(at, 'ip'))
    if (ip !== '' && has(entry, 'ipMode')) {
      errors.push(...checkOneOf(stringAt(entry, 'ipMode'), ['Proxy', 'VIP'], childPath(at, 'ipMode')))
    } else if (ip === '' && has(entry, 'ipMode')) {
      errors.push(fieldForbidden(childPath(at, 'ipMode'), 'may not be specified when `ip` is not set'))
    }
    if (hostname !== '') {
      errors.push(...checkText(hostname, checkDnsSubdomain, childPath(at, 'hostname')))
      if (familyOf(hostname) !== undefined) {
        errors.push(fieldInvalid(childPath(at, 'hostname'), hostname, 'must be a DNS name, not an IP address'))
      }
    }
    return errors
  })
}

// ---- warnings

function warnings(service: ValueObject): string[] {
  const spec = objectAt(service, 'spec')
  const type = stringAt(spec, 'type')
  const isHeadlessType = type === 'ClusterIP' && stringAt(spec, 'clusterIP') === 'None'
  const externalIps = stringsAt(spec, 'externalIPs')
  const loadBalancerIp = stringAt(spec, 'loadBalancerIP')
  const found: string[] = []
  if (has(objectAt(objectAt(service, 'metadata'), 'annotations'), TOPOLOGY_HINTS)) {
    found.push(`annotation ${TOPOLOGY_HINTS} is deprecated, please use ${TOPOLOGY_MODE} instead`)
  }
  if (!isHeadless(spec)) {
    stringsAt(spec, 'clusterIPs').forEach((ip, i) => found.push(...ipWarnings(ip, indexPath('spec.clusterIPs', i))))
  }
  if (isHeadlessType && loadBalancerIp !== '') found.push('spec.loadBalancerIP is ignored for headless services')
  if (isHeadlessType && externalIps.length > 0) found.push('spec.externalIPs is ignored for headless services')
  if (isHeadlessType && stringAt(spec, 'sessionAffinity') !== 'None') {
    found.push('spec.SessionAffinity is ignored for headless services')
  }
  externalIps.forEach((ip, i) => found.push(...ipWarnings(ip, indexPath('spec.externalIPs', i))))
  if (externalIps.length > 0 && !isHeadlessType && type !== 'ExternalName') {
    found.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters')
  }
  if (loadBalancerIp !== '') found.push(...ipWarnings(loadBalancerIp, 'spec.loadBalancerIP'))
  stringsAt(spec, 'loadBalancerSourceRanges').forEach((range, i) =>
    found.push(...cidrWarnings(range, indexPath('spec.loadBalancerSourceRanges', i))),
  )
  if (type === 'ExternalName' && externalIps.length > 0) {
    found.push('spec.externalIPs is ignored when spec.type is "ExternalName"')
  }
  if (type !== 'ExternalName' && stringAt(spec, 'externalName') !== '') {
    found.push('spec.externalName is ignored when spec.type is not "ExternalName"')
  }
  if (stringAt(spec, 'trafficDistribution') === 'PreferClose') {
    found.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
  }
  return found
}

// ---- Table

const row: TableRow = (service, now) => {
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

const rules: readonly Rule[] = [
  check(checkTopologyAnnotations),
  field('spec', [
    check(checkFieldsOfType),
    check(checkPorts),
    check(spec => checkLabels(mapAt(spec, 'selector'), 'spec.selector')),
    check(checkAffinity),
    check(checkClusterIps),
    check(checkExternalIps),
    oneOf('type', TYPES, { required: true }),
    check(checkLoadBalancer),
    check(checkTraffic),
  ]),
  check(checkSourceRangesAnnotation),
]

const validationOf = (name: NameRule): Validation =>
  validationRules({
    create: [metadata({ namespaced: true, name }), ...rules],
    update: [
      metadataUpdate,
      checkUpdate(checkClusterIpsChange),
      checkUpdate(checkLoadBalancerClassChange),
      checkUpdate(checkHealthPortChange),
      ...rules,
    ],
    status: [metadataUpdate, check(checkLoadBalancerStatus)],
  })

export const service = defineKind('v1', 'Service', {
  defaults,
  strategy,
  validation: validationOf(checkDnsLabel),
  changedBy: { RelaxedServiceNameValidation: { validation: validationOf(checkDns1035Label) } },
  warnings,
  statusWarnings: loadBalancerWarnings,
  table: row,
  selectableFields: selectableFields({
    'spec.clusterIP': stringField('spec', 'clusterIP'),
    'spec.type': stringField('spec', 'type'),
  }),
  keyPrefix: '/services/specs/',
})
