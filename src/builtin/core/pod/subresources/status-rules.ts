// The rules for writes to the status of a pod.
import {
  asTypedText,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInternal,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  indexPath,
} from '../../../../meta/errors/field-errors.js'
import { checkDnsLabel, checkDnsSubdomain, checkQualifiedName } from '../../../../meta/object/names.js'
import { has, numberAt, objectAt, objectOrNone, objectsAt, stringAt } from '../../../../meta/values/access.js'
import { firstByKey, repeatsOf } from '../../../../meta/values/list-keys.js'
import { getOwn, type ValueObject } from '../../../../meta/values/value.js'
import { checkText } from '../../../common/field-checks.js'
import { asGoField } from '../../../common/go-struct.js'
import { checkIp, familyOf } from '../../../common/ip-rules.js'
import { ipWarnings } from '../../../common/ip-warnings.js'

const STATUS_LISTS = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const
const CONTAINER_LISTS = { containerStatuses: 'containers', initContainerStatuses: 'initContainers' } as const

export function checkPodStatus(pod: ValueObject, old: ValueObject): FieldError[] {
  const [status, before, spec] = [objectAt(pod, 'status'), objectAt(old, 'status'), objectAt(old, 'spec')]
  return [
    ...objectsAt(status, 'conditions').flatMap((condition, i) => checkCondition(condition, `status.conditions[${i}]`)),
    ...checkNominatedNode(status, before, spec),
    ...checkGeneration(status, 'status'),
    ...(stringAt(status, 'qosClass') === stringAt(before, 'qosClass')
      ? []
      : [fieldInvalid('status.qosClass', asTypedText(stringAt(status, 'qosClass')), 'field is immutable')]),
    ...STATUS_LISTS.flatMap(list => checkStaysEnded(status, before, spec, list)),
    ...checkClaims(status, spec),
    ...checkExtendedClaim(objectOrNone(status, 'extendedResourceClaimStatus'), spec),
    ...checkAddresses(status, before, 'podIPs'),
    ...checkHostIp(status),
    ...checkAddresses(status, before, 'hostIPs'),
    ...STATUS_LISTS.flatMap(list => checkUsers(status, list, stringAt(objectAt(spec, 'os'), 'name'))),
    ...STATUS_LISTS.flatMap(list => checkAllocatedResources(status, list, spec)),
  ]
}

/** Addresses that are valid but not in their canonical form. */
export const podStatusWarnings = (pod: ValueObject): string[] =>
  ['podIPs', 'hostIPs'].flatMap(list =>
    objectsAt(objectAt(pod, 'status'), list).flatMap((entry, i) =>
      ipWarnings(stringAt(entry, 'ip'), `status.${list}[${i}].ip`),
    ),
  )

// ---- conditions and nodes

const SYSTEM_CONDITIONS = new Set(['PodScheduled', 'Ready', 'Initialized'])

function checkCondition(condition: ValueObject, path: string): FieldError[] {
  const type = stringAt(condition, 'type')
  const errors = checkGeneration(condition, path)
  return SYSTEM_CONDITIONS.has(type) ? errors : [...errors, ...checkText(type, checkQualifiedName, `${path}.Type`)]
}

function checkGeneration(holder: ValueObject, path: string): FieldError[] {
  const generation = numberAt(holder, 'observedGeneration')
  if (generation >= 0) return []
  return [fieldInvalid(`${path}.observedGeneration`, generation, 'must be a non-negative integer')]
}

/** While it is off, a nominated node means nothing for bound pods. */
const CLEARING = 'ClearingNominatedNodeNameAfterBinding'

function checkNominatedNode(status: ValueObject, before: ValueObject, spec: ValueObject): FieldError[] {
  const [node, path] = [stringAt(status, 'nominatedNodeName'), 'status.nominatedNodeName']
  if (node === '' || node === stringAt(before, 'nominatedNodeName')) return []
  const isBound = stringAt(spec, 'nodeName') !== ''
  return [
    ...checkText(node, checkDnsSubdomain, path),
    ...(isBound
      ? [{ ...fieldForbidden(path, 'may not be set on pods that are already bound to a node'), gate: CLEARING }]
      : []),
  ]
}

