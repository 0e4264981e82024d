// Warnings about pods and pod templates that are accepted.
import { childPath, indexPath, keyPath } from '../../../meta/errors/field-errors.js'
import { quote } from '../../../meta/go/go-text.js'
import { checkDnsLabel } from '../../../meta/object/names.js'
import {
  has,
  mapAt,
  numberAt,
  numberOrNone,
  objectAt,
  objectsAt,
  stringAt,
  stringsAt,
} from '../../../meta/values/access.js'
import { printQuantity } from '../../../meta/values/quantity.js'
import type { ValueObject } from '../../../meta/values/value.js'
import type { Warnings } from '../../common/define-kind.js'
import { ipWarnings } from '../../common/ip-warnings.js'
import { same } from '../../common/strategies.js'
import { claimSpecWarnings } from '../persistent-volume-claim.js'
import { allContainers, type ContainerAt } from './containers/all-containers.js'
import { amountOf, isInteger } from './containers/container-resources.js'
import { deprecatedLabel, deprecatedLabelWarnings } from './spec/node-labels.js'
import { APP_ARMOR, CONTAINER_SECCOMP, POD_SECCOMP } from './spec/pod-annotations.js'
import { absentAffinitySelectors } from './spec/scheduling.js'
import { overlappingPathWarnings } from './spec/volume-paths.js'

/** Updates of pods come mostly from controllers and are frequent: they get no warnings. */
export const podWarnings: Warnings = (pod, old) =>
  old === undefined ? [...nameWarnings(pod, "the Pod's hostname"), ...specAndMetaWarnings(pod, '')] : []

/**
 * For kinds with a template. `isNamed`: the names of the pods start with that of the object. Nothing is said about an
 * update that leaves the field in which the template is as it was.
 */
export function templateWarnings(path: string, { isNamed = false } = {}): Warnings {
  const members = path.split('.')
  return (object, old) => {
    if (old !== undefined && same(object, old, members[0]!)) return []
    const name = isNamed && old === undefined ? nameWarnings(object, 'Pod names and hostnames') : []
    return [...name, ...specAndMetaWarnings(members.reduce(objectAt, object), path)]
  }
}

function nameWarnings(object: ValueObject, use: string): string[] {
  const errors = checkDnsLabel(stringAt(objectAt(object, 'metadata'), 'name'))
  if (errors.length === 0) return []
  const why = `this is used in ${use}, which can result in surprising behavior; a DNS label is recommended`
  return [`metadata.name: ${why}: [${errors.join(' ')}]`]
}

