// Nodes: their taints, and what may not change once it is set.
import {
  asStruct,
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkLabelValue, checkQualifiedName } from '../../meta/object/names.js'
import { objectAt, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { parseQuantity, signOf } from '../../meta/values/quantity.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { checkOneOf, checkText, sameValue } from '../common/field-checks.js'
import { checkCidr, familyOf } from '../common/ip-rules.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'

export const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export const nodeValidation: Validation = {
  create: checkNode,
  // The reference server looks at the taints twice.
  update: (node, old) => [...checkNode(node), ...checkNodeUpdate(node, old)],
  status: (node, old) => checkNodeUpdate(node, old),
}

function checkNode(node: ValueObject): FieldError[] {
  const spec = objectAt(node, 'spec')
  return [
    ...checkMeta(node, { namespaced: false }),
    ...checkTaints(spec),
    ...checkQuantities(objectAt(node, 'status')),
    ...checkPodCidrs(spec),
  ]
}

/** Told as if taints stood in the metadata, where they once did. */
function checkTaints(spec: ValueObject): FieldError[] {
  const seen = new Set<string>()
  return objectsAt(spec, 'taints').flatMap((taint, i) => {
    const path = indexPath('metadata.taints', i)
    const key = stringAt(taint, 'key')
    const effect = stringAt(taint, 'effect')
    const errors = [
      checkText(key, checkQualifiedName, childPath(path, 'key')),
      checkTaintValue(stringAt(taint, 'value'), childPath(path, 'value')),
      checkOneOf(effect, TAINT_EFFECTS, childPath(path, 'effect'), { required: true }),
    ].flat()
    if (seen.has(`${effect} ${key}`)) {
      const shown: Value = {
        Key: key,
        Value: stringAt(taint, 'value'),
        Effect: effect,
        TimeAdded: taint['timeAdded'] ?? null,
      }
      errors.push(fieldDuplicate(path, asStruct(shown), 'taints must be unique by key and effect pair'))
    }
    seen.add(`${effect} ${key}`)
    return errors
  })
}

/** All that is wrong with a value is told at once. */
function checkTaintValue(value: string, path: string): FieldError[] {
  const errors = checkLabelValue(value)
  return errors.length === 0 ? [] : [fieldInvalid(path, value, errors.join(';'))]
}

function checkPodCidrs(spec: ValueObject): FieldError[] {
  const ranges = stringsAt(spec, 'podCIDRs')
  const path = 'spec.podCIDRs'
  const errors = ranges.flatMap((range, i) => checkCidr(range, indexPath(path, i)))
  const families = new Set(ranges.map(range => familyOf(range.split('/')[0] ?? '')))
  if (ranges.length > 1 && (families.size !== 2 || ranges.length > 2)) {
    errors.push(fieldInvalid(path, [...ranges], 'may specify no more than one CIDR for each IP family'))
  }
  ranges.forEach((range, i) => {
    if (ranges.indexOf(range) < i) errors.push(fieldDuplicate(indexPath(path, i), range))
  })
  return errors
}

function checkNodeUpdate(node: ValueObject, old: ValueObject): FieldError[] {
  const spec = objectAt(node, 'spec')
  const oldSpec = objectAt(old, 'spec')
  const status = objectAt(node, 'status')
  const errors = [...checkMetaUpdate(node, old), ...checkQuantities(status), ...checkAddresses(status)]
  if (stringsAt(oldSpec, 'podCIDRs').length > 0 && !sameValue(spec['podCIDRs'], oldSpec['podCIDRs'])) {
    errors.push(fieldForbidden('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'))
  }
  if (stringAt(oldSpec, 'providerID') !== '' && stringAt(spec, 'providerID') !== stringAt(oldSpec, 'providerID')) {
    errors.push(fieldForbidden('spec.providerID', 'node updates may not change providerID except from "" to valid'))
  }
  return [...errors, ...checkTaints(spec)]
}

function checkQuantities(status: ValueObject): FieldError[] {
  return ['capacity', 'allocatable'].flatMap(field => {
    const amounts = objectAt(status, field)
    return Object.keys(amounts).flatMap(name => {
      const amount = parseQuantity(stringAt(amounts, name))
      if (!amount.ok || signOf(amount.value) >= 0) return []
      return [fieldInvalid(`status.${field}.${name}`, stringAt(amounts, name), 'must be greater than or equal to 0')]
    })
  })
}

function checkAddresses(status: ValueObject): FieldError[] {
  const seen = new Set<string>()
  return objectsAt(status, 'addresses').flatMap((address, i) => {
    const shown = { Type: stringAt(address, 'type'), Address: stringAt(address, 'address') }
    const key = JSON.stringify(shown)
    if (seen.has(key)) return [fieldDuplicate(indexPath('status.addresses', i), asStruct(shown))]
    seen.add(key)
    return []
  })
}
