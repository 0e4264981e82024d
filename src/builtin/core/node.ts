// Node.
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
import { has, mapAt, objectAt, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { parseQuantity, signOf } from '../../meta/values/quantity.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { checkOneOf, checkText, sameValue } from '../common/field-checks.js'
import { checkCidr, familyOf } from '../common/ip-rules.js'
import { cidrWarnings } from '../common/ip-warnings.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, checkUpdate, type Rule } from '../common/rules.js'
import { booleanField, selectableFields } from '../common/selectable-fields.js'
import { inTurn, keepGeneration, keepSpec, keepStatus } from '../common/strategies.js'
import { ageOf, NONE, nameOf, type TableRow, UNKNOWN } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'

/** The effects of taints, in the order of messages. */
export const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

// ---- defaults

function defaults(node: ValueObject): void {
  const status = objectAt(node, 'status')
  if (has(status, 'capacity') && !has(status, 'allocatable')) {
    status['allocatable'] = { ...objectAt(status, 'capacity') }
  }
  syncPodCidrs(objectAt(node, 'spec'))
}

/** `podCIDR` is the first of `podCIDRs`: a client may write either. */
function syncPodCidrs(spec: ValueObject): void {
  const one = stringAt(spec, 'podCIDR')
  const all = spec['podCIDRs']
  const first = Array.isArray(all) ? all[0] : undefined
  if (one !== '' && first !== one) spec['podCIDRs'] = [one]
  else if (one === '' && typeof first === 'string') spec['podCIDR'] = first
}

// ---- validation

/** Messages name the taints by a path in the metadata, as kube-apiserver's do. */
function checkTaints(node: ValueObject): FieldError[] {
  const seen = new Set<string>()
  return objectsAt(objectAt(node, 'spec'), 'taints').flatMap((taint, i) => {
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

/** All messages about a value form one error. */
function checkTaintValue(value: string, path: string): FieldError[] {
  const errors = checkLabelValue(value)
  return errors.length === 0 ? [] : [fieldInvalid(path, value, errors.join(';'))]
}

function checkPodCidrs(node: ValueObject): FieldError[] {
  const ranges = stringsAt(objectAt(node, 'spec'), 'podCIDRs')
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

const podCidrsAreKept = checkUpdate((node, old) => {
  const [spec, oldSpec] = [objectAt(node, 'spec'), objectAt(old, 'spec')]
  if (stringsAt(oldSpec, 'podCIDRs').length === 0 || sameValue(spec['podCIDRs'], oldSpec['podCIDRs'])) return []
  return [fieldForbidden('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid')]
})

const providerIsKept = checkUpdate((node, old) => {
  const before = stringAt(objectAt(old, 'spec'), 'providerID')
  if (before === '' || stringAt(objectAt(node, 'spec'), 'providerID') === before) return []
  return [fieldForbidden('spec.providerID', 'node updates may not change providerID except from "" to valid')]
})

function checkQuantities(node: ValueObject): FieldError[] {
  return ['capacity', 'allocatable'].flatMap(field => {
    const amounts = objectAt(objectAt(node, 'status'), field)
    return Object.keys(amounts).flatMap(name => {
      const amount = parseQuantity(stringAt(amounts, name))
      if (!amount.ok || signOf(amount.value) >= 0) return []
      return [fieldInvalid(`status.${field}.${name}`, stringAt(amounts, name), 'must be greater than or equal to 0')]
    })
  })
}

function checkAddresses(node: ValueObject): FieldError[] {
  const seen = new Set<string>()
  return objectsAt(objectAt(node, 'status'), 'addresses').flatMap((address, i) => {
    const shown = { Type: stringAt(address, 'type'), Address: stringAt(address, 'address') }
    const key = JSON.stringify(shown)
    if (seen.has(key)) return [fieldDuplicate(indexPath('status.addresses', i), asStruct(shown))]
    seen.add(key)
    return []
  })
}

// ---- Table

const ROLE_LABEL = 'node-role.kubernetes.io/'

const row: TableRow = (node, now) => {
  const status = objectAt(node, 'status')
  const info = objectAt(status, 'nodeInfo')
  const addressOf = (type: string): string => {
    const found = objectsAt(status, 'addresses').find(address => stringAt(address, 'type') === type)
    return found === undefined ? NONE : stringAt(found, 'address')
  }
  const ready = objectsAt(status, 'conditions').find(condition => stringAt(condition, 'type') === 'Ready')
  const states = [ready === undefined ? 'Unknown' : stringAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady']
  if (objectAt(node, 'spec')['unschedulable'] === true) states.push('SchedulingDisabled')
  return [
    nameOf(node),
    states.join(','),
    rolesOf(node),
    ageOf(node, now),
    stringAt(info, 'kubeletVersion'),
    addressOf('InternalIP'),
    addressOf('ExternalIP'),
    stringAt(info, 'osImage') || UNKNOWN,
    stringAt(info, 'kernelVersion') || UNKNOWN,
    stringAt(info, 'containerRuntimeVersion') || UNKNOWN,
  ]
}

function rolesOf(node: ValueObject): string {
  const labels = mapAt(objectAt(node, 'metadata'), 'labels')
  const roles = Object.keys(labels).flatMap(key => {
    if (key.startsWith(ROLE_LABEL)) return [key.slice(ROLE_LABEL.length)]
    return key === 'kubernetes.io/role' ? [labels[key]!] : []
  })
  const named = [...new Set(roles.filter(role => role !== ''))].toSorted()
  return named.length === 0 ? NONE : named.join(',')
}

const updateRules: readonly Rule[] = [
  metadataUpdate,
  check(checkQuantities),
  check(checkAddresses),
  podCidrsAreKept,
  providerIsKept,
  check(checkTaints),
]

const rules: readonly Rule[] = [
  metadata({ namespaced: false }),
  check(checkTaints),
  check(checkQuantities),
  check(checkPodCidrs),
]

export const node = defineKind('v1', 'Node', {
  defaults,
  strategy: {
    prepareForUpdate: inTurn(keepGeneration, keepStatus),
    prepareForStatusUpdate: inTurn(keepGeneration, keepSpec),
  },
  validation: validationRules({
    create: rules,
    // kube-apiserver checks the taints twice, so each error about them comes twice.
    update: [...rules, ...updateRules],
    status: updateRules,
  }),
  warnings: object => {
    const spec = objectAt(object, 'spec')
    return [
      ...(has(spec, 'configSource') ? ['spec.configSource: the feature is removed'] : []),
      ...(stringAt(spec, 'externalID') === ''
        ? []
        : ['spec.externalID: this field is deprecated, and is unused by Kubernetes']),
      ...stringsAt(spec, 'podCIDRs').flatMap((range, i) => cidrWarnings(range, indexPath('spec.podCIDRs', i))),
    ]
  },
  table: row,
  selectableFields: selectableFields(
    { 'spec.unschedulable': booleanField('spec', 'unschedulable') },
    { namespaced: false },
  ),
  keyPrefix: '/minions/',
})
