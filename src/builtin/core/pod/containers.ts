// The containers of a pod: names and images, ports, environment, mounts, probes, resources.
import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotFound,
  fieldNotSupported,
  fieldRequired,
  indexPath,
} from '../../../meta/errors/field-errors.js'
import { checkConfigKey, checkDnsLabel, checkDnsSubdomain, checkPortName } from '../../../meta/object/names.js'
import {
  has,
  numberAt,
  numberOrNone,
  objectAt,
  objectOrNone,
  objectsAt,
  stringAt,
  stringsAt,
} from '../../../meta/values/access.js'
import type { ValueObject } from '../../../meta/values/value.js'
import { checkNotNegative, checkOneOf, checkPortNumber, checkText } from '../../common/field-checks.js'
import { PROTOCOLS } from '../endpoints.js'
import { checkResources } from './container-resources.js'
import { checkSecurityContext } from './container-security.js'

/** What containers are checked against: the rest of their pod. */
export interface PodContext {
  /** Names of volumes that can be mounted. */
  readonly volumes: ReadonlySet<string>
  /** Seconds that a pod has to end; hooks may not wait longer. */
  readonly gracePeriod: number
  /** False for the template of a pod, of which less is asked. */
  readonly ofPod: boolean
}

/** All containers that a pod starts with. Names are unique among them. */
export function checkContainers(spec: ValueObject, context: PodContext, path: string): FieldError[] {
  const containers = objectsAt(spec, 'containers')
  const at = childPath(path, 'containers')
  const names = new Set<string>()
  const errors: FieldError[] = []
  if (containers.length === 0) errors.push(fieldRequired(at))
  containers.forEach((container, i) => {
    const own = indexPath(at, i)
    errors.push(...checkContainer(container, context, own), ...checkUniqueName(container, names, own))
    errors.push(...checkProbes(container, own), ...checkLifecycle(container, context, own))
  })
  errors.push(...checkHostPorts(containers, at))
  objectsAt(spec, 'initContainers').forEach((container, i) => {
    const own = indexPath(childPath(path, 'initContainers'), i)
    errors.push(...checkContainer(container, context, own), ...checkUniqueName(container, names, own))
    errors.push(...checkInitContainer(container, context, own))
  })
  return errors
}

function checkUniqueName(container: ValueObject, names: Set<string>, path: string): FieldError[] {
  const name = stringAt(container, 'name')
  if (name === '') return []
  if (names.has(name)) return [fieldDuplicate(childPath(path, 'name'), name)]
  names.add(name)
  return []
}

/** What all kinds of container have in common. */
export function checkContainer(container: ValueObject, context: PodContext, path: string): FieldError[] {
  const name = stringAt(container, 'name')
  const image = stringAt(container, 'image')
  const errors: FieldError[] = []
  if (name === '') errors.push(fieldRequired(childPath(path, 'name')))
  else errors.push(...checkText(name, checkDnsLabel, childPath(path, 'name')))
  if (image === '') errors.push(fieldRequired(childPath(path, 'image')))
  else if (context.ofPod && image !== image.trim()) {
    errors.push(fieldInvalid(childPath(path, 'image'), image, 'must not have leading or trailing whitespace'))
  }
  const oneOf = (field: string, supported: readonly string[]): FieldError[] =>
    checkOneOf(stringAt(container, field), supported, childPath(path, field), { required: true })
  return [
    ...errors,
    ...oneOf('terminationMessagePolicy', ['File', 'FallbackToLogsOnError']),
    ...oneOf('imagePullPolicy', ['Always', 'IfNotPresent', 'Never']),
    ...checkPorts(container, path),
    ...checkEnvironment(container, path),
    ...checkMounts(container, context, path),
    ...checkResources(objectAt(container, 'resources'), childPath(path, 'resources')),
    ...checkSecurityContext(objectOrNone(container, 'securityContext'), childPath(path, 'securityContext')),
  ]
}

function checkInitContainer(container: ValueObject, context: PodContext, path: string): FieldError[] {
  const policy = stringAt(container, 'restartPolicy')
  const supported = ['Always', 'Never', 'OnFailure']
  const errors = has(container, 'restartPolicy') ? checkOneOf(policy, supported, childPath(path, 'restartPolicy')) : []
  // One that goes on beside the containers is like them.
  if (policy === 'Always')
    return [...errors, ...checkProbes(container, path), ...checkLifecycle(container, context, path)]
  for (const field of ['lifecycle', ...PROBES]) {
    if (has(container, field)) {
      const why = 'may not be set for init containers without restartPolicy=Always'
      errors.push(fieldForbidden(childPath(path, field), why))
    }
  }
  return errors
}

