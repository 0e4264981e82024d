// The metrics of an autoscaler: what is measured, and which value is wanted.
import {
  asTypedText,
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../meta/errors/field-errors.js'
import { parseGroupVersion } from '../../meta/group-version.js'
import { checkDnsLabel, checkPathSegment } from '../../meta/object/names.js'
import { has, numberOrNone, objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { parseQuantity, printQuantity, signOf } from '../../meta/values/quantity.js'
import type { ValueObject } from '../../meta/values/value.js'
import { checkText } from '../common/field-checks.js'
import { check, each, field, format, type Rule, required, run } from '../common/rules.js'
import { checkContainerResourceName } from '../core/pod/containers/container-resources.js'

// ---- references to objects

/** The kind and the name of an object that a reference names. */
export const objectReference: readonly Rule[] = [
  format('kind', checkPathSegment, { required: true }),
  format('name', checkPathSegment, { required: true }),
]

export function checkApiVersion(
  reference: ValueObject,
  path: string,
  { groupRequired }: { groupRequired: boolean },
): FieldError[] {
  const text = stringAt(reference, 'apiVersion')
  const version = parseGroupVersion(text)
  const invalid = (why: string): FieldError[] => [fieldInvalid(childPath(path, 'apiVersion'), text, why)]
  if (!version.ok) return invalid(version.error)
  return version.value.group === '' && groupRequired ? invalid('apiVersion must specify API group') : []
}

const checkDescribedVersion = (object: ValueObject, path: string): FieldError[] =>
  checkApiVersion(object, path, { groupRequired: false })

// ---- the parts of a metric

const metricName = field('metric', [
  check((metric, path) => {
    const name = stringAt(metric, 'name')
    const at = childPath(path, 'name')
    return name === '' ? [fieldRequired(at, 'must specify a metric name')] : checkText(name, checkPathSegment, at)
  }),
])

const TARGET_TYPES: ReadonlySet<string> = new Set(['Utilization', 'Value', 'AverageValue'])

const positiveAmount = (name: string): Rule =>
  check((target, path) => {
    const amount = parseQuantity(stringAt(target, name))
    if (!amount.ok || signOf(amount.value) > 0) return []
    return [fieldInvalid(childPath(path, name), printQuantity(amount.value), 'must be positive')]
  })

const targetRules: readonly Rule[] = [
  required('type', 'must specify a metric target type'),
  check((target, path) => {
    const type = stringAt(target, 'type')
    if (TARGET_TYPES.has(type)) return []
    const why = 'must be either Utilization, Value, or AverageValue'
    return [fieldInvalid(childPath(path, 'type'), asTypedText(type), why)]
  }),
  positiveAmount('value'),
  positiveAmount('averageValue'),
  check((target, path) => {
    const utilization = numberOrNone(target, 'averageUtilization')
    if (utilization === undefined || utilization >= 1) return []
    return [fieldInvalid(childPath(path, 'averageUtilization'), utilization, 'must be greater than 0')]
  }),
]

interface Choice {
  readonly of: readonly string[]
  readonly missing: readonly [name: string, message: string]
  readonly both?: readonly [name: string, message: string]
}

/** The target with one of several numbers; with `both`, not more than one. */
const target = ({ of, missing, both }: Choice): Rule =>
  field('target', [
    ...targetRules,
    check((numbers, path) => {
      const given = of.filter(name => has(numbers, name))
      if (given.length === 0) return [fieldRequired(childPath(path, missing[0]), missing[1])]
      return given.length > 1 && both !== undefined ? [fieldForbidden(childPath(path, both[0]), both[1])] : []
    }),
  ])

const resourceTarget = target({
  of: ['averageUtilization', 'averageValue'],
  missing: ['averageUtilization', 'must set either a target raw value or a target utilization'],
  both: ['averageValue', 'may not set both a target raw value and a target utilization'],
})

const resourceName = required('name', 'must specify a resource name')

/** The members that describe metrics, with their rules. `anyVersion`: the version of a described object is not checked. */
const sources = (anyVersion: boolean): readonly (readonly [name: string, rules: readonly Rule[]])[] => [
  [
    'object',
    [
      field('describedObject', [...objectReference, ...(anyVersion ? [] : [check(checkDescribedVersion)])]),
      metricName,
      target({
        of: ['value', 'averageValue'],
        missing: ['averageValue', 'must set either a target value or averageValue'],
      }),
    ],
  ],
  [
    'external',
    [
      metricName,
      target({
        of: ['value', 'averageValue'],
        missing: ['averageValue', 'must set either a target value for metric or a per-pod target'],
        both: ['value', 'may not set both a target value for metric and a per-pod target'],
      }),
    ],
  ],
  [
    'pods',
    [
      metricName,
      target({ of: ['averageValue'], missing: ['averageValue', 'must specify a positive target averageValue'] }),
    ],
  ],
  ['resource', [resourceName, resourceTarget]],
  [
    'containerResource',
    [
      resourceName,
      check((source, path) => {
        const name = stringAt(source, 'name')
        return name === '' ? [] : checkContainerResourceName(name, childPath(path, 'name'))
      }),
      required('container', 'must specify a container'),
      format('container', checkDnsLabel),
      resourceTarget,
    ],
  ],
]

const SOURCES = sources(false)
const SOURCES_OF_ANY_VERSION = sources(true)

// ---- metrics

const METRIC_TYPES = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']

/** Only the first of several sources is looked into. */
const checkMetric =
  (known: typeof SOURCES) =>
  (metric: ValueObject, path: string): FieldError[] => {
    const at = (name: string): string => childPath(path, name)
    const type = stringAt(metric, 'type')
    const isKnown = METRIC_TYPES.includes(type)
    const unknown = isKnown ? [] : [fieldNotSupported(at('type'), type, METRIC_TYPES)]
    const given = known.filter(([name]) => has(metric, name))
    const expected = isKnown ? type.charAt(0).toLowerCase() + type.slice(1) : undefined
    const first = given[0]
    return [
      ...(type === '' ? [fieldRequired(at('type'), 'must specify a metric source type')] : []),
      ...unknown,
      ...(first === undefined ? [] : run(first[1], objectAt(metric, first[0]), undefined, at(first[0]))),
      ...(expected === undefined || has(metric, expected)
        ? unknown
        : [fieldRequired(at(expected), 'must populate information for the given metric source')]),
      ...(given.length === 1 ? [] : given)
        .filter(([name]) => name !== expected)
        .map(([name]) => fieldForbidden(at(name), 'must populate the given metric source only')),
    ]
  }

const rulesFor = (known: typeof SOURCES): Rule => each('metrics', [check(checkMetric(known))])
const STRICT = rulesFor(SOURCES)
const ANY_VERSION = rulesFor(SOURCES_OF_ANY_VERSION)

const hasInvalidVersion = (spec: ValueObject): boolean =>
  objectsAt(spec, 'metrics').some(
    metric =>
      stringAt(metric, 'type') === 'Object' &&
      has(metric, 'object') &&
      checkDescribedVersion(objectAt(objectAt(metric, 'object'), 'describedObject'), '').length > 0,
  )

/** Rules for `metrics` of a spec. If a stored object has an invalid version in one, it may have others. */
export const metrics: readonly Rule[] = [
  (spec, old, path, errors) => {
    const rules = old !== undefined && hasInvalidVersion(old) ? ANY_VERSION : STRICT
    rules(spec, old, path, errors)
  },
  check((spec, path) => {
    const canWake = objectsAt(spec, 'metrics').some(metric => ['Object', 'External'].includes(stringAt(metric, 'type')))
    if (numberOrNone(spec, 'minReplicas') !== 0 || canWake) return []
    const why = 'must specify at least one Object or External metric to support scaling to zero replicas'
    return [fieldForbidden(childPath(path, 'metrics'), why)]
  }),
]
