// Ephemeral containers: added to a running pod for debugging, and never changed or removed.

import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldNotFound,
  indexPath,
} from '../../../../meta/errors/field-errors.js'
import { has, objectAt, objectsAt, stringAt } from '../../../../meta/values/access.js'
import { firstByKey } from '../../../../meta/values/list-keys.js'
import { equalValues, type ValueObject } from '../../../../meta/values/value.js'
import { MIRROR } from '../spec/pod-annotations.js'
import { diffSpecs } from '../spec/spec-diff.js'
import { checkContainer, type PodContext } from './containers.js'

/** Fields that ephemeral containers cannot have. */
const FORBIDDEN_FIELDS = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
]
const NOT_SET = 'cannot be set for an Ephemeral Container'

export function checkEphemeralContainers(spec: ValueObject, context: PodContext, path: string): FieldError[] {
  const others = [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')]
  const targets = new Set(others.map(container => stringAt(container, 'name')))
  const names = new Set(targets)
  return objectsAt(spec, 'ephemeralContainers').flatMap((container, i) => {
    const at = indexPath(childPath(path, 'ephemeralContainers'), i)
    const errors = checkContainer(container, context, at)
    const name = stringAt(container, 'name')
    if (names.has(name)) errors.push(fieldDuplicate(childPath(at, 'name'), name))
    names.add(name)
    const target = stringAt(container, 'targetContainerName')
    if (target !== '' && !targets.has(target)) errors.push(fieldNotFound(childPath(at, 'targetContainerName'), target))
    for (const field of FORBIDDEN_FIELDS) {
      if (isSet(container, field)) errors.push(fieldForbidden(childPath(at, field), NOT_SET))
    }
    objectsAt(container, 'volumeMounts').forEach((mount, j) => {
      for (const field of ['subPath', 'subPathExpr']) {
        if (stringAt(mount, field) !== '') errors.push(fieldForbidden(`${at}.volumeMounts[${j}].${field}`, NOT_SET))
      }
    })
    return errors
  })
}

const isSet = (container: ValueObject, field: string): boolean =>
  field === 'resources' ? Object.keys(objectAt(container, field)).length > 0 : has(container, field)

const PATH = 'spec.ephemeralContainers'

export function checkOnlyAdded(pod: ValueObject, old: ValueObject): FieldError[] {
  if (has(objectAt(objectAt(old, 'metadata'), 'annotations'), MIRROR)) {
    return [fieldForbidden('', 'static pods do not support ephemeral containers')]
  }
  const now = firstByKey(objectsAt(objectAt(pod, 'spec'), 'ephemeralContainers'), each => stringAt(each, 'name'))
  return objectsAt(objectAt(old, 'spec'), 'ephemeralContainers').flatMap(before => {
    const name = stringAt(before, 'name')
    const same = now.get(name)
    if (!same) return [fieldForbidden(PATH, `existing ephemeral containers "${name}" may not be removed\n`)]
    if (equalValues(same, before)) return []
    const diff = diffSpecs('core/v1.EphemeralContainer', before, same)
    return [fieldForbidden(PATH, `existing ephemeral containers "${name}" may not be changed\n${diff}`)]
  })
}
