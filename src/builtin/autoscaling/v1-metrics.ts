// Conversion of single metrics, target and current, between v2 and the annotations of v1. v2 has objects for the metric
// and for the target; the types of v1 have one flat object.
import { has, objectAt, objectOrNone, stringAt } from '../../meta/values/access.js'
import type { Value, ValueObject } from '../../meta/values/value.js'

interface Source {
  /** The member that describes metrics of the type. */
  readonly field: string
  /** The names in v1 with their paths in v2. Those with a value are there even when v2 has none. */
  readonly names: readonly (readonly [v1Name: string, path: readonly [string, string?], always?: Value])[]
}

const SELECTOR = ['metric', 'selector'] as const
const METRIC_NAME = ['metricName', ['metric', 'name'], ''] as const

/** By the type of the metric; `part` is where v2 has the numbers, and `prefix` begins their names in v1. */
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

function withDefault(v1Name: string, path: readonly [string, string?], always: Value | undefined): Source['names'][0] {
  return always === undefined ? [v1Name, path] : [v1Name, path, always]
}

const TARGET = sourcesFor('target', 'target')
const CURRENT = sourcesFor('current', 'current')

/** The numbers of a metric of a resource in v2, target or current. */
export function utilizationOf(metric: ValueObject): ValueObject {
  const resource = objectAt(metric, 'resource')
  return has(resource, 'target') ? objectAt(resource, 'target') : objectAt(resource, 'current')
}

export const metricToV1 = (metric: ValueObject): ValueObject => toV1(metric, TARGET)
export const currentToV1 = (metric: ValueObject): ValueObject => toV1(metric, CURRENT)

function toV1(metric: ValueObject, sources: typeof TARGET): ValueObject {
  const type = stringAt(metric, 'type')
  const source = Object.hasOwn(sources, type) ? sources[type] : undefined
  const described = source && objectOrNone(metric, source.field)
  if (source === undefined || described === undefined) return { type }
  const flat: ValueObject = {}
  for (const [name, [member, inner], always] of source.names) {
    const value = inner === undefined ? described[member] : objectAt(described, member)[inner]
    if (value !== undefined && value !== null) flat[name] = value
    else if (always !== undefined) flat[name] = always
  }
  return { type, [source.field]: flat }
}

export function metricFromV1(inV1: ValueObject): ValueObject {
  const metric = fromV1(inV1, TARGET)
  const field = Object.hasOwn(TARGET, stringAt(metric, 'type')) ? TARGET[stringAt(metric, 'type')]!.field : ''
  const target = objectOrNone(objectAt(metric, field), 'target')
  if (target === undefined) return metric
  target['type'] = targetType(stringAt(metric, 'type'), target)
  // v1 cannot leave out this value and writes a zero.
  if (has(target, 'averageValue') && target['value'] === '0') delete target['value']
  return metric
}

/** v1 has no type of the target; it follows from the numbers. */
function targetType(metricType: string, target: ValueObject): string {
  switch (metricType) {
    case 'Object':
      return has(target, 'averageValue') ? 'AverageValue' : 'Value'
    case 'External':
      return has(target, 'value') ? 'Value' : 'AverageValue'
    case 'Pods':
      return 'AverageValue'
    default:
      return has(target, 'averageUtilization') ? 'Utilization' : 'AverageValue'
  }
}

export const currentFromV1 = (inV1: ValueObject): ValueObject => fromV1(inV1, CURRENT)

function fromV1(inV1: ValueObject, sources: typeof TARGET): ValueObject {
  const type = stringAt(inV1, 'type')
  const source = Object.hasOwn(sources, type) ? sources[type] : undefined
  const flat = source && objectOrNone(inV1, source.field)
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