// ---- ports

function checkPorts(container: ValueObject, path: string): FieldError[] {
  const names = new Set<string>()
  return objectsAt(container, 'ports').flatMap((port, i) => {
    const at = indexPath(childPath(path, 'ports'), i)
    const errors: FieldError[] = []
    const name = stringAt(port, 'name')
    if (name !== '') {
      const faults = checkText(name, checkPortName, childPath(at, 'name'))
      if (faults.length > 0) errors.push(...faults)
      else if (names.has(name)) errors.push(fieldDuplicate(childPath(at, 'name'), name))
      else names.add(name)
    }
    const number = numberAt(port, 'containerPort')
    const hostPort = numberAt(port, 'hostPort')
    if (number === 0) errors.push(fieldRequired(childPath(at, 'containerPort')))
    else errors.push(...checkPortNumber(number, childPath(at, 'containerPort')))
    if (hostPort !== 0) errors.push(...checkPortNumber(hostPort, childPath(at, 'hostPort')))
    errors.push(...checkOneOf(stringAt(port, 'protocol'), PROTOCOLS, childPath(at, 'protocol'), { required: true }))
    return errors
  })
}

/** A port of the node can be used once. */
function checkHostPorts(containers: readonly ValueObject[], path: string): FieldError[] {
  const taken = new Set<string>()
  return containers.flatMap((container, i) =>
    objectsAt(container, 'ports').flatMap((port, j) => {
      const hostPort = numberAt(port, 'hostPort')
      if (hostPort === 0) return []
      const key = `${stringAt(port, 'protocol')}/${stringAt(port, 'hostIP')}/${hostPort}`
      if (taken.has(key)) return [fieldDuplicate(`${indexPath(path, i)}.ports[${j}].hostPort`, key)]
      taken.add(key)
      return []
    }),
  )
}

/**
 * On the network of the node a container listens on the node's port itself. A template may leave that port open: it is
 * filled in when a pod is made of it.
 */
export function checkHostNetworkPorts(spec: ValueObject, { ofPod }: PodContext, path: string): FieldError[] {
  if (spec['hostNetwork'] !== true) return []
  return objectsAt(spec, 'containers').flatMap((container, i) =>
    objectsAt(container, 'ports').flatMap((port, j) => {
      const hostPort = numberAt(port, 'hostPort')
      if (hostPort === numberAt(port, 'containerPort') || (hostPort === 0 && !ofPod)) return []
      const why = 'must match `containerPort` when `hostNetwork` is true'
      return [fieldInvalid(`${path}.containers[${i}].ports[${j}].hostPort`, hostPort, why)]
    }),
  )
}

// ---- environment

const SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef']

function checkEnvironment(container: ValueObject, path: string): FieldError[] {
  const entries = objectsAt(container, 'env').flatMap((entry, i) => {
    const at = indexPath(childPath(path, 'env'), i)
    const name = stringAt(entry, 'name')
    const errors =
      name === '' ? [fieldRequired(childPath(at, 'name'))] : checkEnvironmentName(name, childPath(at, 'name'))
    errors.push(...checkValueFrom(entry, childPath(at, 'valueFrom')))
    return errors
  })
  const sources = objectsAt(container, 'envFrom').flatMap((source, i) =>
    checkEnvironmentSource(source, childPath(path, 'envFrom'), i),
  )
  return [...entries, ...sources]
}

function checkEnvironmentName(name: string, path: string): FieldError[] {
  const why = "a valid environment variable name must consist only of printable ASCII characters other than '='"
  return /^[ -<>-~]+$/.test(name) ? [] : [fieldInvalid(path, name, why)]
}

/** How many sources there are is told of the list, without saying of which. */
function checkEnvironmentSource(source: ValueObject, listPath: string, index: number): FieldError[] {
  const path = indexPath(listPath, index)
  const given = ['configMapRef', 'secretRef'].filter(field => has(source, field))
  const errors = given.flatMap(field =>
    stringAt(objectAt(source, field), 'name') === '' ? [fieldRequired(`${path}.${field}.name`)] : [],
  )
  const prefix = stringAt(source, 'prefix')
  if (prefix !== '') errors.push(...checkEnvironmentName(prefix, childPath(path, 'prefix')))
  if (given.length === 0) {
    errors.push(fieldInvalid(listPath, '', 'must specify one of: `configMapRef` or `secretRef`'))
  }
  if (given.length > 1) {
    errors.push(fieldInvalid(listPath, '', 'may not have more than one field specified at a time'))
  }
  return errors
}

