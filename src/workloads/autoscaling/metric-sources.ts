// One metric of an autoscaler: what it shows now, and how many replicas it asks for.
import { printQuantity, type QuantityFormat } from '../../meta/values/quantity.js'
import type { Autoscaler, MetricIdentifier, MetricSpec, MetricTarget, Pod } from '../api/objects.js'
import { type GivenMetrics, readGivenMetrics } from './given-metrics.js'
import {
  countByAverage,
  countByShare,
  countByUtilization,
  countByValue,
  milli,
  requestsOfPods,
  type Tolerance,
} from './replica-count.js'

export interface MetricResult {
  readonly replicas: number
  /** As messages name it. */
  readonly name: string
  /** Its entry in `status.currentMetrics`. */
  readonly status: object
}

export interface MetricError {
  readonly error: string
  /** The reason of the condition and of the event about it, and what they say. */
  readonly reason: string
  readonly cause: string
}

export interface MetricContext {
  readonly autoscaler: Autoscaler
  readonly pods: readonly Pod[]
  readonly current: number
  readonly existing: number
  readonly now: number
}

const DEFAULT_TOLERANCE = 0.1

export function computeMetric(spec: MetricSpec, context: MetricContext): MetricResult | MetricError {
  const source = sourceOf(spec)
  try {
    return source.compute(spec, { ...context, tolerance: toleranceOf(context.autoscaler) })
  } catch (error) {
    const { message } = error as Error
    return { reason: source.reason, cause: message, error: `${source.failed(spec)}: ${message}` }
  }
}

interface Source {
  readonly reason: string
  /** What messages say has failed. */
  failed(spec: MetricSpec): string
  compute(spec: MetricSpec, context: Computing): MetricResult
}

interface Computing extends MetricContext {
  readonly tolerance: Tolerance
}

const SOURCES: Readonly<Record<string, Source>> = {
  Resource: {
    reason: 'FailedGetResourceMetric',
    failed: ({ resource }) => `failed to get ${resource!.name} resource metric value`,
    compute({ resource }, context) {
      const { name, target } = resource!
      const { current, ...result } = ofResource(name, target, context)
      return { ...result, status: { type: 'Resource', resource: { name, current } } }
    },
  },
  ContainerResource: {
    reason: 'FailedGetContainerResourceMetric',
    failed: ({ containerResource }) => `failed to get ${containerResource!.container} container metric value`,
    compute({ containerResource }, context) {
      const { name, container, target } = containerResource!
      const { current, ...result } = ofResource(name, target, context, container)
      return { ...result, status: { type: 'ContainerResource', containerResource: { name, current, container } } }
    },
  },
  Pods: {
    reason: 'FailedGetPodsMetric',
    failed: () => 'failed to get pods metric value',
    compute({ pods }, context) {
      const { metric, target } = pods!
      const metrics = givenTo(context, CUSTOM, why => `unable to get metric ${metric.name}: ${why}`).ofPods(metric.name)
      if (metrics.size === 0)
        throw new Error(`unable to get metric ${metric.name}: no metrics returned from custom metrics API`)
      const sample = { ...context, metrics, isCpu: false }
      const { replicas, usage } = countByAverage(sample, milli(target.averageValue ?? ''))
      const current = { averageValue: quantity(usage) }
      return { replicas, name: `pods metric ${metric.name}`, status: { type: 'Pods', pods: { metric, current } } }
    },
  },
  Object: {
    reason: 'FailedGetObjectMetric',
    failed: ({ object }) =>
      `failed to get object metric value${object!.target.type === 'Value' ? '' : `: failed to get ${object!.metric.name} object metric`}`,
    compute({ object }, context) {
      const { metric, target, describedObject } = object!
      const { namespace = '' } = context.autoscaler.metadata
      const on = ` on ${describedObject.kind} ${namespace}/${describedObject.name}`
      const given = valueOf(context, metric, CUSTOM, why => `unable to get metric ${metric.name}: ${why}${on}`)
      if (target.type === 'Value') {
        const { replicas, usage } = countByValue(given, milli(target.value ?? ''), context)
        const current = { value: quantity(usage) }
        const name = `${describedObject.kind} metric ${metric.name}`
        return { replicas, name, status: { type: 'Object', object: { metric, current, describedObject } } }
      }
      const { replicas, usage } = share(given, target, context)
      const current = { averageValue: quantity(usage) }
      return {
        replicas,
        name: externalName(metric),
        status: { type: 'Object', object: { metric, current, describedObject } },
      }
    },
  },
  External: {
    reason: 'FailedGetExternalMetric',
    failed({ external }) {
      const { metric, target } = external!
      const inner =
        target.averageValue === undefined ? `external metric ${metric.name}` : `${metric.name} external metric`
      return `failed to get ${metric.name} external metric value: failed to get ${inner}`
    },
    compute({ external }, context) {
      const { metric, target } = external!
      const { namespace = '' } = context.autoscaler.metadata
      const wrap = (why: string): string =>
        `unable to get external metric ${namespace}/${metric.name}/${selectorText(metric)}: ${why}`
      const given = valueOf(context, metric, EXTERNAL, wrap)
      const isShare = target.averageValue !== undefined
      const { replicas, usage } = isShare
        ? share(given, target, context)
        : countByValue(given, milli(target.value ?? ''), context)
      const current = isShare ? { averageValue: quantity(usage) } : { value: quantity(usage) }
      return { replicas, name: externalName(metric), status: { type: 'External', external: { metric, current } } }
    },
  },
}