// ---- containers

const nameOf = (holder: ValueObject): string => stringAt(holder, 'name')

/** A container that has ended, and is not restarted, stays ended. */
function checkStaysEnded(
  status: ValueObject,
  before: ValueObject,
  spec: ValueObject,
  list: (typeof STATUS_LISTS)[number],
): FieldError[] {
  const now = firstByKey(objectsAt(status, list), nameOf)
  const isEphemeral = list === 'ephemeralContainerStatuses'
  if (!isEphemeral && restartsAll(spec)) return []
  const containers = isEphemeral ? new Map() : firstByKey(objectsAt(spec, CONTAINER_LISTS[list]), nameOf)
  return objectsAt(before, list).flatMap((was, i) => {
    const ended = objectOrNone(objectAt(was, 'state'), 'terminated')
    const same = now.get(nameOf(was))
    if (ended === undefined || same === undefined || has(objectAt(same, 'state'), 'terminated')) return []
    const container: ValueObject | undefined = containers.get(nameOf(was))
    if (container && mayRestart(container, spec, numberAt(ended, 'exitCode'))) return []
    return [fieldForbidden(`status.${list}[${i}].state`, 'may not be transitioned to non-terminated state')]
  })
}

const restartsAll = (spec: ValueObject): boolean =>
  [...objectsAt(spec, 'initContainers'), ...objectsAt(spec, 'containers')].some(container =>
    objectsAt(container, 'restartPolicyRules').some(rule => stringAt(rule, 'action') === 'RestartAllContainers'),
  )

/** By the rules of the container, its policy, or that of the pod. */
function mayRestart(container: ValueObject, spec: ValueObject, exitCode: number): boolean {
  const matches = (rule: ValueObject): boolean => {
    const codes = objectAt(rule, 'exitCodes')
    const values = getOwn(codes, 'values')
    const isIn = Array.isArray(values) && values.some(value => Number(value) === exitCode)
    return stringAt(codes, 'operator') === 'NotIn' ? !isIn : isIn
  }
  const rule = objectsAt(container, 'restartPolicyRules').find(matches)
  if (rule && stringAt(rule, 'action') === 'Restart') return true
  const policy = stringAt(container, 'restartPolicy') || stringAt(spec, 'restartPolicy')
  return policy === 'OnFailure' ? exitCode !== 0 : policy !== 'Never'
}

const MAX_ID = 2_147_483_647

function checkUsers(status: ValueObject, list: string, os: string): FieldError[] {
  return objectsAt(status, list).flatMap((each, i) => {
    const linux = objectOrNone(objectAt(each, 'user'), 'linux')
    return linux === undefined ? [] : checkUser(linux, os, `status.${list}[${i}].user.linux`)
  })
}

function checkUser(user: ValueObject, os: string, path: string): FieldError[] {
  if (os === 'windows') return [fieldForbidden(path, 'cannot be set for a windows pod')]
  const groups = getOwn(user, 'supplementalGroups')
  return [
    ...checkId(numberAt(user, 'uid'), `${path}.uid`),
    ...checkId(numberAt(user, 'gid'), `${path}.gid`),
    ...(Array.isArray(groups) ? groups : []).flatMap((id, g) =>
      checkId(Number(id), `${path}.supplementalGroups[${g}]`),
    ),
  ]
}

const checkId = (id: number, path: string): FieldError[] =>
  id >= 0 && id <= MAX_ID ? [] : [fieldInvalid(path, id, `must be between 0 and ${MAX_ID}, inclusive`)]

// ---- resources of containers

const HEALTH = ['Healthy', 'Unhealthy', 'Unknown']
const MAX_HEALTH_MESSAGE = 1024
const NO_CLAIM =
  "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"

