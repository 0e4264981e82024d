// Metrics of an autoscaler, wanted and measured, between v2 and the form that annotations of v1 keep. v2 puts what a
// metric is and what is wanted of it into objects of their own; the older form has one flat object.

import { has, objectAt, objectOrNone, stringAt } from '../meta/values/access.js'
import type { Value, ValueObject } from '../meta/values/value.js'

interface Source {
  /** The member that describes metrics of the type. */
  readonly field: string
  /** How the older form names what v2 has: by the paths of v2. Those with a value are there even when v2 has none. */
  readonly names: readonly (readonly [older: string, path: readonly [string, string?], always?: Value])[]
}

const SELECTOR = ['metric', 'selector'] as const
const METRIC_NAME = ['metricName', ['metric', 'name'], ''] as const

/** By the type of the metric; `part` is where v2 has the numbers, and `prefix` begins their older names. */
function sourcesFor(part: 'target' | 'current', prefix: string): Readonly<Record<string, Source | undefined>> {
  const isStatus = part === 'current'
  const zero = isStatus ? '0' : undefined
  const value = `${prefix}Value`
  const average = `${prefix}AverageValue`
  const utilization = [`${prefix}AverageUtilization`, [part, 'averageUtilization']] as const
  const resource = [
    ['name', ['name'], ''],
    utilization,
    withDefault(average, [part, 'averageValue'], zero),
  ] as Source['names']
  return {
    Object: {
      field: 'object',
      names: [
        ['target', ['describedObject'], { kind: '', name: '' }],
        METRIC_NAME,
        [value, [part, 'value'], '0'],
        ['selector', SELECTOR],
        ['averageValue', [part, 'averageValue']],
      ],
    },
    Pods: {
      field: 'pods',
      names: [METRIC_NAME, [average, [part, 'averageValue'], '0'], ['selector', SELECTOR]],
    },
    Resource: { field: 'resource', names: resource },
    ContainerResource: { field: 'containerResource', names: [...resource, ['container', ['container'], '']] },
    External: {
      field: 'external',
      names: [
        METRIC_NAME,
        ['metricSelector', SELECTOR],
        withDefault(value, [part, 'value'], zero),
        [average, [part, 'averageValue']],
      ],
    },
  }
}

function withDefault(older: string, path: readonly [string, string?], always: Value | undefined): Source['names'][0] {
  return always === undefined ? [older, path] : [older, path, always]
}

const WANTED = sourcesFor('target', 'target')
const MEASURED = sourcesFor('current', 'current')

/** Where v2 has the numbers of a metric of a resource, wanted or measured. */
export function utilizationOf(metric: ValueObject): ValueObject {
  const resource = objectAt(metric, 'resource')
  return has(resource, 'target') ? objectAt(resource, 'target') : objectAt(resource, 'current')
}

export const metricToV1 = (metric: ValueObject): ValueObject => toOlder(metric, WANTED)
export const currentToV1 = (metric: ValueObject): ValueObject => toOlder(metric, MEASURED)

function toOlder(metric: ValueObject, sources: typeof WANTED): ValueObject {
  const type = stringAt(metric, 'type')
  const source = Object.hasOwn(sources, type) ? sources[type] : undefined
  const described = source && objectOrNone(metric, source.field)
  if (source === undefined || described === undefined) return { type }
  const older: ValueObject = {}
  for (const [name, [member, inner], always] of source.names) {
    const value = inner === undefined ? described[member] : objectAt(described, member)[inner]
    if (value !== undefined && value !== null) older[name] = value
    else if (always !== undefined) older[name] = always
  }
  return { type, [source.field]: older }
}

export function metricFromV1(older: ValueObject): ValueObject {
  const metric = fromOlder(older, WANTED)
  const field = Object.hasOwn(WANTED, stringAt(metric, 'type')) ? WANTED[stringAt(metric, 'type')]!.field : ''
  const target = objectOrNone(objectAt(metric, field), 'target')
  if (target === undefined) return metric
  // A zero stands for what is not wanted; the type is that of the number that is.
  if (has(target, 'averageValue') && target['value'] === '0') delete target['value']
  const type = has(target, 'averageUtilization')
    ? 'Utilization'
    : has(target, 'averageValue')
      ? 'AverageValue'
      : 'Value'
  target['type'] = type
  return metric
}

export const currentFromV1 = (older: ValueObject): ValueObject => fromOlder(older, MEASURED)

function fromOlder(older: ValueObject, sources: typeof WANTED): ValueObject {
  const type = stringAt(older, 'type')
  const source = Object.hasOwn(sources, type) ? sources[type] : undefined
  const flat = source && objectOrNone(older, source.field)
  if (source === undefined || flat === undefined) return { type }
  const described: ValueObject = {}
  for (const [name, [member, inner]] of source.names) {
    const value = flat[name]
    if (value === undefined || value === null) continue
    if (inner === undefined) described[member] = value
    else described[member] = { ...objectAt(described, member), [inner]: value }
  }
  return { type, [source.field]: described }
}