function checkValueFrom(entry: ValueObject, path: string): FieldError[] {
  const from = objectOrNone(entry, 'valueFrom')
  if (from === undefined) return []
  const given = SOURCES.filter(field => has(from, field))
  const errors: FieldError[] = []
  if (given.length === 0) {
    const all = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
    errors.push(fieldInvalid(path, '', `must specify one of: ${all}`))
  } else if (stringAt(entry, 'value') !== '') {
    errors.push(fieldInvalid(path, '', 'may not be specified when `value` is not empty'))
  } else if (given.length > 1) {
    errors.push(fieldInvalid(path, '', 'may not have more than one field specified at a time'))
  }
  const field = objectOrNone(from, 'fieldRef')
  if (field !== undefined) errors.push(...checkFieldRef(field, ENVIRONMENT_FIELDS, childPath(path, 'fieldRef')))
  for (const source of ['configMapKeyRef', 'secretKeyRef']) {
    const ref = objectOrNone(from, source)
    if (ref !== undefined) errors.push(...checkKeyRef(ref, childPath(path, source)))
  }
  const resource = objectOrNone(from, 'resourceFieldRef')
  if (resource !== undefined) errors.push(...checkResourceRef(resource, childPath(path, 'resourceFieldRef')))
  return errors
}

function checkKeyRef(ref: ValueObject, path: string): FieldError[] {
  const errors = checkText(stringAt(ref, 'name'), checkDnsSubdomain, childPath(path, 'name'))
  const key = stringAt(ref, 'key')
  if (key === '') return [...errors, fieldRequired(childPath(path, 'key'))]
  return [...errors, ...checkText(key, checkConfigKey, childPath(path, 'key'))]
}

function checkResourceRef(ref: ValueObject, path: string): FieldError[] {
  const resource = stringAt(ref, 'resource')
  if (resource === '') return [fieldRequired(childPath(path, 'resource'))]
  if (RESOURCE_FIELDS.includes(resource) || /^(limits|requests)\.hugepages-/.test(resource)) return []
  return [fieldNotSupported(childPath(path, 'resource'), resource, RESOURCE_FIELDS)]
}

const RESOURCE_FIELDS = ['limits', 'requests'].flatMap(list =>
  ['cpu', 'ephemeral-storage', 'memory'].map(name => `${list}.${name}`),
)

/** Fields of a pod that have a name in the downward API. */
const POD_FIELDS: ReadonlySet<string> = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
])

const ENVIRONMENT_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]

export const VOLUME_FIELDS = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
]