function checkAllocatedResources(
  status: ValueObject,
  list: (typeof STATUS_LISTS)[number],
  spec: ValueObject,
): FieldError[] {
  const field = 'allocatedResourcesStatus'
  if (list === 'ephemeralContainerStatuses') {
    return objectsAt(status, list).flatMap((each, i) =>
      objectsAt(each, field).length > 0
        ? [fieldForbidden(`status.${list}[${i}].${field}`, 'must not be specified in container status')]
        : [],
    )
  }
  const containers = firstByKey(objectsAt(spec, CONTAINER_LISTS[list]), nameOf)
  return objectsAt(status, list).flatMap((each, i) => {
    const container = containers.get(nameOf(each))
    const isRequested = container && requestedBy(objectAt(container, 'resources'))
    return objectsAt(each, field).flatMap((allocated, j) =>
      checkAllocated(allocated, isRequested, `status.${list}[${i}].${field}[${j}]`),
    )
  })
}

/** A status of a container that the pod does not have is not compared with its requests. */
const checkAllocated = (
  allocated: ValueObject,
  isRequested: ((name: string) => boolean) | undefined,
  path: string,
): FieldError[] => [
  ...(isRequested ? checkResource(nameOf(allocated), isRequested, path) : []),
  ...checkHealth(allocated, path),
]

const isClaim = (name: string): boolean => name.startsWith('claim:')

/** Whether a container requests a resource or has a claim. */
function requestedBy(resources: ValueObject): (name: string) => boolean {
  const requests = objectAt(resources, 'requests')
  const claims = objectsAt(resources, 'claims').map(claim => {
    const request = stringAt(claim, 'request')
    return `claim:${nameOf(claim)}${request === '' ? '' : `/${request}`}`
  })
  const known = new Set(claims)
  return name => (isClaim(name) ? known.has(name) : has(requests, name))
}

function checkResource(name: string, isRequested: (name: string) => boolean, path: string): FieldError[] {
  if (isRequested(name)) return []
  const why = isClaim(name) ? NO_CLAIM : "must match one of the container's resource requests"
  return [fieldInvalid(`${path}.name`, name, why)]
}

function checkHealth(allocated: ValueObject, path: string): FieldError[] {
  const resources = objectsAt(allocated, 'resources')
  const repeats = repeatsOf(resources.map(resource => stringAt(resource, 'resourceID')))
  return resources.flatMap((resource, k) => checkResourceHealth(resource, repeats.has(k), `${path}.resources[${k}]`))
}

function checkResourceHealth(resource: ValueObject, isRepeated: boolean, path: string): FieldError[] {
  const [health, message] = [stringAt(resource, 'health'), stringAt(resource, 'message')]
  const errors: FieldError[] = []
  if (!HEALTH.includes(health)) errors.push(fieldNotSupported(`${path}.health`, health, HEALTH))
  if (has(resource, 'message') && message === '') {
    errors.push(fieldRequired(`${path}.message`, 'must be non-empty if specified'))
  }
  if (Buffer.byteLength(message) > MAX_HEALTH_MESSAGE) errors.push(fieldTooLong(`${path}.message`, MAX_HEALTH_MESSAGE))
  if (isRepeated) errors.push(fieldDuplicate(`${path}.resourceID`, stringAt(resource, 'resourceID')))
  return errors
}

// ---- claims

function checkClaims(status: ValueObject, spec: ValueObject): FieldError[] {
  const claims = new Set(objectsAt(spec, 'resourceClaims').map(nameOf))
  const entries = objectsAt(status, 'resourceClaimStatuses')
  const repeats = repeatsOf(entries.map(nameOf))
  const errors: FieldError[] = []
  for (const [i, entry] of entries.entries()) {
    const [path, name] = [`status.resourceClaimStatuses[${i}]`, nameOf(entry)]
    const claim = stringAt(entry, 'resourceClaimName')
    if (!claims.has(name)) {
      errors.push(fieldInvalid(`${path}.name`, name, 'must match the name of an entry in `spec.resourceClaims`'))
    }
    if (repeats.has(i)) errors.push(fieldDuplicate(`${path}.name`, name))
    if (has(entry, 'resourceClaimName'))
      errors.push(...checkText(claim, checkDnsSubdomain, `${path}.resourceClaimName`))
  }
  return errors
}

