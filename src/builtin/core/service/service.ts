// Services: ports, how they are reached, and their addresses, which are assigned before this looks at them.
import {
  asStruct,
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  indexPath,
} from '../../../meta/errors/field-errors.js'
import { checkDnsLabel, checkDnsSubdomain, checkPortName, checkQualifiedName } from '../../../meta/object/names.js'
import { checkLabels } from '../../../meta/selectors/label-selectors.js'
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
} from '../../../meta/values/access.js'
import type { Value, ValueObject } from '../../../meta/values/value.js'
import { checkOneOf, checkPortNumber, checkText } from '../../common/field-checks.js'
import { checkCidr, checkIp, checkRoutableIp } from '../../common/ip-rules.js'
import { checkMeta, checkMetaUpdate } from '../../common/metadata.js'
import { type Validation } from '../../common/validation.js'
import { isExternallyAccessible } from '../../service-defaults.js'
import { PROTOCOLS } from '../endpoints.js'
import { checkClusterIps, checkClusterIpsChange, isHeadless } from './address-rules.js'

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']

export const serviceValidation: Validation = {
  create: checkService,
  update: (service, old) => [
    ...checkMetaUpdate(service, old),
    ...checkClusterIpsChange(service, old),
    ...checkLoadBalancerClassChange(service, old),
    ...checkService(service),
  ],
  status: (service, old) => [...checkMetaUpdate(service, old), ...checkLoadBalancerStatus(service)],
}

function checkService(service: ValueObject): FieldError[] {
  const spec = objectAt(service, 'spec')
  return [
    ...checkMeta(service, { namespaced: true, name: checkDnsLabel }),
    ...checkType(spec),
    ...checkPorts(spec),
    ...checkLabels(mapAt(spec, 'selector'), 'spec.selector'),
    ...checkAffinity(spec),
    ...checkClusterIps(spec),
    ...checkExternalIps(spec),
    ...checkLoadBalancer(spec),
    ...checkTraffic(spec),
  ]
}

function checkType(spec: ValueObject): FieldError[] {
  const type = stringAt(spec, 'type')
  const errors = checkOneOf(type, TYPES, 'spec.type', { required: true })
  if (objectsAt(spec, 'ports').length === 0 && !isHeadless(spec) && type !== 'ExternalName') {
    errors.push(fieldRequired('spec.ports'))
  }
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless(spec)) {
    errors.push(fieldInvalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`))
  }
  if (type !== 'ExternalName') return errors
  for (const field of ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
    if (has(spec, field)) errors.push(fieldForbidden(`spec.${field}`, 'may not be set for ExternalName services'))
  }
  const name = stringAt(spec, 'externalName').replace(/\.$/, '')
  if (name === '') return [...errors, fieldRequired('spec.externalName')]
  return [...errors, ...checkText(name, checkDnsSubdomain, 'spec.externalName')]
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
    } else if (nodePort !== 0) {
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

/** A port by what makes it the same as another. */
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

/** A day. */
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
    errors.push(...checkOneOf(external, ['Cluster', 'Local'], 'spec.externalTrafficPolicy', { required: true }))
  } else if (external !== '') {
    const why = 'may only be set for externally-accessible services'
    errors.push(fieldInvalid('spec.externalTrafficPolicy', external, why))
  }
  const healthPort = numberAt(spec, 'healthCheckNodePort')
  const needsHealthPort = stringAt(spec, 'type') === 'LoadBalancer' && external === 'Local'
  if (!needsHealthPort && healthPort !== 0) {
    const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
    errors.push(fieldInvalid('spec.healthCheckNodePort', healthPort, why))
  }
  if (has(spec, 'internalTrafficPolicy')) {
    const policy = stringAt(spec, 'internalTrafficPolicy')
    errors.push(...checkOneOf(policy, ['Cluster', 'Local'], 'spec.internalTrafficPolicy'))
  }
  if (has(spec, 'trafficDistribution')) {
    const supported = ['PreferClose', 'PreferSameNode', 'PreferSameZone']
    errors.push(...checkOneOf(stringAt(spec, 'trafficDistribution'), supported, 'spec.trafficDistribution'))
  }
  return errors
}

// ---- load balancers

const ONLY_LOAD_BALANCER = "may only be used when `type` is 'LoadBalancer'"

function checkLoadBalancer(spec: ValueObject): FieldError[] {
  const errors: FieldError[] = []
  const balanced = stringAt(spec, 'type') === 'LoadBalancer'
  // The name is told as the reference server spells it.
  const rangesPath = 'spec.LoadBalancerSourceRanges'
  const ranges = stringsAt(spec, 'loadBalancerSourceRanges')
  if (ranges.length > 0 && !balanced) errors.push(fieldForbidden(rangesPath, ONLY_LOAD_BALANCER))
  ranges.forEach((range, i) => errors.push(...checkCidr(range.trim(), indexPath(rangesPath, i))))
  for (const field of ['allocateLoadBalancerNodePorts', 'loadBalancerClass']) {
    if (has(spec, field) && !balanced) errors.push(fieldForbidden(`spec.${field}`, ONLY_LOAD_BALANCER))
  }
  if (has(spec, 'loadBalancerClass')) {
    errors.push(...checkText(stringAt(spec, 'loadBalancerClass'), checkQualifiedName, 'spec.loadBalancerClass'))
  }
  return errors
}

function checkLoadBalancerClassChange(service: ValueObject, old: ValueObject): FieldError[] {
  const spec = objectAt(service, 'spec')
  const oldSpec = objectAt(old, 'spec')
  if (stringAt(spec, 'type') !== 'LoadBalancer' || stringAt(oldSpec, 'type') !== 'LoadBalancer') return []
  if (stringAt(spec, 'loadBalancerClass') === stringAt(oldSpec, 'loadBalancerClass')) return []
  return [fieldInvalid('spec.loadBalancerClass', spec['loadBalancerClass'] ?? null, 'may not change once set')]
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
    if (hostname !== '') errors.push(...checkText(hostname, checkDnsSubdomain, childPath(at, 'hostname')))
    return errors
  })
}
