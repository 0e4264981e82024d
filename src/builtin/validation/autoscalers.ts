// Autoscalers: what they scale, within which bounds, by which metrics and how fast.
import {
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { parseGroupVersion } from '../../meta/group-version.js'
import { checkDnsLabel, checkPathSegment } from '../../meta/object/names.js'
import { has, numberAt, numberOrNone, objectAt, objectOrNone, objectsAt, stringAt } from '../../meta/values/access.js'
import { parseQuantity, printQuantity, signOf } from '../../meta/values/quantity.js'
import type { ValueObject } from '../../meta/values/value.js'
import { checkCounts } from '../apps/pod-owner.js'
import { toAutoscalerV2 } from '../autoscaler-forms.js'
import { checkText } from '../common/field-checks.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'

export const autoscalerValidation: Validation = {
  create: autoscaler => [...checkMeta(autoscaler, { namespaced: true }), ...checkSpec(objectAt(autoscaler, 'spec'))],
  update: (autoscaler, old) => [
    ...checkMetaUpdate(autoscaler, old),
    ...checkSpec(objectAt(autoscaler, 'spec'), objectAt(old, 'spec')),
  ],
  status: (autoscaler, old) => [
    ...checkMetaUpdate(autoscaler, old),
    ...checkCounts(objectAt(autoscaler, 'status'), ['currentReplicas', 'desiredReplicas'], 'status'),
  ],
}

const inV2 = (autoscaler: ValueObject): ValueObject => toAutoscalerV2(autoscaler, () => true)

/** Those of v1 are looked at as those of v2 that they are kept as. */
export const olderAutoscalerValidation: Validation = {
  create: autoscaler => autoscalerValidation.create(inV2(autoscaler)),
  update: (autoscaler, old) => autoscalerValidation.update(inV2(autoscaler), inV2(old)),
  status: (autoscaler, old) => autoscalerValidation.status!(inV2(autoscaler), inV2(old)),
}

function checkSpec(spec: ValueObject, old?: ValueObject): FieldError[] {
  const target = objectAt(spec, 'scaleTargetRef')
  const oldTarget = old && objectAt(old, 'scaleTargetRef')
  const wasInvalid = oldTarget !== undefined && checkApiVersion(oldTarget, isController(oldTarget), '').length > 0
  return [
    ...checkBounds(spec, old !== undefined && numberOrNone(old, 'minReplicas') === 0 ? 0 : 1),
    ...checkReference(target, 'spec.scaleTargetRef'),
    ...(wasInvalid ? [] : checkApiVersion(target, isController(target), 'spec.scaleTargetRef')),
    ...checkMetrics(spec),
    ...['scaleUp', 'scaleDown'].flatMap(direction => {
      const rules = objectOrNone(objectAt(spec, 'behavior'), direction)
      return rules === undefined ? [] : checkScalingRules(rules, `spec.behavior.${direction}`)
    }),
  ]
}

/** What stands in the core group is scaled without naming a group. */
const isController = (target: ValueObject): boolean => stringAt(target, 'kind') === 'ReplicationController'

function checkBounds(spec: ValueObject, lowest: number): FieldError[] {
  const least = numberOrNone(spec, 'minReplicas')
  const max = numberAt(spec, 'maxReplicas')
  const errors: FieldError[] = []
  if (least !== undefined && least < lowest) {
    errors.push(fieldInvalid('spec.minReplicas', least, `must be greater than or equal to ${lowest}`))
  }
  if (max < 1) errors.push(fieldRequired('spec.maxReplicas', 'must be set and greater than 0'))
  if (least !== undefined && max < least) {
    errors.push(fieldInvalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`'))
  }
  return errors
}

const checkReference = (reference: ValueObject, path: string): FieldError[] =>
  ['kind', 'name'].flatMap(field => checkSegment(stringAt(reference, field), childPath(path, field)))

const checkSegment = (text: string, path: string, missing = ''): FieldError[] =>
  text === '' ? [fieldRequired(path, missing)] : checkText(text, checkPathSegment, path)

function checkApiVersion(reference: ValueObject, groupMayBeEmpty: boolean, path: string): FieldError[] {
  const text = stringAt(reference, 'apiVersion')
  const version = parseGroupVersion(text)
  const told = (why: string): FieldError[] => [fieldInvalid(childPath(path, 'apiVersion'), text, why)]
  if (!version.ok) return told(version.error)
  return version.value.group !== '' || groupMayBeEmpty ? [] : told('apiVersion must specify API group')
}

// ---- metrics

const METRIC_TYPES = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']

function checkMetrics(spec: ValueObject): FieldError[] {
  const metrics = objectsAt(spec, 'metrics')
  const errors = metrics.flatMap((metric, i) => checkMetric(metric, indexPath('spec.metrics', i)))
  const canWake = metrics.some(metric => ['Object', 'External'].includes(stringAt(metric, 'type')))
  if (numberOrNone(spec, 'minReplicas') === 0 && !canWake) {
    const why = 'must specify at least one Object or External metric to support scaling to zero replicas'
    errors.push(fieldForbidden('spec.metrics', why))
  }
  return errors
}

/** The members that describe metrics, in the order in which they are looked at. Only the first is looked into. */
const SOURCES: readonly (readonly [field: string, check: (source: ValueObject, path: string) => FieldError[]])[] = [
  ['object', checkObjectSource],
  ['external', checkExternalSource],
  ['pods', checkPodsSource],
  ['resource', checkResourceSource],
  ['containerResource', checkContainerResourceSource],
]

function checkMetric(metric: ValueObject, path: string): FieldError[] {
  const at = (field: string): string => childPath(path, field)
  const type = stringAt(metric, 'type')
  const isKnown = METRIC_TYPES.includes(type)
  const unknown = isKnown ? [] : [fieldNotSupported(at('type'), type, METRIC_TYPES)]
  const there = SOURCES.filter(([field]) => has(metric, field))
  const wanted = isKnown ? type.charAt(0).toLowerCase() + type.slice(1) : undefined
  const first = there[0]
  return [
    ...(type === '' ? [fieldRequired(at('type'), 'must specify a metric source type')] : []),
    ...unknown,
    ...(first === undefined ? [] : first[1](objectAt(metric, first[0]), at(first[0]))),
    ...(wanted === undefined || has(metric, wanted)
      ? unknown
      : [fieldRequired(at(wanted), 'must populate information for the given metric source')]),
    ...(there.length === 1 ? [] : there)
      .filter(([field]) => field !== wanted)
      .map(([field]) => fieldForbidden(at(field), 'must populate the given metric source only')),
  ]
}

const checkMetricName = (source: ValueObject, path: string): FieldError[] =>
  checkSegment(
    stringAt(objectAt(source, 'metric'), 'name'),
    childPath(path, 'metric.name'),
    'must specify a metric name',
  )

const TARGET_TYPES: ReadonlySet<string> = new Set(['Utilization', 'Value', 'AverageValue'])

function checkTarget(source: ValueObject, path: string): FieldError[] {
  const target = objectAt(source, 'target')
  const at = (field: string): string => childPath(childPath(path, 'target'), field)
  const type = stringAt(target, 'type')
  const errors: FieldError[] = []
  if (type === '') errors.push(fieldRequired(at('type'), 'must specify a metric target type'))
  if (!TARGET_TYPES.has(type)) {
    errors.push(fieldInvalid(at('type'), type, 'must be either Utilization, Value, or AverageValue'))
  }
  for (const field of ['value', 'averageValue']) {
    const amount = parseQuantity(stringAt(target, field))
    if (amount.ok && signOf(amount.value) <= 0) {
      errors.push(fieldInvalid(at(field), printQuantity(amount.value), 'must be positive'))
    }
  }
  const utilization = numberOrNone(target, 'averageUtilization')
  if (utilization !== undefined && utilization < 1) {
    errors.push(fieldInvalid(at('averageUtilization'), utilization, 'must be greater than 0'))
  }
  return errors
}

/** Of two numbers, one must be there, and for some sources not both. */
function checkEither(
  source: ValueObject,
  path: string,
  told: {
    fields: readonly [string, string]
    missing: [field: string, why: string]
    both?: [field: string, why: string]
  },
): FieldError[] {
  const target = objectAt(source, 'target')
  const at = (field: string): string => `${childPath(path, 'target')}.${field}`
  const set = told.fields.filter(field => has(target, field))
  if (set.length === 0) return [fieldRequired(at(told.missing[0]), told.missing[1])]
  return set.length === 2 && told.both ? [fieldForbidden(at(told.both[0]), told.both[1])] : []
}

function checkObjectSource(source: ValueObject, path: string): FieldError[] {
  const described = objectAt(source, 'describedObject')
  return [
    ...checkReference(described, childPath(path, 'describedObject')),
    ...checkApiVersion(described, true, childPath(path, 'describedObject')),
    ...checkMetricName(source, path),
    ...checkTarget(source, path),
    ...checkEither(source, path, {
      fields: ['value', 'averageValue'],
      missing: ['averageValue', 'must set either a target value or averageValue'],
    }),
  ]
}

function checkExternalSource(source: ValueObject, path: string): FieldError[] {
  return [
    ...checkMetricName(source, path),
    ...checkTarget(source, path),
    ...checkEither(source, path, {
      fields: ['value', 'averageValue'],
      missing: ['averageValue', 'must set either a target value for metric or a per-pod target'],
      both: ['value', 'may not set both a target value for metric and a per-pod target'],
    }),
  ]
}

function checkPodsSource(source: ValueObject, path: string): FieldError[] {
  const isSet = has(objectAt(source, 'target'), 'averageValue')
  const at = childPath(path, 'target.averageValue')
  return [
    ...checkMetricName(source, path),
    ...checkTarget(source, path),
    ...(isSet ? [] : [fieldRequired(at, 'must specify a positive target averageValue')]),
  ]
}

function checkResourceSource(source: ValueObject, path: string): FieldError[] {
  const named = stringAt(source, 'name') !== ''
  return [
    ...(named ? [] : [fieldRequired(childPath(path, 'name'), 'must specify a resource name')]),
    ...checkTarget(source, path),
    ...checkEither(source, path, {
      fields: ['averageUtilization', 'averageValue'],
      missing: ['averageUtilization', 'must set either a target raw value or a target utilization'],
      both: ['averageValue', 'may not set both a target raw value and a target utilization'],
    }),
  ]
}

function checkContainerResourceSource(source: ValueObject, path: string): FieldError[] {
  const container = stringAt(source, 'container')
  const at = childPath(path, 'container')
  return [
    ...(container === '' ? [fieldRequired(at, 'must specify a container')] : checkText(container, checkDnsLabel, at)),
    ...checkResourceSource(source, path),
  ]
}

// ---- how fast

const SELECT_POLICIES = ['Disabled', 'Max', 'Min']
const POLICY_TYPES = ['Percent', 'Pods']
const MAX_WINDOW_SECONDS = 3600
const MAX_PERIOD_SECONDS = 1800

function checkScalingRules(rules: ValueObject, path: string): FieldError[] {
  const at = (field: string): string => childPath(path, field)
  const window = numberOrNone(rules, 'stabilizationWindowSeconds') ?? 0
  const windowPath = at('stabilizationWindowSeconds')
  const select = stringAt(rules, 'selectPolicy')
  const policies = objectsAt(rules, 'policies')
  const tolerance = parseQuantity(stringAt(rules, 'tolerance'))
  const errors: FieldError[] = []
  if (window < 0) errors.push(fieldInvalid(windowPath, window, 'must be greater than or equal to zero'))
  if (window > MAX_WINDOW_SECONDS) {
    errors.push(fieldInvalid(windowPath, window, `must be less than or equal to ${MAX_WINDOW_SECONDS}`))
  }
  if (has(rules, 'selectPolicy') && !SELECT_POLICIES.includes(select)) {
    errors.push(fieldNotSupported(at('selectPolicy'), select, SELECT_POLICIES))
  }
  if (policies.length === 0) errors.push(fieldRequired(at('policies'), 'must specify at least one Policy'))
  errors.push(...policies.flatMap((policy, i) => checkPolicy(policy, indexPath(at('policies'), i))))
  if (tolerance.ok && signOf(tolerance.value) < 0) {
    errors.push(fieldInvalid(at('tolerance'), printQuantity(tolerance.value), 'must be greater than or equal to 0'))
  }
  return errors
}

function checkPolicy(policy: ValueObject, path: string): FieldError[] {
  const type = stringAt(policy, 'type')
  const period = numberAt(policy, 'periodSeconds')
  const periodPath = childPath(path, 'periodSeconds')
  const errors = ['value', 'periodSeconds'].flatMap(field => {
    const number = numberAt(policy, field)
    return number > 0 ? [] : [fieldInvalid(childPath(path, field), number, 'must be greater than zero')]
  })
  if (period > MAX_PERIOD_SECONDS) {
    errors.push(fieldInvalid(periodPath, period, `must be less than or equal to ${MAX_PERIOD_SECONDS}`))
  }
  return POLICY_TYPES.includes(type)
    ? errors
    : [fieldNotSupported(childPath(path, 'type'), type, POLICY_TYPES), ...errors]
}