const NO_CONTAINER = 'must match the name of an entry in spec.initContainers.name or spec.containers.name'
const NO_REQUEST =
  'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests'

/** The claim that was made for resources which containers name like ordinary ones. */
function checkExtendedClaim(claim: ValueObject | undefined, spec: ValueObject): FieldError[] {
  if (claim === undefined) return []
  const path = 'status.extendedResourceClaimStatus'
  const mappings = objectsAt(claim, 'requestMappings')
  const containers = firstByKey([...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')], nameOf)
  const keys = ['containerName', 'resourceName', 'requestName']
  const repeats = repeatsOf(mappings.map(mapping => JSON.stringify(keys.map(key => stringAt(mapping, key)))))
  const errors: FieldError[] = []
  if (mappings.length === 0) {
    errors.push(fieldRequired(`${path}.requestMappings`, 'at least one request mapping is required'))
  }
  for (const [i, mapping] of mappings.entries()) {
    const at = indexPath(`${path}.requestMappings`, i)
    errors.push(...checkMapping(mapping, containers, at))
    // kube-apiserver's errors have no index here.
    errors.push(...checkText(stringAt(mapping, 'requestName'), checkDnsLabel, `${path}.requestName`))
    if (repeats.has(i)) errors.push(...keys.map(key => fieldDuplicate(`${at}.${key}`, stringAt(mapping, key))))
  }
  const name = stringAt(claim, 'resourceClaimName')
  if (name === '') return [...errors, fieldRequired(`${path}.resourceClaimName`)]
  return [...errors, ...checkText(name, checkDnsSubdomain, `${path}.resourceClaimName`)]
}

function checkMapping(mapping: ValueObject, containers: ReadonlyMap<string, ValueObject>, path: string): FieldError[] {
  const [container, resource] = [stringAt(mapping, 'containerName'), stringAt(mapping, 'resourceName')]
  const found = containers.get(container)
  if (found === undefined) return [fieldInvalid(`${path}.containerName`, container, NO_CONTAINER)]
  const isRequested = has(objectAt(objectAt(found, 'resources'), 'requests'), resource)
  return isRequested ? [] : [fieldInvalid(`${path}.resourceName`, resource, NO_REQUEST)]
}

// ---- addresses

function checkHostIp(status: ValueObject): FieldError[] {
  const [first] = objectsAt(status, 'hostIPs')
  if (first === undefined || stringAt(first, 'ip') === stringAt(status, 'hostIP')) return []
  return [fieldInvalid('status.hostIPs[0].ip', stringAt(first, 'ip'), 'must be equal to `hostIP`')]
}

/** Valid addresses, at most one of each family. Addresses that are stored already stay valid. */
function checkAddresses(status: ValueObject, before: ValueObject, list: string): FieldError[] {
  const path = `status.${list}`
  const stored = new Set(objectsAt(before, list).map(entry => stringAt(entry, 'ip')))
  const addresses = objectsAt(status, list).map(entry => stringAt(entry, 'ip'))
  const errors = addresses.flatMap((ip, i) => (stored.has(ip) ? [] : checkIp(ip, indexPath(path, i))))
  if (addresses.length < 2) return errors
  const invalid = addresses.find(ip => familyOf(ip) === undefined)
  if (invalid !== undefined) {
    const why = `failed to check for dual stack with error:invalid IP: ${invalid}`
    errors.push(fieldInternal(path, why))
  }
  const families = new Set(addresses.map(familyOf))
  if (invalid !== undefined || families.size !== 2 || addresses.length > 2) {
    const shown = asGoField('core/v1.PodStatus', status, list)
    errors.push(fieldInvalid(path, shown, 'may specify no more than one IP for each IP family'))
  }
  return errors
}
