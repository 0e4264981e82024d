// Autoscalers in two versions. autoscaling/v1 knows of nothing but the use of CPU; whatever else v2 has is kept in
// annotations there, so that nothing is lost on the way and back.
import { decodeJson } from '../codec/json.js'
import { printJson } from '../meta/go/go-text.js'
import { ensureObject, has, mapAt, objectAt, objectOrNone, objectsAt, stringAt } from '../meta/values/access.js'
import { isObject, setOwn, type Value, type ValueObject } from '../meta/values/value.js'
import { currentFromV1, currentToV1, metricFromV1, metricToV1, utilizationOf } from './autoscaler-metrics.js'

/** Of the capacity that pods ask for, when nothing is said. */
const DEFAULT_UTILIZATION = 80

const ANNOTATION = {
  metrics: 'autoscaling.alpha.kubernetes.io/metrics',
  behavior: 'autoscaling.alpha.kubernetes.io/behavior',
  current: 'autoscaling.alpha.kubernetes.io/current-metrics',
  conditions: 'autoscaling.alpha.kubernetes.io/conditions',
} as const

export const cpuMetric = (averageUtilization: Value = DEFAULT_UTILIZATION): ValueObject => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
})

const isCpu = (metric: ValueObject): boolean =>
  stringAt(metric, 'type') === 'Resource' && stringAt(objectAt(metric, 'resource'), 'name') === 'cpu'

/** The annotations that v2 has fields for do not stand there as well. */
export function dropFormAnnotations(autoscaler: ValueObject): void {
  const meta = objectAt(autoscaler, 'metadata')
  const annotations = objectOrNone(meta, 'annotations')
  if (annotations === undefined) return
  for (const name of Object.values(ANNOTATION)) delete annotations[name]
  if (Object.keys(annotations).length === 0) delete meta['annotations']
}

// ---- from v2 to v1

