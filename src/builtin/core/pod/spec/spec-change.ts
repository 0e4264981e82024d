// What may change in the spec of a pod: images, a shorter deadline, more tolerations, fewer scheduling gates.
import {
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  indexPath,
  Printed,
} from '../../../../meta/errors/field-errors.js'
import {
  has,
  mapAt,
  numberAt,
  numberOrNone,
  objectAt,
  objectOrNone,
  objectsAt,
  stringAt,
} from '../../../../meta/values/access.js'
import { asGiven } from '../../../../meta/values/given-empty.js'
import { copyValue, equalValues, type ValueObject } from '../../../../meta/values/value.js'
import { sameValue } from '../../../common/field-checks.js'
import { asGoStruct } from '../../../common/go-struct.js'
import { checkTolerations } from './scheduling.js'
import { diffPodSpecs } from './spec-diff.js'

export function checkSpecChange(pod: ValueObject, old: ValueObject): FieldError[] {
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
  if (isGated(oldSpec)) errors.push(...checkOnlyNarrowed(spec, oldSpec))
  const rest = withoutChangeable(spec, oldSpec)
  if (!equalValues(rest, oldSpec)) {
    errors.push(fieldForbidden('spec', WHAT_MAY_CHANGE + diffPodSpecs(oldSpec, rest)))
  }
  return errors
}

/** Images may change, so they are checked once more. */
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

/** The new spec with the old value of each field that may change. */
function withoutChangeable(spec: ValueObject, oldSpec: ValueObject): ValueObject {
  const kept = copyValue(spec)
  for (const field of ['containers', 'initContainers']) {
    objectsAt(kept, field).forEach((container, i) => restore(container, objectsAt(oldSpec, field)[i] ?? {}, 'image'))
  }
  const fields = ['activeDeadlineSeconds', 'tolerations', 'schedulingGates']
  // While a pod is gated, its node selector and node affinity may be narrowed.
  if (isGated(oldSpec)) {
    fields.push('nodeSelector')
    restoreNodeAffinity(kept, oldSpec)
  }
  if (numberAt(oldSpec, 'terminationGracePeriodSeconds') < 0 && numberAt(spec, 'terminationGracePeriodSeconds') === 1) {
    fields.push('terminationGracePeriodSeconds')
  }
  for (const field of fields) restore(kept, oldSpec, field)
  return kept
}

const isGated = (spec: ValueObject): boolean => objectsAt(spec, 'schedulingGates').length > 0

const nodeAffinityOf = (spec: ValueObject): ValueObject | undefined =>
  objectOrNone(objectAt(spec, 'affinity'), 'nodeAffinity')

function restoreNodeAffinity(spec: ValueObject, oldSpec: ValueObject): void {
  const before = nodeAffinityOf(oldSpec)
  if (sameValue(nodeAffinityOf(spec), before)) return
  const { nodeAffinity: _, ...others } = objectAt(spec, 'affinity')
  const isEmpty = before === undefined && Object.keys(others).length === 0
  if (isEmpty && !has(oldSpec, 'affinity')) delete spec['affinity']
  else spec['affinity'] = { ...(before !== undefined && { nodeAffinity: before }), ...others }
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'

/** What decides about the node of a gated pod may only get stricter. */
function checkOnlyNarrowed(spec: ValueObject, oldSpec: ValueObject): FieldError[] {
  const selector = mapAt(spec, 'nodeSelector')
  const before = mapAt(oldSpec, 'nodeSelector')
  const errors: FieldError[] = []
  if (Object.keys(before).some(key => selector[key] !== before[key])) {
    const why = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)'
    errors.push(fieldInvalid('spec.nodeSelector', asGiven(spec, 'nodeSelector'), why))
  }
  const selectorOf = (of: ValueObject): ValueObject => objectAt(nodeAffinityOf(of) ?? {}, REQUIRED)
  const termsOf = (of: ValueObject): readonly ValueObject[] => objectsAt(selectorOf(of), 'nodeSelectorTerms')
  const [terms, oldTerms] = [termsOf(spec), termsOf(oldSpec)]
  const path = `spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms`
  const shown = (term: ValueObject): Printed => asGoStruct('core/v1.NodeSelectorTerm', term)
  if (oldTerms.length > 0 && oldTerms.length !== terms.length) {
    const all = Printed.of(terms, each => `[${each.map(term => shown(term).text).join(',')}]`)
    return [
      ...errors,
      fieldInvalid(
        path,
        terms.length === 0 ? asGiven(selectorOf(spec), 'nodeSelectorTerms') : all,
        'no additions/deletions to non-empty NodeSelectorTerms list are allowed',
      ),
    ]
  }
  for (const [i, old] of oldTerms.entries()) {
    if (!hasOnlyAdditions(terms[i]!, old)) {
      const why = 'only additions are allowed (no mutations or deletions)'
      errors.push(fieldInvalid(indexPath(path, i), shown(terms[i]!), why))
    }
  }
  return errors
}

/** An empty term matches no node, so that an addition to it would widen the selection. */
function hasOnlyAdditions(term: ValueObject, old: ValueObject): boolean {
  const lists = ['matchExpressions', 'matchFields']
  if (lists.every(list => objectsAt(old, list).length === 0)) {
    return lists.every(list => objectsAt(term, list).length === 0)
  }
  return lists.every(list => {
    const before = objectsAt(old, list)
    return equalValues(objectsAt(term, list).slice(0, before.length), [...before])
  })
}

function restore(object: ValueObject, old: ValueObject, field: string): void {
  if (has(old, field)) object[field] = old[field]!
  else delete object[field]
}

function checkDeadlineChange(spec: ValueObject, oldSpec: ValueObject): FieldError[] {
  const path = 'spec.activeDeadlineSeconds'
  const before = numberOrNone(oldSpec, 'activeDeadlineSeconds')
  const now = numberOrNone(spec, 'activeDeadlineSeconds')
  if (now !== undefined && (now < 0 || now >= 2 ** 31)) {
    return [fieldInvalid(path, now, 'must be between 0 and 2147483647, inclusive')]
  }
  if (before === undefined) return []
  if (now === undefined) return [fieldInvalid(path, null, 'must not update from a positive integer to nil value')]
  return now > before ? [fieldInvalid(path, now, 'must be less than or equal to previous value')] : []
}

function checkTolerationsKept(spec: ValueObject, oldSpec: ValueObject): FieldError[] {
  const idOf = (toleration: ValueObject): string =>
    ['key', 'operator', 'value', 'effect'].map(field => stringAt(toleration, field)).join('\0')
  const now = new Set(objectsAt(spec, 'tolerations').map(idOf))
  const isKept = objectsAt(oldSpec, 'tolerations').every(old => now.has(idOf(old)))
  if (isKept) return checkTolerations(spec, 'spec.tolerations')
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
