// Conversion of autoscalers between versions. autoscaling/v1 has a field for the utilization of CPU only; what else v2
// has is written to annotations in v1 and read from them again, so that a round trip loses nothing.
import { decodeJson } from '../../codec/json.js'
import { printJson } from '../../meta/go/go-text.js'
import { ensureObject, has, mapAt, objectAt, objectOrNone, objectsAt, stringAt } from '../../meta/values/access.js'
import { isObject, setOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import { currentFromV1, currentToV1, metricFromV1, metricToV1, utilizationOf } from './v1-metrics.js'

/** The default target: percent of the CPU that the pods request. */
const DEFAULT_UTILIZATION = 80

const ANNOTATION = {
  metrics: 'autoscaling.alpha.kubernetes.io/metrics',
  behavior: 'autoscaling.alpha.kubernetes.io/behavior',
  current: 'autoscaling.alpha.kubernetes.io/current-metrics',
  conditions: 'autoscaling.alpha.kubernetes.io/conditions',
} as const

/** All that a conversion drops; the last two were written by earlier versions. */
const CONVERSION_ANNOTATIONS = [
  ...Object.values(ANNOTATION),
  'autoscaling.alpha.kubernetes.io/scale-down-tolerance',
  'autoscaling.alpha.kubernetes.io/scale-up-tolerance',
]

export const cpuMetric = (averageUtilization: Value = DEFAULT_UTILIZATION): ValueObject => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
})

/** A metric that v1 has a field for: CPU in percent. */
const isCpuUtilization = (metric: ValueObject): boolean =>
  stringAt(metric, 'type') === 'Resource' &&
  stringAt(objectAt(metric, 'resource'), 'name') === 'cpu' &&
  has(utilizationOf(metric), 'averageUtilization')

/** Drops the annotations for which v2 has fields. */
export function dropConversionAnnotations(autoscaler: ValueObject): void {
  const meta = objectAt(autoscaler, 'metadata')
  const annotations = objectOrNone(meta, 'annotations')
  if (annotations === undefined) return
  for (const name of CONVERSION_ANNOTATIONS) delete annotations[name]
  if (Object.keys(annotations).length === 0) delete meta['annotations']
}

const STATUS_ANNOTATIONS = [ANNOTATION.current, ANNOTATION.conditions]

/** The annotations that hold parts of the status: they are those of the old object, if there is one. */
export function keepStatusAnnotations(autoscaler: ValueObject, old: ValueObject = {}): void {
  const meta = ensureObject(autoscaler, 'metadata')
  const before = objectAt(objectAt(old, 'metadata'), 'annotations')
  const kept = ensureObject(meta, 'annotations')
  for (const name of STATUS_ANNOTATIONS) {
    if (has(before, name)) kept[name] = before[name]!
    else delete kept[name]
  }
  if (Object.keys(kept).length === 0) delete meta['annotations']
}

// ---- from v2 to v1

/** An autoscaler of v2 as v1 has it. */
export function toAutoscalerV1(autoscaler: ValueObject): ValueObject {
  const spec = objectAt(autoscaler, 'spec')
  const status = objectAt(autoscaler, 'status')
  const metrics = objectsAt(spec, 'metrics')
  const rest = metrics.filter(metric => !isCpuUtilization(metric))
  const current = objectsAt(status, 'currentMetrics')
  const conditions = objectsAt(status, 'conditions')
  const behavior = objectOrNone(spec, 'behavior')
  const kept: Record<string, Value | undefined> = {
    [ANNOTATION.behavior]: behavior && behaviorInGo(behavior),
    [ANNOTATION.conditions]: someOf(conditions),
    [ANNOTATION.metrics]: someOf(rest.map(metricToV1)),
    [ANNOTATION.current]: someOf(current.map(currentToV1)),
  }
  const cpu = metrics.find(isCpuUtilization)
  const currentCpu = current.find(isCpuUtilization)
  return {
    ...autoscaler,
    metadata: annotated(objectAt(autoscaler, 'metadata'), kept),
    spec: {
      ...only(spec, ['scaleTargetRef', 'minReplicas', 'maxReplicas']),
      ...(cpu && { targetCPUUtilizationPercentage: utilizationOf(cpu)['averageUtilization']! }),
    },
    status: {
      ...only(status, ['observedGeneration', 'lastScaleTime', 'currentReplicas', 'desiredReplicas']),
      ...(currentCpu && { currentCPUUtilizationPercentage: utilizationOf(currentCpu)['averageUtilization']! }),
    },
  }
}

const someOf = (list: readonly ValueObject[]): Value | undefined => (list.length === 0 ? undefined : [...list])

function annotated(meta: ValueObject, kept: Readonly<Record<string, Value | undefined>>): ValueObject {
  const annotations: ValueObject = { ...mapAt(meta, 'annotations') }
  for (const name of CONVERSION_ANNOTATIONS) delete annotations[name]
  for (const name of Object.keys(kept)) {
    const value = kept[name]
    if (value !== undefined) annotations[name] = printJson(value, { keepOrder: true })
  }
  const { annotations: _, ...rest } = meta
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations }
}