export function checkFieldRef(ref: ValueObject, supported: readonly string[], path: string): FieldError[] {
  const field = stringAt(ref, 'fieldPath')
  const at = childPath(path, 'fieldPath')
  if (stringAt(ref, 'apiVersion') === '') return [fieldRequired(childPath(path, 'apiVersion'))]
  if (field === '') return [fieldRequired(at)]
  if (/^metadata\.(annotations|labels)\['[^']*'\]$/.test(field)) return []
  if (!POD_FIELDS.has(field)) {
    return [fieldInvalid(at, field, `error converting fieldPath: field label not supported: ${field}`)]
  }
  return supported.includes(field) ? [] : [fieldNotSupported(at, field, supported)]
}

// ---- mounts

function checkMounts(container: ValueObject, { volumes }: PodContext, path: string): FieldError[] {
  const paths = new Set<string>()
  return objectsAt(container, 'volumeMounts').flatMap((mount, i) => {
    const at = indexPath(childPath(path, 'volumeMounts'), i)
    const errors: FieldError[] = []
    const name = stringAt(mount, 'name')
    if (name === '') errors.push(fieldRequired(childPath(at, 'name')))
    if (!volumes.has(name)) errors.push(fieldNotFound(childPath(at, 'name'), name))
    const mountPath = stringAt(mount, 'mountPath')
    if (mountPath === '') errors.push(fieldRequired(childPath(at, 'mountPath')))
    if (paths.has(mountPath)) errors.push(fieldInvalid(childPath(at, 'mountPath'), mountPath, 'must be unique'))
    paths.add(mountPath)
    const subPath = stringAt(mount, 'subPath')
    // Told of the list, without saying of which mount.
    if (subPath !== '') errors.push(...checkRelativePath(subPath, `${path}.volumeMounts.subPath`))
    return errors
  })
}

/** A path below another. */
export function checkRelativePath(text: string, path: string): FieldError[] {
  const errors = text.startsWith('/') ? [fieldInvalid(path, text, 'must be a relative path')] : []
  if (text.split('/').includes('..')) errors.push(fieldInvalid(path, text, "must not contain '..'"))
  return errors
}

// ---- probes and hooks

const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe']

function checkProbes(container: ValueObject, path: string): FieldError[] {
  return PROBES.flatMap(name => {
    const probe = objectOrNone(container, name)
    if (probe === undefined) return []
    const at = childPath(path, name)
    const counts = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold']
    const errors = checkHandler(probe, ['exec', 'httpGet', 'tcpSocket', 'grpc'], at)
    for (const field of counts) errors.push(...checkNotNegative(numberAt(probe, field), childPath(at, field)))
    if (name !== 'readinessProbe' && numberAt(probe, 'successThreshold') !== 1) {
      errors.push(fieldInvalid(childPath(at, 'successThreshold'), numberAt(probe, 'successThreshold'), 'must be 1'))
    }
    errors.push(...checkProbeGrace(probe, name, childPath(at, 'terminationGracePeriodSeconds')))
    return errors
  })
}

function checkProbeGrace(probe: ValueObject, name: string, path: string): FieldError[] {
  const seconds = numberOrNone(probe, 'terminationGracePeriodSeconds')
  if (seconds === undefined) return []
  const errors = seconds <= 0 ? [fieldInvalid(path, seconds, 'must be greater than 0')] : []
  // A pod that is not ready is not ended for it.
  if (name === 'readinessProbe') errors.push(fieldInvalid(path, seconds, 'must not be set for readinessProbes'))
  return errors
}

function checkLifecycle(container: ValueObject, { gracePeriod }: PodContext, path: string): FieldError[] {
  const lifecycle = objectAt(container, 'lifecycle')
  return ['postStart', 'preStop'].flatMap(name => {
    const hook = objectOrNone(lifecycle, name)
    if (hook === undefined) return []
    const at = `${path}.lifecycle.${name}`
    const errors = checkHandler(hook, ['exec', 'httpGet', 'tcpSocket', 'sleep'], at)
    const seconds = numberOrNone(objectAt(hook, 'sleep'), 'seconds')
    if (seconds !== undefined && (seconds < 0 || seconds > gracePeriod)) {
      const why = `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`
      errors.push(fieldInvalid(childPath(at, 'sleep'), seconds, why))
    }
    return errors
  })
}

function checkHandler(handler: ValueObject, kinds: readonly string[], path: string): FieldError[] {
  const given = kinds.filter(kind => has(handler, kind))
  if (given.length === 0) return [fieldRequired(path, 'must specify a handler type')]
  return given.flatMap((kind, i) =>
    i > 0
      ? [fieldForbidden(childPath(path, kind), 'may not specify more than 1 handler type')]
      : checkHandlerOf(kind, objectAt(handler, kind), childPath(path, kind)),
  )
}

function checkHandlerOf(kind: string, handler: ValueObject, path: string): FieldError[] {
  switch (kind) {
    case 'exec':
      return stringsAt(handler, 'command').length === 0 ? [fieldRequired(childPath(path, 'command'))] : []
    case 'httpGet': {
      const errors = stringAt(handler, 'path') === '' ? [fieldRequired(childPath(path, 'path'))] : []
      errors.push(...checkPortNumberOrName(handler, path))
      return [...errors, ...checkOneOf(stringAt(handler, 'scheme'), ['HTTP', 'HTTPS'], childPath(path, 'scheme'))]
    }
    case 'tcpSocket':
      return checkPortNumberOrName(handler, path)
    case 'grpc':
      return checkPortNumber(numberAt(handler, 'port'), childPath(path, 'port'))
    default:
      return []
  }
}

function checkPortNumberOrName(handler: ValueObject, path: string): FieldError[] {
  const port = handler['port'] ?? 0
  const at = childPath(path, 'port')
  return typeof port === 'string' ? checkText(port, checkPortName, at) : checkPortNumber(Number(port), at)
}
