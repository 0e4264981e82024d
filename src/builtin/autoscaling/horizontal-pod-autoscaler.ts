// HorizontalPodAutoscaler: how many replicas another object has, by metrics. autoscaling/v2 is what it is; objects of
// autoscaling/v1 are read as v2, as kube-apiserver reads them.
import { childPath, fieldInvalid, fieldRequired } from '../../meta/errors/field-errors.js'
import {
  ensureObject,
  has,
  numberAt,
  numberOrNone,
  objectAt,
  objectsAt,
  setDefault,
  stringAt,
} from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { decodeTyped, TypedDecodeError } from '../../types/decode.js'
import { builtinTypes, type TypeTable } from '../../types/type-table.js'
import { statusApart } from '../common/build-kind.js'
import { defineKind } from '../common/define-kind.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, field, min, notNegative, type Rule } from '../common/rules.js'
import { type BuiltinStrategy, inTurn } from '../common/strategies.js'
import { ageOf, NONE, nameOf, type TableRow, UNKNOWN } from '../common/table-cells.js'
import { type Validation, validationRules } from '../common/validation.js'
import { behavior, defaultBehavior } from './behavior.js'
import { checkApiVersion, metrics, objectReference } from './metrics.js'
import {
  cpuMetric,
  dropConversionAnnotations,
  keepStatusAnnotations,
  toAutoscalerV1,
  toAutoscalerV2,
} from './v1-conversion.js'

// ---- versions

const KIND = 'HorizontalPodAutoscaler'

const inV2 = (autoscaler: ValueObject): ValueObject => toAutoscalerV2(autoscaler, isAutoscalerV2)

/** Whether annotations of v1 could be read into fields of v2. */
function isAutoscalerV2(object: ValueObject): boolean {
  try {
    decodeTyped(builtinTypes().ofKind('autoscaling/v2', KIND)!, object)
    return true
  } catch (error) {
    if (error instanceof TypedDecodeError) return false
    throw error
  }
}

// ---- defaults

function defaultsV1(autoscaler: ValueObject): void {
  setDefault(ensureObject(autoscaler, 'spec'), 'minReplicas', 1, false)
  // The round trip adds the metric that applies without any, and drops annotations that say nothing.
  const { metadata: meta, spec } = toAutoscalerV1(inV2(autoscaler))
  Object.assign(autoscaler, { metadata: meta, spec })
}

function defaultsV2(autoscaler: ValueObject): void {
  dropConversionAnnotations(autoscaler)
  const spec = ensureObject(autoscaler, 'spec')
  setDefault(spec, 'minReplicas', 1, false)
  if (objectsAt(spec, 'metrics').length === 0) spec['metrics'] = [cpuMetric()]
  defaultBehavior(spec)
}

// ---- validation

/** Zero replicas are accepted where the stored object has them already. */
const minReplicas =
  (least: number): Rule =>
  (spec, old, path, errors) =>
    min('minReplicas', old !== undefined && numberOrNone(old, 'minReplicas') === 0 ? 0 : least)(spec, old, path, errors)

const maxReplicas = check((spec, path) => {
  const at = childPath(path, 'maxReplicas')
  const max = numberAt(spec, 'maxReplicas')
  const errors = max === 0 ? [fieldRequired(at, 'must be set and greater than 0')] : []
  if (max < 0) errors.push(fieldInvalid(at, max, 'must be greater than or equal to 1'))
  const least = numberOrNone(spec, 'minReplicas')
  if (least !== undefined && max < least) {
    errors.push(fieldInvalid(at, max, 'must be greater than or equal to `minReplicas`'))
  }
  return errors
})

/** The version of the target is checked when the kind or the version changes. Only the core group needs no group. */
const targetVersion = check((target, path, old) => {
  const isSame = (name: string): boolean => old !== undefined && stringAt(old, name) === stringAt(target, name)
  if (isSame('apiVersion') && isSame('kind')) return []
  return checkApiVersion(target, path, { groupRequired: stringAt(target, 'kind') !== 'ReplicationController' })
})

const specRules = (least: number): readonly Rule[] => [
  minReplicas(least),
  maxReplicas,
  field('scaleTargetRef', [...objectReference, targetVersion]),
  ...metrics,
  behavior,
]