const only = (object: ValueObject, fields: readonly string[]): ValueObject =>
  Object.fromEntries(fields.filter(field => has(object, field)).map(field => [field, object[field]!]))

/** The behavior as kube-apiserver writes it: with the names of the fields in Go, and null for those not set. */
function behaviorInGo(behavior: ValueObject): ValueObject {
  const rulesInGo = (rules: ValueObject | undefined): Value =>
    rules === undefined
      ? null
      : {
          StabilizationWindowSeconds: rules['stabilizationWindowSeconds'] ?? null,
          SelectPolicy: rules['selectPolicy'] ?? null,
          Policies: has(rules, 'policies') ? objectsAt(rules, 'policies').map(policyInGo) : null,
          Tolerance: rules['tolerance'] ?? null,
        }
  return {
    ScaleUp: rulesInGo(objectOrNone(behavior, 'scaleUp')),
    ScaleDown: rulesInGo(objectOrNone(behavior, 'scaleDown')),
  }
}

const policyInGo = (policy: ValueObject): ValueObject => ({
  Type: policy['type'] ?? '',
  Value: policy['value'] ?? 0,
  PeriodSeconds: policy['periodSeconds'] ?? 0,
})

// ---- from v1 to v2

/** An autoscaler of v1 as v2 has it. Annotations with which the result would not be one of v2 are ignored. */
export function toAutoscalerV2(autoscaler: ValueObject, isV2: (converted: ValueObject) => boolean): ValueObject {
  const spec = objectAt(autoscaler, 'spec')
  const status = objectAt(autoscaler, 'status')
  const annotations = mapAt(objectAt(autoscaler, 'metadata'), 'annotations')
  const cpu = has(spec, 'targetCPUUtilizationPercentage') ? [cpuMetric(spec['targetCPUUtilizationPercentage'])] : []
  const currentCpu = status['currentCPUUtilizationPercentage']
  const { targetCPUUtilizationPercentage: _, ...restOfSpec } = spec
  const { currentCPUUtilizationPercentage: __, ...restOfStatus } = status
  const metadata = { ...objectAt(autoscaler, 'metadata'), annotations: { ...annotations } }
  let converted: ValueObject = { ...autoscaler, metadata, spec: restOfSpec, status: restOfStatus }
  dropConversionAnnotations(converted)
  if (cpu.length > 0) converted = withPart(converted, 'spec', { metrics: cpu })
  if (currentCpu !== undefined && currentCpu !== null) {
    const current = { name: 'cpu', current: { averageUtilization: currentCpu } }
    converted = withPart(converted, 'status', { currentMetrics: [{ type: 'Resource', resource: current }] })
  }
  const take = (name: string, part: 'spec' | 'status', read: (value: Value) => ValueObject): void => {
    if (!Object.hasOwn(annotations, name)) return
    const value = readJson(annotations[name]!)
    if (value === undefined) return
    const more = withPart(converted, part, read(value))
    if (isV2(more)) converted = more
  }
  take(ANNOTATION.metrics, 'spec', value => ({ metrics: [...objectsIn(value).map(metricFromV1), ...cpu] }))
  take(ANNOTATION.behavior, 'spec', value => (isEmptyBehavior(value) ? {} : { behavior: withSmallInitials(value) }))
  take(ANNOTATION.current, 'status', value => ({ currentMetrics: objectsIn(value).map(currentFromV1) }))
  take(ANNOTATION.conditions, 'status', value => ({ conditions: value }))
  const hasMetrics = objectsAt(objectAt(converted, 'spec'), 'metrics').length > 0
  return hasMetrics ? converted : withPart(converted, 'spec', { metrics: [cpuMetric()] })
}

const withPart = (object: ValueObject, part: 'spec' | 'status', fields: ValueObject): ValueObject => ({
  ...object,
  [part]: { ...objectAt(object, part), ...fields },
})

const isEmptyBehavior = (value: Value): boolean =>
  isObject(value) && Object.values(value).every(rules => rules === null)

const objectsIn = (value: Value): ValueObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

function readJson(text: string): Value | undefined {
  try {
    return decodeJson(Buffer.from(text)).value
  } catch {
    return undefined
  }
}

/** Names of fields in Go as JSON has them, to the depth that a behavior has. */
function withSmallInitials(value: Value, depth = 4): Value {
  if (Array.isArray(value)) return value.map(item => withSmallInitials(item, depth - 1))
  if (!isObject(value) || depth === 0) return value
  const named: ValueObject = {}
  for (const key of Object.keys(value)) {
    setOwn(named, key.charAt(0).toLowerCase() + key.slice(1), withSmallInitials(value[key]!, depth - 1))
  }
  return named
}
