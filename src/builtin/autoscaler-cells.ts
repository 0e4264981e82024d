// The row of an autoscaler: what it measures and wants.

import { has, numberAt, numberOrNone, objectAt, objectsAt, stringAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import { toAutoscalerV2 } from './autoscaler-forms.js'
import { ageOf, NONE, nameOf, type TableRow, UNKNOWN } from './common/table-cells.js'

/** How many metrics a cell shows. */
const MAX_METRICS = 2

const autoscalerCells: TableRow = (autoscaler, now) => {
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

function printMetrics(wanted: readonly ValueObject[], measured: readonly ValueObject[]): string {
  if (wanted.length === 0) return NONE
  const all = wanted.map((metric, i) => printMetric(metric, measured[i] ?? {}))
  const shown = all.slice(0, MAX_METRICS).join(', ')
  return all.length > MAX_METRICS ? `${shown} + ${all.length - MAX_METRICS} more...` : shown
}

const FIELDS: Readonly<Record<string, string | undefined>> = {
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
  ContainerResource: 'containerResource',
  External: 'external',
}

function printMetric(metric: ValueObject, measured: ValueObject): string {
  const type = stringAt(metric, 'type')
  const field = (Object.hasOwn(FIELDS, type) && FIELDS[type]) || ''
  const source = objectAt(metric, field)
  const target = objectAt(source, 'target')
  const current = objectAt(objectAt(measured, field), 'current')
  if (type === 'Resource' || type === 'ContainerResource') {
    const numbers = has(target, 'averageValue')
      ? ratio(current, target, 'averageValue')
      : `${percent(current) ?? UNKNOWN}/${percent(target) ?? '<auto>'}`
    return `${stringAt(source, 'name')}: ${numbers}`
  }
  if (type === 'Pods') return ratio(current, target, 'averageValue')
  if (field === '') return '<unknown type>'
  return has(target, 'averageValue')
    ? `${ratio(current, target, 'averageValue')} (avg)`
    : ratio(current, target, 'value')
}

const ratio = (current: ValueObject, target: ValueObject, field: string): string =>
  `${stringAt(current, field) || UNKNOWN}/${stringAt(target, field)}`

function percent(numbers: ValueObject): string | undefined {
  const value = numberOrNone(numbers, 'averageUtilization')
  return value === undefined ? undefined : `${value}%`
}

export const AUTOSCALER_CELLS: Readonly<Record<string, TableRow>> = {
  'autoscaling/v2 horizontalpodautoscalers': autoscalerCells,
  'autoscaling/v1 horizontalpodautoscalers': (autoscaler, now) =>
    autoscalerCells(
      toAutoscalerV2(autoscaler, () => true),
      now,
    ),
}