/** `least`: the lowest number of replicas. */
const validationV2 = (least: number): Validation =>
  validationRules({
    create: [metadata({ namespaced: true }), field('spec', specRules(least))],
    update: [metadataUpdate, field('spec', specRules(least))],
    status: [metadataUpdate, field('status', [notNegative('currentReplicas', 'desiredReplicas')])],
  })

const validationV1 = (least: number): Validation => {
  const { create, update, status } = validationV2(least)
  return {
    create: autoscaler => create(inV2(autoscaler)),
    update: (autoscaler, old) => update(inV2(autoscaler), inV2(old)),
    status: (autoscaler, old) => status!(inV2(autoscaler), inV2(old)),
  }
}

// ---- Table

/** How many metrics a cell shows. */
const MAX_METRICS = 2

const row: TableRow = (autoscaler, now) => {
  const spec = objectAt(autoscaler, 'spec')
  const target = objectAt(spec, 'scaleTargetRef')
  const status = objectAt(autoscaler, 'status')
  return [
    nameOf(autoscaler),
    `${stringAt(target, 'kind')}/${stringAt(target, 'name')}`,
    printMetrics(objectsAt(spec, 'metrics'), objectsAt(status, 'currentMetrics')),
    String(numberOrNone(spec, 'minReplicas') ?? '<unset>'),
    numberAt(spec, 'maxReplicas'),
    numberAt(status, 'currentReplicas'),
    ageOf(autoscaler, now),
  ]
}

function printMetrics(targets: readonly ValueObject[], measured: readonly ValueObject[]): string {
  if (targets.length === 0) return NONE
  const all = targets.map((metric, i) => printMetric(metric, measured[i] ?? {}))
  const shown = all.slice(0, MAX_METRICS).join(', ')
  return all.length > MAX_METRICS ? `${shown} + ${all.length - MAX_METRICS} more...` : shown
}

const SOURCE_FIELDS: Readonly<Record<string, string | undefined>> = {
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
  ContainerResource: 'containerResource',
  External: 'external',
}

function printMetric(metric: ValueObject, measured: ValueObject): string {
  const type = stringAt(metric, 'type')
  const name = (Object.hasOwn(SOURCE_FIELDS, type) && SOURCE_FIELDS[type]) || ''
  const source = objectAt(metric, name)
  const target = objectAt(source, 'target')
  const current = objectAt(objectAt(measured, name), 'current')
  if (type === 'Resource' || type === 'ContainerResource') {
    const numbers = has(target, 'averageValue')
      ? ratio(current, target, 'averageValue')
      : `${percent(current) ?? UNKNOWN}/${percent(target) ?? '<auto>'}`
    return `${stringAt(source, 'name')}: ${numbers}`
  }
  if (type === 'Pods') return ratio(current, target, 'averageValue')
  if (name === '') return '<unknown type>'
  return has(target, 'averageValue')
    ? `${ratio(current, target, 'averageValue')} (avg)`
    : ratio(current, target, 'value')
}

const ratio = (current: ValueObject, target: ValueObject, name: string): string =>
  `${stringAt(current, name) || UNKNOWN}/${stringAt(target, name)}`

function percent(numbers: ValueObject): string | undefined {
  const value = numberOrNone(numbers, 'averageUtilization')
  return value === undefined ? undefined : `${value}%`
}

// ---- definitions

/** The status is not written with the object, nor are its parts that v1 has in annotations. */
const strategyV1 = (table: TypeTable): BuiltinStrategy => {
  const usual = statusApart('autoscaling/v1', KIND)(table)
  return {
    ...usual,
    prepareForCreate: (autoscaler, context) => {
      usual.prepareForCreate!(autoscaler, context)
      keepStatusAnnotations(autoscaler)
    },
    prepareForUpdate: inTurn(usual.prepareForUpdate!, keepStatusAnnotations),
  }
}

export const autoscalerV1 = defineKind('autoscaling/v1', KIND, {
  defaults: defaultsV1,
  strategy: strategyV1,
  validation: validationV1(1),
  changedBy: { HPAScaleToZero: { validation: validationV1(0) } },
  table: (autoscaler, now) => row(inV2(autoscaler), now),
  convert: autoscaler => inV2(autoscaler),
})

export const autoscalerV2 = defineKind('autoscaling/v2', KIND, {
  defaults: defaultsV2,
  validation: validationV2(1),
  changedBy: { HPAScaleToZero: { validation: validationV2(0) } },
  table: row,
  convert: autoscaler => toAutoscalerV1(autoscaler),
})
