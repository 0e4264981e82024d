// Node.
import { decodeJson } from '../../codec/json.js'
import {
  asStruct,
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInternal,
  fieldInvalid,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { compareTexts, jsonTypeOf, quote } from '../../meta/go/go-text.js'
import { checkLabelValue, checkQualifiedName } from '../../meta/object/names.js'
import { has, mapAt, objectAt, objectOrNone, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { parseQuantity, signOf } from '../../meta/values/quantity.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { checkOneOf, checkText, sameValue } from '../common/field-checks.js'
import { checkCidr, familyOf, parseCidr } from '../common/ip-rules.js'
import { cidrWarnings } from '../common/ip-warnings.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, checkUpdate, type Rule } from '../common/rules.js'
import { booleanField, selectableFields } from '../common/selectable-fields.js'
import { inTurn, keepGeneration, keepSpec, keepStatus, type PrepareForUpdate } from '../common/strategies.js'
import { ageOf, NONE, nameOf, type TableRow, UNKNOWN } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { decodeAnnotatedList, TAINT } from './annotation-json.js'
import { isInteger, isIntegerResource } from './pod/containers/container-resources.js'

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

// ---- strategy

/** Configuration of the kubelet through the API was removed from Kubernetes; nodes that have it may keep it. */
function dropDynamicConfig(node: ValueObject): void {
  delete objectAt(node, 'spec')['configSource']
  delete objectAt(node, 'status')['config']
}

const dropNewConfigSource: PrepareForUpdate = (node, old) => {
  if (!has(objectAt(old, 'spec'), 'configSource')) delete objectAt(node, 'spec')['configSource']
}

const dropNewConfigStatus: PrepareForUpdate = (node, old) => {
  if (!has(objectAt(old, 'status'), 'config')) delete objectAt(node, 'status')['config']
}

// ---- validation

/** Messages name the taints by a path in the metadata, as kube-apiserver's do. */
function checkTaints(taints: readonly ValueObject[], list: string): FieldError[] {
  const seen = new Set<string>()
  return taints.flatMap((taint, i) => {
    const path = indexPath(list, i)
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
  // kube-apiserver looks at the families of several only if it can read all of them.
  const unreadable = ranges.length > 1 ? ranges.findIndex(range => parseCidr(range) === undefined) : -1
  if (unreadable >= 0) {
    const why = `invalid CIDR[${unreadable}]: <nil> (invalid CIDR address: ${ranges[unreadable]!})`
    errors.push(fieldInternal(path, `invalid PodCIDRs. failed to check with dual stack with error:${why}`))
  }
  const families = new Set(ranges.map(range => familyOf(range.split('/')[0] ?? '')))
  if (ranges.length > 1 && (unreadable >= 0 || families.size !== 2 || ranges.length > 2)) {
    errors.push(fieldInvalid(path, [...ranges], 'may specify no more than one CIDR for each IP family'))
  }
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

const externalIdIsKept = checkUpdate((node, old) => {
  const idOf = (object: ValueObject): string => stringAt(objectAt(object, 'spec'), 'externalID')
  return idOf(node) === idOf(old) ? [] : [fieldForbidden('spec.externalID', 'may not be updated')]
})

const FEATURE_NAME = /^[A-Z][A-Za-z0-9]*(\/[A-Za-z0-9]+)*$/

/** The features that a node declares, in alphabetical order. */
function checkDeclaredFeatures(node: ValueObject): FieldError[] {
  const features = stringsAt(objectAt(node, 'status'), 'declaredFeatures')
  const at = (i: number): string => indexPath('status.declaredFeatures', i)
  return features.flatMap((feature, i) => {
    const errors = checkFeatureName(feature).map(why =>
      fieldInvalid(at(i), feature, `invalid feature name ${quote(feature)}: ${why}`),
    )
    const next = features[i + 1]
    if (next === feature) errors.push(fieldDuplicate(at(i + 1), next))
    else if (next !== undefined && compareTexts(feature, next) > 0) {
      errors.push(fieldInvalid(at(i + 1), next, 'list must be sorted alphabetically'))
    }
    return errors
  })
}

function checkFeatureName(feature: string): string[] {
  if (Buffer.byteLength(feature) > MAX_FEATURE_NAME) return [`must be no more than ${MAX_FEATURE_NAME} characters`]
  return FEATURE_NAME.test(feature)
    ? []
    : [
        "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or " +
          'MyFeature/mySubFeature), and contain only alphanumeric characters and slashes',
      ]
}

const MAX_FEATURE_NAME = 253

function checkQuantities(node: ValueObject): FieldError[] {
  return ['capacity', 'allocatable'].flatMap(field => {
    const amounts = objectAt(objectAt(node, 'status'), field)
    return Object.keys(amounts).flatMap(name => {
      const amount = parseQuantity(stringAt(amounts, name))
      if (!amount.ok) return []
      const invalid = (why: string): FieldError => fieldInvalid(`status.${field}.${name}`, stringAt(amounts, name), why)
      const errors: FieldError[] = []
      if (signOf(amount.value) < 0) errors.push(invalid('must be greater than or equal to 0'))
      if (isIntegerResource(name) && !isInteger(amount.value)) errors.push(invalid('must be an integer'))
      return errors
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
    (stringAt(info, 'kernelVersion') || UNKNOWN) + architectureOf(info),
    stringAt(info, 'containerRuntimeVersion') || UNKNOWN,
  ]
}

const architectureOf = (info: ValueObject): string => {
  const architecture = stringAt(info, 'architecture')
  return architecture === '' ? '' : ` (${architecture})`
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

const AVOID_PODS = 'scheduler.alpha.kubernetes.io/preferAvoidPods'

/** The annotation holds JSON, and each of its entries names a controller. */
function checkAvoidedPods(node: ValueObject): FieldError[] {
  const text = mapAt(objectAt(node, 'metadata'), 'annotations')[AVOID_PODS] ?? ''
  const decoded = text === '' ? {} : readAvoidedPods(text)
  if (typeof decoded === 'string') return [fieldInvalid('metadata.annotations.AvoidPods', AVOID_PODS, decoded)]
  const entries = objectsAt(decoded, 'preferAvoidPods')
  return entries.flatMap((entry, i) => {
    const path = `metadata.annotations.${AVOID_PODS}[${i}].PodSignature`
    const controller = objectOrNone(objectAt(entry, 'podSignature'), 'podController')
    if (controller === undefined) return [fieldRequired(path)]
    if (controller['controller'] === true) return []
    return [fieldInvalid(`${path}.PodController.Controller`, false, 'must point to a controller')]
  })
}

/** The object in the annotation, or why there is none. */
function readAvoidedPods(text: string): ValueObject | string {
  try {
    const { value } = decodeJson(Buffer.from(text))
    if (value === null || isObject(value)) return value ?? {}
    return `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type v1.AvoidPods`
  } catch (error) {
    return (error as Error).message
  }
}

const TAINTS = 'scheduler.alpha.kubernetes.io/taints'

/** Taints were once written into an annotation. */
function checkAnnotatedTaints(node: ValueObject): FieldError[] {
  const text = mapAt(objectAt(node, 'metadata'), 'annotations')[TAINTS] ?? ''
  if (text === '') return []
  const taints = decodeAnnotatedList(text, TAINT)
  return typeof taints === 'string'
    ? [fieldInvalid('metadata.annotations', TAINTS, taints)]
    : checkTaints(taints, `metadata.annotations.${TAINTS}`)
}

const ownTaints = check(node => checkTaints(objectsAt(objectAt(node, 'spec'), 'taints'), 'metadata.taints'))

const updateRules: readonly Rule[] = [
  metadataUpdate,
  check(checkAnnotatedTaints),
  check(checkAvoidedPods),
  check(checkQuantities),
  check(checkDeclaredFeatures),
  check(checkAddresses),
  podCidrsAreKept,
  providerIsKept,
  ownTaints,
  externalIdIsKept,
]

const rules: readonly Rule[] = [
  metadata({ namespaced: false }),
  check(checkAnnotatedTaints),
  check(checkAvoidedPods),
  ownTaints,
  check(checkQuantities),
  check(checkDeclaredFeatures),
  check(checkPodCidrs),
]

export const node = defineKind('v1', 'Node', {
  defaults,
  strategy: {
    prepareForCreate: dropDynamicConfig,
    prepareForUpdate: inTurn(keepGeneration, keepStatus, dropNewConfigSource),
    prepareForStatusUpdate: inTurn(keepGeneration, keepSpec, dropNewConfigStatus),
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