/** An autoscaler of v2 as v1 has it. */
export function toAutoscalerV1(autoscaler: ValueObject): ValueObject {
  const spec = objectAt(autoscaler, 'spec')
  const status = objectAt(autoscaler, 'status')
  const metrics = objectsAt(spec, 'metrics')
  const others = metrics.filter(metric => !(isCpu(metric) && has(utilizationOf(metric), 'averageUtilization')))
  const current = objectsAt(status, 'currentMetrics')
  const conditions = objectsAt(status, 'conditions')
  const behavior = objectOrNone(spec, 'behavior')
  const kept: Record<string, Value | undefined> = {
    [ANNOTATION.behavior]: behavior && behaviorInGo(behavior),
    [ANNOTATION.conditions]: someOf(conditions),
    [ANNOTATION.metrics]: someOf(others.map(metricToV1)),
    [ANNOTATION.current]: someOf(current.map(currentToV1)),
  }
  const cpu = metrics.find(isCpu)
  const currentCpu = current.find(metric => isCpu(metric) && has(utilizationOf(metric), 'averageUtilization'))
  return {
    ...autoscaler,
    metadata: annotated(objectAt(autoscaler, 'metadata'), kept),
    spec: {
      ...only(spec, ['scaleTargetRef', 'minReplicas', 'maxReplicas']),
      ...(cpu && { targetCPUUtilizationPercentage: utilizationOf(cpu)['averageUtilization'] ?? null }),
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
  for (const name of Object.keys(kept)) {
    const value = kept[name]
    if (value === undefined) delete annotations[name]
    else annotations[name] = printJson(value, { keepOrder: true })
  }
  const { annotations: _, ...rest } = meta
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations }
}

const only = (object: ValueObject, fields: readonly string[]): ValueObject =>
  Object.fromEntries(fields.filter(field => has(object, field)).map(field => [field, object[field]!]))

/** The behavior as the reference server keeps it: by the names of fields in Go, with everything that is not set. */
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

/** An autoscaler of v1 as v2 has it. `fits` says whether it is one of v2; what annotations say otherwise is ignored. */
export function toAutoscalerV2(autoscaler: ValueObject, fits: (made: ValueObject) => boolean): ValueObject {
  const spec = objectAt(autoscaler, 'spec')
  const status = objectAt(autoscaler, 'status')
  const annotations = mapAt(objectAt(autoscaler, 'metadata'), 'annotations')
  const cpu = has(spec, 'targetCPUUtilizationPercentage') ? [cpuMetric(spec['targetCPUUtilizationPercentage'])] : []
  const currentCpu = status['currentCPUUtilizationPercentage']
  const { targetCPUUtilizationPercentage: _, ...restOfSpec } = spec
  const { currentCPUUtilizationPercentage: __, ...restOfStatus } = status
  const metadata = { ...objectAt(autoscaler, 'metadata'), annotations: { ...annotations } }
  let made: ValueObject = { ...autoscaler, metadata, spec: restOfSpec, status: restOfStatus }
  dropFormAnnotations(made)
  if (cpu.length > 0) made = withPart(made, 'spec', { metrics: cpu })
  if (currentCpu !== undefined && currentCpu !== null) {
    const current = { name: 'cpu', current: { averageUtilization: currentCpu } }
    made = withPart(made, 'status', { currentMetrics: [{ type: 'Resource', resource: current }] })
  }
  const take = (name: string, part: 'spec' | 'status', read: (value: Value) => ValueObject): void => {
    if (!Object.hasOwn(annotations, name)) return
    const value = readJson(annotations[name]!)
    if (value === undefined) return
    const more = withPart(made, part, read(value))
    if (fits(more)) made = more
  }
  take(ANNOTATION.metrics, 'spec', value => ({ metrics: [...objectsIn(value).map(metricFromV1), ...cpu] }))
  take(ANNOTATION.behavior, 'spec', value => ({ behavior: withSmallInitials(value) }))
  take(ANNOTATION.current, 'status', value => ({ currentMetrics: objectsIn(value).map(currentFromV1) }))
  take(ANNOTATION.conditions, 'status', value => ({ conditions: value }))
  const hasMetrics = objectsAt(objectAt(made, 'spec'), 'metrics').length > 0
  return hasMetrics ? made : withPart(made, 'spec', { metrics: [cpuMetric()] })
}

const withPart = (object: ValueObject, part: 'spec' | 'status', fields: ValueObject): ValueObject => ({
  ...object,
  [part]: { ...objectAt(object, part), ...fields },
})

const objectsIn = (value: Value): ValueObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

function readJson(text: string): Value | undefined {
  try {
    return decodeJson(Buffer.from(text)).value
  } catch {
    return undefined
  }
}

/** Names of fields in Go as JSON has them. Deeper than behavior goes there is nothing to rename. */
function withSmallInitials(value: Value, depth = 4): Value {
  if (Array.isArray(value)) return value.map(item => withSmallInitials(item, depth - 1))
  if (!isObject(value) || depth === 0) return value
  const named: ValueObject = {}
  for (const key of Object.keys(value)) {
    setOwn(named, key.charAt(0).toLowerCase() + key.slice(1), withSmallInitials(value[key]!, depth - 1))
  }
  return named
}

// ---- what is filled in

export function defaultAutoscalerV1(autoscaler: ValueObject): void {
  const spec = ensureObject(autoscaler, 'spec')
  if (!has(spec, 'minReplicas')) spec['minReplicas'] = 1
}

export function defaultAutoscalerV2(autoscaler: ValueObject): void {
  dropFormAnnotations(autoscaler)
  defaultAutoscalerV1(autoscaler)
  const spec = ensureObject(autoscaler, 'spec')
  if (objectsAt(spec, 'metrics').length === 0) spec['metrics'] = [cpuMetric()]
  const behavior = objectOrNone(spec, 'behavior')
  if (behavior === undefined) return
  behavior['scaleUp'] = { ...scaleUpRules(), ...given(objectAt(behavior, 'scaleUp')) }
  behavior['scaleDown'] = { ...scaleDownRules(), ...given(objectAt(behavior, 'scaleDown')) }
}

const PERIOD_SECONDS = 15
const policy = (type: string, value: number): ValueObject => ({ type, value, periodSeconds: PERIOD_SECONDS })

const scaleUpRules = (): ValueObject => ({
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [policy('Pods', 4), policy('Percent', 100)],
})

const scaleDownRules = (): ValueObject => ({ selectPolicy: 'Max', policies: [policy('Percent', 100)] })

const given = (rules: ValueObject): ValueObject =>
  only(rules, ['stabilizationWindowSeconds', 'selectPolicy', 'policies', 'tolerance'])