/** Warnings about a pod (`path` is empty) or a template, in the order of kube-apiserver. */
function specAndMetaWarnings(pod: ValueObject, path: string): string[] {
  const spec = objectAt(pod, 'spec')
  const at = childPath(path, 'spec')
  const annotations = mapAt(objectAt(pod, 'metadata'), 'annotations')
  const annotationsPath = childPath(path, 'metadata.annotations')
  const containers = allContainers(spec, at)
  return [
    ...nodeLabelWarnings(spec, at),
    ...annotationWarnings(annotations, annotationsPath),
    ...volumeWarnings(spec, at),
    ...overlappingPathWarnings(spec),
    ...duplicateWarnings(spec, 'hostAliases', 'ip', at),
    ...duplicateWarnings(spec, 'imagePullSecrets', 'name', at),
    ...emptySecretNames(spec, at),
    ...byteWarnings(objectAt(spec, 'overhead'), childPath(at, 'overhead')),
    ...seccompWarnings(objectAt(spec, 'securityContext'), annotations, POD_SECCOMP, annotationsPath),
    ...containers.flatMap(({ container, path: own }) => [
      ...seccompWarnings(
        objectAt(container, 'securityContext'),
        annotations,
        CONTAINER_SECCOMP + stringAt(container, 'name'),
        annotationsPath,
      ),
      ...(path === '' ? [] : appArmorWarnings(container, spec, annotations, annotationsPath)),
      ...resourceWarnings(container, own),
      ...environmentWarnings(container, childPath(own, 'env')),
    ]),
    ...portWarnings(containers),
    ...portNameWarnings(containers),
    ...((numberOrNone(spec, 'terminationGracePeriodSeconds') ?? 0) < 0
      ? [`${at}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
    ...absentAffinitySelectors(spec, at).map(
      selector => `${selector}: a null labelSelector results in matching no pod`,
    ),
    ...stringsAt(objectAt(spec, 'dnsConfig'), 'nameservers').flatMap((server, i) =>
      ipWarnings(server, indexPath(`${at}.dnsConfig.nameservers`, i)),
    ),
    ...objectsAt(spec, 'hostAliases').flatMap((alias, i) =>
      ipWarnings(stringAt(alias, 'ip'), `${indexPath(`${at}.hostAliases`, i)}.ip`),
    ),
  ]
}

// ---- nodes

function nodeLabelWarnings(spec: ValueObject, path: string): string[] {
  const affinity = objectAt(objectAt(spec, 'affinity'), 'nodeAffinity')
  const affinityPath = `${path}.affinity.nodeAffinity`
  const required = 'requiredDuringSchedulingIgnoredDuringExecution'
  const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'
  return [
    ...Object.keys(mapAt(spec, 'nodeSelector')).flatMap(label => {
      const message = deprecatedLabel(label)
      return message === undefined ? [] : [`${keyPath(childPath(path, 'nodeSelector'), label)}: ${message}`]
    }),
    ...objectsAt(objectAt(affinity, required), 'nodeSelectorTerms').flatMap((term, i) =>
      deprecatedLabelWarnings(term, `${affinityPath}.${required}.nodeSelectorTerms[${i}]`),
    ),
    ...objectsAt(affinity, preferred).flatMap((term, i) =>
      deprecatedLabelWarnings(objectAt(term, 'preference'), `${affinityPath}.${preferred}[${i}].preference`, {
        checkValues: true,
      }),
    ),
    ...objectsAt(spec, 'topologySpreadConstraints').flatMap((constraint, i) => {
      const key = stringAt(constraint, 'topologyKey')
      const message = deprecatedLabel(key)
      const at = indexPath(childPath(path, 'topologySpreadConstraints'), i)
      const found = message === undefined ? [] : [`${at}.topologyKey: ${key} is ${message}`]
      if (!has(constraint, 'labelSelector')) {
        found.push(`${at}.labelSelector: a null labelSelector results in matching no pod`)
      }
      return found
    }),
  ]
}

// ---- annotations

const DEPRECATED_ANNOTATIONS: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/critical-pod': 'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
}

const annotationWarnings = (annotations: Readonly<Record<string, string>>, path: string): string[] =>
  Object.keys(DEPRECATED_ANNOTATIONS)
    .filter(key => Object.hasOwn(annotations, key))
    .map(key => `${keyPath(path, key)}: ${DEPRECATED_ANNOTATIONS[key]}`)

function seccompWarnings(
  context: ValueObject,
  annotations: Readonly<Record<string, string>>,
  key: string,
  path: string,
): string[] {
  if (has(context, 'seccompProfile') || !Object.hasOwn(annotations, key)) return []
  return [`${keyPath(path, key)}: non-functional in v1.27+; use the "seccompProfile" field instead`]
}

/** The annotation of a template is fine if it says the same as the field of the pod. */
function appArmorWarnings(
  container: ValueObject,
  spec: ValueObject,
  annotations: Readonly<Record<string, string>>,
  path: string,
): string[] {
  const key = APP_ARMOR + stringAt(container, 'name')
  if (!Object.hasOwn(annotations, key) || has(objectAt(container, 'securityContext'), 'appArmorProfile')) return []
  const profile = objectAt(objectAt(spec, 'securityContext'), 'appArmorProfile')
  if (annotationOfProfile(profile) === annotations[key]) return []
  return [`${keyPath(path, key)}: deprecated since v1.30; use the "appArmorProfile" field instead`]
}

const annotationOfProfile = (profile: ValueObject): string | undefined => {
  switch (stringAt(profile, 'type')) {
    case 'RuntimeDefault':
      return 'runtime/default'
    case 'Unconfined':
      return 'unconfined'
    case 'Localhost':
      return `localhost/${stringAt(profile, 'localhostProfile')}`
    default:
      return undefined
  }
}

// ---- volumes

/** Sources that are deprecated or gone, by field; messages spell `storageos` in another way. */
const DEPRECATED_VOLUMES: Readonly<Record<string, string>> = {
  photonPersistentDisk: 'photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+',
  gitRepo: 'gitRepo: deprecated in v1.11, and disabled by default in v1.33+',
  scaleIO: 'scaleIO: deprecated in v1.16, non-functional in v1.22+',
  flocker: 'flocker: deprecated in v1.22, non-functional in v1.25+',
  storageos: 'storageOS: deprecated in v1.22, non-functional in v1.25+',
  quobyte: 'quobyte: deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'glusterfs: deprecated in v1.25, non-functional in v1.26+',
  cephfs: 'cephfs: deprecated in v1.28, non-functional in v1.31+',
  rbd: 'rbd: deprecated in v1.28, non-functional in v1.31+',
}

const volumeWarnings = (spec: ValueObject, path: string): string[] =>
  objectsAt(spec, 'volumes').flatMap((volume, i) => {
    const at = indexPath(childPath(path, 'volumes'), i)
    const claim = objectAt(objectAt(volume, 'ephemeral'), 'volumeClaimTemplate')
    return Object.keys(DEPRECATED_VOLUMES)
      .filter(source => has(volume, source))
      .map(source => `${at}.${DEPRECATED_VOLUMES[source]}`)
      .concat(claimSpecWarnings(objectAt(claim, 'spec'), `${at}.ephemeral.volumeClaimTemplate.spec`))
  })

// ---- lists

/** Items of a list with a value that an earlier item has. */
function duplicateWarnings(spec: ValueObject, list: string, field: string, path: string): string[] {
  const seen = new Set<string>()
  return objectsAt(spec, list).flatMap((item, i) => {
    const value = stringAt(item, field)
    if (seen.has(value)) return [`${indexPath(childPath(path, list), i)}.${field}: duplicate ${field} ${quote(value)}`]
    seen.add(value)
    return []
  })
}

const emptySecretNames = (spec: ValueObject, path: string): string[] =>
  objectsAt(spec, 'imagePullSecrets').flatMap((secret, i) =>
    stringAt(secret, 'name') === ''
      ? [`${indexPath(childPath(path, 'imagePullSecrets'), i)}.name: invalid empty name ""`]
      : [],
  )

// ---- containers

/** Amounts of bytes must be integers. */
const byteWarnings = (amounts: ValueObject, path: string): string[] =>
  ['memory', 'ephemeral-storage'].flatMap(name => byteWarning(amounts, name, path))

function byteWarning(amounts: ValueObject, name: string, path: string): string[] {
  const amount = amountOf(amounts, name)
  if (amount === undefined || isInteger(amount)) return []
  const why = `fractional byte value ${quote(printQuantity(amount))} is invalid, must be an integer`
  return [`${keyPath(path, name)}: ${why}`]
}

const resourceWarnings = (container: ValueObject, path: string): string[] => {
  const resources = objectAt(container, 'resources')
  return ['memory', 'ephemeral-storage'].flatMap(name =>
    ['limits', 'requests'].flatMap(list => byteWarning(objectAt(resources, list), name, `${path}.resources.${list}`)),
  )
}

function environmentWarnings(container: ValueObject, path: string): string[] {
  const seen = new Set<string>()
  return objectsAt(container, 'env').flatMap((entry, i) => {
    const name = stringAt(entry, 'name')
    if (!seen.has(name)) {
      seen.add(name)
      return []
    }
    const value = stringAt(entry, 'value')
    const reference = `$(${name})`
    // A value that refers to the earlier one, and adds to it, needs both.
    if (!has(entry, 'valueFrom') && value !== reference && value.includes(reference)) return []
    const why = `hides previous definition of ${quote(name)}, which may be dropped when using apply`
    return [`${indexPath(path, i)}: ${why}`]
  })
}

// ---- ports of all containers

interface PortAt {
  readonly at: string
  readonly hostIp: string
  readonly hostPort: number
}

/** Pairs of ports are compared until there are so many warnings; the response has no room for more. */
const MAX_PORT_WARNINGS = 100
/** So many pairs are compared: every port is compared with all before it. */
const MAX_PAIRS = 100_000

function portWarnings(containers: readonly ContainerAt[]): string[] {
  const seen = new Map<string, PortAt[]>()
  const found: string[] = []
  let pairs = 0
  for (const { container, path: at } of containers) {
    for (const [i, port] of objectsAt(container, 'ports').entries()) {
      const own: PortAt = {
        at: indexPath(childPath(at, 'ports'), i),
        hostIp: stringAt(port, 'hostIP'),
        hostPort: numberAt(port, 'hostPort'),
      }
      const key = `${numberAt(port, 'containerPort')}/${stringAt(port, 'protocol')}`
      const others = seen.get(key) ?? []
      found.push(...hostIpWarnings(port, own))
      for (const other of others) {
        if (found.length >= MAX_PORT_WARNINGS || ++pairs > MAX_PAIRS) return found
        found.push(...compareWithPort(own, other))
      }
      if (others.length === 0) seen.set(key, [own])
      else others.push(own)
    }
  }
  return found
}

function hostIpWarnings(port: ValueObject, { at, hostIp, hostPort }: PortAt): string[] {
  if (hostIp === '' || hostPort !== 0) return []
  const fields = [
    `Name:${stringAt(port, 'name')}`,
    `HostPort:${hostPort}`,
    `ContainerPort:${numberAt(port, 'containerPort')}`,
    `Protocol:${stringAt(port, 'protocol')}`,
    `HostIP:${hostIp}`,
  ]
  return [`${at}: hostIP set without hostPort: {${fields.join(' ')}}`]
}

function compareWithPort(own: PortAt, other: PortAt): string[] {
  if (own.hostIp === other.hostIp && own.hostPort === other.hostPort) {
    return [`${own.at}: duplicate port definition with ${other.at}`]
  }
  if (own.hostPort === 0 || other.hostPort === 0) return [`${own.at}: overlapping port definition with ${other.at}`]
  const isAmbiguous = own.hostPort === other.hostPort && (own.hostIp === '') !== (other.hostIp === '')
  return isAmbiguous ? [`${own.at}: dangerously ambiguous port definition with ${other.at}`] : []
}

function portNameWarnings(containers: readonly ContainerAt[]): string[] {
  const seen = new Map<string, string>()
  return containers.flatMap(({ container, path: at }) =>
    objectsAt(container, 'ports').flatMap((port, i) => {
      const name = stringAt(port, 'name')
      const own = indexPath(childPath(at, 'ports'), i)
      const other = seen.get(name)
      if (name === '') return []
      if (other === undefined) {
        seen.set(name, own)
        return []
      }
      const use = `services and probes that select ports by name will use ${other}`
      return [`${own}: duplicate port name ${quote(name)} with ${other}, ${use}`]
    }),
  )
}