const sourceOf = ({ type }: MetricSpec): Source => {
  const source = SOURCES[type]
  if (!source) throw new Error(`unknown metric source type ${JSON.stringify(type)}`)
  return source
}

function ofResource(
  resource: string,
  { averageValue, averageUtilization }: MetricTarget,
  context: Computing,
  container?: string,
): Pick<MetricResult, 'replicas' | 'name'> & { readonly current: object } {
  const key = container === undefined ? resource : `${container}/${resource}`
  const wanted = averageValue === undefined ? 'utilization' : 'usage'
  const unable: Wrap = why => `unable to get metrics for resource ${resource}: ${why}`
  try {
    const given = givenTo(context, RESOURCE, unable)
    if (!given.hasPods) throw new Error(unable('no metrics returned from resource metrics API'))
    const metrics = given.ofPods(key)
    const sample = { ...context, metrics, isCpu: resource === 'cpu' }
    const format = resource === 'memory' ? 'BinarySI' : 'DecimalSI'
    if (averageValue !== undefined) {
      const { replicas, usage } = countByAverage(sample, milli(averageValue))
      return { replicas, name: `${resource} resource`, current: { averageValue: quantity(usage, format) } }
    }
    const requests = requestsOfPods(context.pods, resource, container)
    const { replicas, usage, utilization } = countByUtilization(sample, requests, averageUtilization ?? 0)
    return {
      replicas,
      name: `${resource} ${container === undefined ? '' : 'container '}resource utilization (percentage of request)`,
      current: { averageUtilization: utilization, averageValue: quantity(usage, format) },
    }
  } catch (error) {
    throw new Error(`failed to get ${resource} ${wanted}: ${(error as Error).message}`, { cause: error })
  }
}

const share = (given: number, { averageValue = '' }: MetricTarget, { existing, tolerance }: Computing) =>
  countByShare(given, milli(averageValue), existing, tolerance)

// ---- where metrics come from

interface MetricsApi {
  readonly name: string
  readonly absent: string
}

const RESOURCE: MetricsApi = {
  name: 'resource',
  absent: 'the server could not find the requested resource (get pods.metrics.k8s.io)',
}
const CUSTOM: MetricsApi = {
  name: 'custom',
  absent: 'no custom metrics API (custom.metrics.k8s.io) registered',
}
const EXTERNAL: MetricsApi = {
  name: 'external',
  absent: 'no external metrics API (external.metrics.k8s.io) registered',
}

/** Without given metrics, the words of a cluster without a metrics server. `wrap` says what cannot be had because of that. */
function givenTo({ autoscaler, pods }: MetricContext, { name, absent }: MetricsApi, wrap: Wrap): GivenMetrics {
  const failing = (why: string): string => wrap(`unable to fetch metrics from ${name} metrics API: ${why}`)
  let given: GivenMetrics
  try {
    given = readGivenMetrics(autoscaler, pods)
  } catch (error) {
    throw new Error(failing((error as Error).message), { cause: error })
  }
  if (!given.isGiven) throw new Error(failing(absent))
  return given
}

function valueOf(context: MetricContext, { name: metric }: MetricIdentifier, api: MetricsApi, wrap: Wrap): number {
  const value = givenTo(context, api, wrap).value(metric)
  if (value === undefined) throw new Error(wrap(`no metrics returned from ${api.name} metrics API`))
  return value
}

type Wrap = (why: string) => string

// ---- texts

const quantity = (thousandths: number, format: QuantityFormat = 'DecimalSI'): string =>
  printQuantity({ amount: BigInt(Math.trunc(thousandths)), scale: -3, format, wide: false })

const externalName = (metric: MetricIdentifier): string => `external metric ${metric.name}(${selectorText(metric)})`

/** As Go prints a pointer to a selector. */
function selectorText({ selector }: MetricIdentifier): string {
  if (!selector) return 'nil'
  const labels = Object.entries(selector.matchLabels ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) => `{Key:${key},Operator:${operator},Values:[${values.join(' ')}],}`,
  )
  const printed = `map[string]string{${labels.map(([key, value]) => `${key}: ${value},`).join('')}}`
  return `&LabelSelector{MatchLabels:${printed},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`
}

function toleranceOf({ spec: { behavior } }: Autoscaler): Tolerance {
  const own = (text: string | undefined): number => (text === undefined ? DEFAULT_TOLERANCE : milli(text) / 1000)
  return { down: own(behavior?.scaleDown?.tolerance), up: own(behavior?.scaleUp?.tolerance) }
}
