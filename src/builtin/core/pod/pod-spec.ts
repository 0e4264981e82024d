// Pods and the templates of pods.
import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
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
  objectsAt,
  stringAt,
  stringsAt,
} from '../../../meta/values/access.js'
import { type ValueObject } from '../../../meta/values/value.js'
import { checkOneOf, checkText } from '../../common/field-checks.js'
import { checkIp } from '../../common/ip-rules.js'
import { TAINT_EFFECTS } from '../node.js'
import { checkIds } from './container-security.js'
import { checkContainers, checkHostNetworkPorts } from './containers.js'
import { checkEphemeralContainers } from './ephemeral-containers.js'
import { checkVolumes } from './volumes.js'

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

export function checkPodSpec(spec: ValueObject, path: string, ofPod: boolean): FieldError[] {
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
