// Pods and the templates of pods.
import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  indexPath,
} from '../../../meta/errors/field-errors.js'
import { checkDnsLabel, checkDnsSubdomain, checkLabelValue, checkQualifiedName } from '../../../meta/object/names.js'
import { checkAnnotations } from '../../../meta/object/object-meta.js'
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
import { copyValue, equalValues, type ValueObject } from '../../../meta/values/value.js'
import { checkOneOf, checkText, sameValue } from '../../common/field-checks.js'
import { checkIp } from '../../common/ip-rules.js'
import { checkMeta, checkMetaUpdate } from '../../common/metadata.js'
import { type Validation } from '../../common/validation.js'
import { TAINT_EFFECTS } from '../node.js'
import { checkIds } from './container-security.js'
import { checkContainers, checkHostNetworkPorts } from './containers.js'
import { checkEphemeralContainers, checkOnlyAdded } from './ephemeral-containers.js'
import { checkResize } from './resize.js'
import { diffPodSpecs } from './spec-diff.js'
import { checkVolumes } from './volumes.js'

export const podValidation: Validation = {
  create: pod => {
    const spec = objectAt(pod, 'spec')
    const errors = checkPod(pod)
    if (objectsAt(spec, 'ephemeralContainers').length > 0) {
      errors.push(fieldForbidden('spec.ephemeralContainers', 'cannot be set on create'))
    }
    if (stringAt(spec, 'nodeName') !== '' && objectsAt(spec, 'schedulingGates').length > 0) {
      errors.push(fieldForbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'))
    }
    return errors
  },
  update: (pod, old) => [...checkPod(pod), ...checkMetaUpdate(pod, old), ...checkSpecChange(pod, old)],
  status: (pod, old) => [...checkMetaUpdate(pod, old), ...checkPodStatus(pod, old)],
  parts: {
    ephemeralcontainers: (pod, old) => [...checkPod(pod), ...checkMetaUpdate(pod, old), ...checkOnlyAdded(pod, old)],
    resize: (pod, old) => [...checkPod(pod), ...checkMetaUpdate(pod, old), ...checkResize(pod, old)],
  },
}

const checkPod = (pod: ValueObject): FieldError[] => [
  ...checkMeta(pod, { namespaced: true }),
  ...checkPodSpec(objectAt(pod, 'spec'), 'spec', true),
  ...checkTokenVolumes(objectAt(pod, 'spec')),
]

/** A token is that of an account. */
function checkTokenVolumes(spec: ValueObject): FieldError[] {
  if (stringAt(spec, 'serviceAccountName') !== '') return []
  return objectsAt(spec, 'volumes').flatMap((volume, i) =>
    objectsAt(objectAt(volume, 'projected'), 'sources').flatMap((source, j) => {
      if (!has(source, 'serviceAccountToken')) return []
      const path = `spec.volumes[${i}].projected.sources[${j}].serviceAccountToken`
      return [fieldForbidden(path, 'must not be specified when serviceAccountName is not set')]
    }),
  )
}

/** The template in the spec of a controller. */
export function checkPodTemplate(template: ValueObject, path: string): FieldError[] {
  const meta = objectAt(template, 'metadata')
  const spec = objectAt(template, 'spec')
  const errors = [
    ...checkLabels(mapAt(meta, 'labels'), childPath(path, 'labels')),
    ...checkAnnotations(mapAt(meta, 'annotations'), childPath(path, 'annotations')),
    ...checkPodSpec(spec, childPath(path, 'spec'), false),
  ]
  if (objectsAt(spec, 'ephemeralContainers').length > 0) {
    const why = 'ephemeral containers not allowed in pod template'
    errors.push(fieldForbidden(`${path}.spec.ephemeralContainers`, why))
  }
  return errors
}

const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']

function checkPodSpec(spec: ValueObject, path: string, ofPod: boolean): FieldError[] {
  const volumes = checkVolumes(spec, childPath(path, 'volumes'))
  const context = {
    volumes: volumes.names,
    gracePeriod: numberAt(spec, 'terminationGracePeriodSeconds'),
    ofPod,
  }
  const at = (field: string): string => childPath(path, field)
  const named = (field: string, rule: (name: string) => string[]): FieldError[] => {
    const name = stringAt(spec, field)
    return name === '' ? [] : checkText(name, rule, at(field))
  }
  return [
    ...volumes.errors,
    ...checkContainers(spec, context, path),
    ...checkEphemeralContainers(spec, context, path),
    ...checkHostNetworkPorts(spec, context, path),
    ...checkOneOf(stringAt(spec, 'restartPolicy'), ['Always', 'OnFailure', 'Never'], at('restartPolicy'), {
      required: true,
    }),
    ...checkOneOf(stringAt(spec, 'dnsPolicy'), DNS_POLICIES, at('dnsPolicy'), { required: true }),
    ...checkLabels(mapAt(spec, 'nodeSelector'), at('nodeSelector')),
    ...checkActiveDeadline(spec, at('activeDeadlineSeconds')),
    ...checkIds(objectAt(spec, 'securityContext'), ['runAsUser', 'runAsGroup', 'fsGroup'], at('securityContext')),
    ...named('serviceAccountName', checkDnsSubdomain),
    ...named('nodeName', checkDnsSubdomain),
    ...named('hostname', checkDnsLabel),
    ...named('subdomain', checkDnsLabel),
    ...named('priorityClassName', checkDnsSubdomain),
    ...checkTolerations(spec, at('tolerations')),
    ...checkSchedulingGates(spec, at('schedulingGates')),
    ...checkReadinessGates(spec, at('readinessGates')),
    ...checkHostAliases(spec, at('hostAliases')),
  ]
}

function checkActiveDeadline(spec: ValueObject, path: string): FieldError[] {
  const seconds = numberOrNone(spec, 'activeDeadlineSeconds')
  if (seconds === undefined || (seconds >= 1 && seconds < 2 ** 31)) return []
  return [fieldInvalid(path, seconds, 'must be between 1 and 2147483647, inclusive')]
}

export function checkTolerations(spec: ValueObject, path: string): FieldError[] {
  return objectsAt(spec, 'tolerations').flatMap((toleration, i) => {
    const at = indexPath(path, i)
    const key = stringAt(toleration, 'key')
    const operator = stringAt(toleration, 'operator')
    const value = stringAt(toleration, 'value')
    const effect = stringAt(toleration, 'effect')
    const errors = key === '' ? [] : checkText(key, checkQualifiedName, childPath(at, 'key'))
    if (key === '' && operator !== 'Exists') {
      const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
      errors.push(fieldInvalid(childPath(at, 'operator'), operator, why))
    }
    if (has(toleration, 'tolerationSeconds') && effect !== 'NoExecute') {
      const why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
      errors.push(fieldInvalid(childPath(at, 'effect'), effect, why))
    }
    if (operator === '' || operator === 'Equal') {
      const faults = checkLabelValue(value)
      if (faults.length > 0) errors.push(fieldInvalid(childPath(at, 'operator'), value, faults.join(';')))
    } else if (operator === 'Exists') {
      if (value !== '') {
        const why = "value must be empty when `operator` is 'Exists'"
        errors.push(fieldInvalid(childPath(at, 'operator'), value, why))
      }
    } else errors.push(fieldNotSupported(childPath(at, 'operator'), operator, ['Equal', 'Exists']))
    if (effect !== '') errors.push(...checkOneOf(effect, TAINT_EFFECTS, childPath(at, 'effect')))
    return errors
  })
}

function checkSchedulingGates(spec: ValueObject, path: string): FieldError[] {
  const seen = new Set<string>()
  return objectsAt(spec, 'schedulingGates').flatMap((gate, i) => {
    const name = stringAt(gate, 'name')
    const errors = checkText(name, checkQualifiedName, childPath(indexPath(path, i), 'name'))
    if (seen.has(name)) errors.push(fieldDuplicate(indexPath(path, i), name))
    seen.add(name)
    return errors
  })
}

const checkHostAliases = (spec: ValueObject, path: string): FieldError[] =>
  objectsAt(spec, 'hostAliases').flatMap((alias, i) => {
    const at = indexPath(path, i)
    const errors = checkIp(stringAt(alias, 'ip'), childPath(at, 'ip'))
    stringsAt(alias, 'hostnames').forEach((name, j) =>
      errors.push(...checkText(name, checkDnsSubdomain, indexPath(childPath(at, 'hostnames'), j))),
    )
    return errors
  })

const checkReadinessGates = (spec: ValueObject, path: string): FieldError[] =>
  objectsAt(spec, 'readinessGates').flatMap((gate, i) =>
    checkText(stringAt(gate, 'conditionType'), checkQualifiedName, childPath(indexPath(path, i), 'conditionType')),
  )

// ---- status

const SYSTEM_CONDITIONS = new Set(['PodScheduled', 'Ready', 'Initialized'])

function checkPodStatus(pod: ValueObject, old: ValueObject): FieldError[] {
  const status = objectAt(pod, 'status')
  // Told as if conditions stood in the metadata.
  const conditions = objectsAt(status, 'conditions').flatMap((condition, i) => {
    const type = stringAt(condition, 'type')
    return SYSTEM_CONDITIONS.has(type) ? [] : checkText(type, checkQualifiedName, `metadata.conditions[${i}].Type`)
  })
  const nominated = stringAt(status, 'nominatedNodeName')
  const node =
    nominated === '' || nominated === stringAt(objectAt(old, 'status'), 'nominatedNodeName')
      ? []
      : checkText(nominated, checkDnsSubdomain, 'status.nominatedNodeName')
  const addresses = ['podIPs', 'hostIPs'].flatMap(field =>
    objectsAt(status, field).flatMap((entry, i) => checkIp(stringAt(entry, 'ip'), indexPath(`status.${field}`, i))),
  )
  return [...conditions, ...node, ...checkStaysEnded(pod, old), ...addresses]
}

/** A container that is not to be restarted does not come back. */
function checkStaysEnded(pod: ValueObject, old: ValueObject): FieldError[] {
  const restart = stringAt(objectAt(old, 'spec'), 'restartPolicy')
  if (restart === 'Always') return []
  const now = objectsAt(objectAt(pod, 'status'), 'containerStatuses')
  return objectsAt(objectAt(old, 'status'), 'containerStatuses').flatMap((before, i) => {
    const ended = objectOrNone(objectAt(before, 'state'), 'terminated')
    if (ended === undefined || (restart === 'OnFailure' && numberAt(ended, 'exitCode') !== 0)) return []
    const same = now.find(status => stringAt(status, 'name') === stringAt(before, 'name'))
    if (same === undefined || has(objectAt(same, 'state'), 'terminated')) return []
    const why = 'may not be transitioned to non-terminated state'
    return [fieldForbidden(`status.containerStatuses[${i}].state`, why)]
  })
}

// ---- what may change

function checkSpecChange(pod: ValueObject, old: ValueObject): FieldError[] {
  const spec = objectAt(pod, 'spec')
  const oldSpec = objectAt(old, 'spec')
  const errors: FieldError[] = []
  for (const field of ['containers', 'initContainers']) {
    if (objectsAt(spec, field).length !== objectsAt(oldSpec, field).length) {
      errors.push(fieldForbidden(`spec.${field}`, 'pod updates may not add or remove containers'))
      return errors
    }
    errors.push(...checkImages(spec, field))
  }
  const deadline = checkDeadlineChange(spec, oldSpec)
  errors.push(...deadline)
  if (deadline.length > 0 && has(spec, 'activeDeadlineSeconds')) return errors
  errors.push(...checkTolerationsKept(spec, oldSpec), ...checkGatesOnlyGo(spec, oldSpec))
  const rest = withoutChangeable(spec, oldSpec)
  if (!equalValues(rest, oldSpec)) {
    errors.push(fieldForbidden('spec', WHAT_MAY_CHANGE + diffPodSpecs(oldSpec, rest)))
  }
  return errors
}

/** The image may change, and is looked at once more for it. */
const checkImages = (spec: ValueObject, field: string): FieldError[] =>
  objectsAt(spec, field).flatMap((container, i) => {
    const image = stringAt(container, 'image')
    const path = childPath(indexPath(`spec.${field}`, i), 'image')
    if (image === '') return [fieldRequired(path)]
    return image === image.trim() ? [] : [fieldInvalid(path, image, 'must not have leading or trailing whitespace')]
  })

const WHAT_MAY_CHANGE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,' +
  '`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),' +
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n'

/** The new spec with what may change as it was. */
function withoutChangeable(spec: ValueObject, oldSpec: ValueObject): ValueObject {
  const kept = copyValue(spec)
  for (const field of ['containers', 'initContainers']) {
    objectsAt(kept, field).forEach((container, i) => restore(container, objectsAt(oldSpec, field)[i] ?? {}, 'image'))
  }
  const gated = objectsAt(oldSpec, 'schedulingGates').length > 0
  const fields = ['activeDeadlineSeconds', 'tolerations', 'schedulingGates']
  // What decides where a pod goes can still be narrowed while it waits for its gates.
  if (gated) fields.push('nodeSelector', 'affinity')
  if (numberAt(oldSpec, 'terminationGracePeriodSeconds') < 0 && numberAt(spec, 'terminationGracePeriodSeconds') === 1) {
    fields.push('terminationGracePeriodSeconds')
  }
  for (const field of fields) restore(kept, oldSpec, field)
  return kept
}

function restore(object: ValueObject, old: ValueObject, field: string): void {
  if (has(old, field)) object[field] = old[field]!
  else delete object[field]
}

function checkDeadlineChange(spec: ValueObject, oldSpec: ValueObject): FieldError[] {
  const path = 'spec.activeDeadlineSeconds'
  const before = numberOrNone(oldSpec, 'activeDeadlineSeconds')
  const now = numberOrNone(spec, 'activeDeadlineSeconds')
  if (before === undefined) return []
  if (now === undefined) return [fieldInvalid(path, null, 'must not update from a positive integer to nil value')]
  return now > before ? [fieldInvalid(path, now, 'must be less than or equal to previous value')] : []
}

function checkTolerationsKept(spec: ValueObject, oldSpec: ValueObject): FieldError[] {
  const without = (toleration: ValueObject): ValueObject => ({ ...toleration, tolerationSeconds: null })
  const now = objectsAt(spec, 'tolerations').map(without)
  const lost = objectsAt(oldSpec, 'tolerations').some(
    old => !now.some(toleration => sameValue(toleration, without(old))),
  )
  if (!lost) return checkTolerations(spec, 'spec.tolerations')
  const why = 'existing toleration can not be modified except its tolerationSeconds'
  return [fieldForbidden('spec.tolerations', why)]
}

function checkGatesOnlyGo(spec: ValueObject, oldSpec: ValueObject): FieldError[] {
  const before = new Set(objectsAt(oldSpec, 'schedulingGates').map(gate => stringAt(gate, 'name')))
  return objectsAt(spec, 'schedulingGates').flatMap((gate, i) => {
    const name = stringAt(gate, 'name')
    if (before.has(name)) return []
    const why = `only deletion is allowed, but found new scheduling gate '${name}'`
    return [fieldForbidden(`spec.schedulingGates[${i}].name`, why)]
  })
}
