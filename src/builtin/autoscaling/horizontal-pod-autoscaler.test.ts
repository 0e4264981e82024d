import { describe, expect, test } from 'vitest'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import { builtinTypes } from '../../types/type-table.js'
import { builtinKinds } from '../builtin-kinds.js'
import { created, errorsOfChange, strategyOf, tableRowOf, validationOf } from '../written-objects.suite.js'

const kind = builtinKinds(builtinTypes()).find(({ names }) => names.kind === 'HorizontalPodAutoscaler')!
const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }

const autoscaler = (
  version: 'v1' | 'v2',
  parts: { metadata?: ValueObject; spec?: ValueObject; status?: ValueObject },
) =>
  ({
    apiVersion: `autoscaling/${version}`,
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'a', ...parts.metadata },
    spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 2, ...parts.spec },
    status: parts.status ?? { desiredReplicas: 0, currentMetrics: null },
  }) satisfies ApiObject

const convert = async (object: ApiObject, version: string): Promise<ApiObject> =>
  kind.convert(object, `autoscaling/${version}`)

const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } }
const metric = { name: 'm', selector: { matchLabels: { a: 'b' } } }

describe('a round trip through v1 keeps', () => {
  test.each<[string, ValueObject[]]>([
    ['the utilization of CPU', [cpu]],
    [
      'CPU as an amount',
      [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '1' } } }],
    ],
    ['pods', [{ type: 'Pods', pods: { metric, target: { type: 'AverageValue', averageValue: '5' } } }]],
    [
      'an object',
      [
        {
          type: 'Object',
          object: { describedObject: scaleTargetRef, target: { type: 'AverageValue', averageValue: '5' }, metric },
        },
      ],
    ],
    [
      'a container',
      [
        {
          type: 'ContainerResource',
          containerResource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 5 }, container: 'c' },
        },
      ],
    ],
    ['several, CPU last', [{ type: 'External', external: { metric, target: { type: 'Value', value: '3' } } }, cpu]],
  ])('%s', async (_, metrics) => {
    const behavior = {
      scaleUp: { selectPolicy: 'Max', policies: [{ type: 'Pods', value: 1, periodSeconds: 5 }], tolerance: '100m' },
    }
    const object = autoscaler('v2', {
      metadata: { annotations: { mine: 'yes' } },
      spec: { metrics, behavior },
      status: {
        desiredReplicas: 1,
        currentMetrics: [
          { type: 'Resource', resource: { name: 'cpu', current: { averageValue: '1', averageUtilization: 7 } } },
        ],
        conditions: [{ type: 'ScalingActive', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' }],
      },
    })
    const older = await convert(object, 'v1')
    expect(older['status']).toMatchObject({ currentCPUUtilizationPercentage: 7 })
    expect(await convert(older, 'v2')).toEqual(object)
  })
})

test('without any metric, the target is 80 percent of CPU', async () => {
  const { spec } = await convert(autoscaler('v1', { status: { currentReplicas: 0, desiredReplicas: 0 } }), 'v2')
  expect(spec).toMatchObject({ metrics: [{ resource: { target: { averageUtilization: 80 } } }] })
})

test.each(['{', '[{"type":5}]', '"text"', '[{"type":"Resource","resource":{"name":[]}}]'])(
  'an annotation that cannot be read is ignored: %s',
  async text => {
    const annotations = {
      'autoscaling.alpha.kubernetes.io/metrics': text,
      'autoscaling.alpha.kubernetes.io/behavior': text,
      'autoscaling.alpha.kubernetes.io/conditions': text,
    }
    const object = autoscaler('v1', {
      metadata: { annotations },
      spec: { targetCPUUtilizationPercentage: 60 },
      status: { currentReplicas: 0, desiredReplicas: 0 },
    })
    const { metadata, spec } = await convert(object, 'v2')
    expect(metadata).toEqual({ name: 'a' })
    expect(spec).not.toHaveProperty('behavior')
  },
)

describe('validation', () => {
  const { create, update } = validationOf('autoscaling/v2', 'HorizontalPodAutoscaler', true)
  const fieldsOf = (spec: ValueObject): string[] =>
    create(autoscaler('v2', { metadata: { namespace: 'n' }, spec })).map(({ field, detail }) => `${field}: ${detail}`)

  test.each<[string, ValueObject, string[]]>([
    ['nothing wrong', { metrics: [cpu] }, []],
    [
      'two sources',
      { metrics: [{ ...cpu, pods: { metric, target: { type: 'AverageValue', averageValue: '5' } } }] },
      ['spec.metrics[0].pods: must populate the given metric source only'],
    ],
    [
      'no amount',
      { metrics: [{ type: 'Pods', pods: { metric, target: { type: 'Value', value: '-5' } } }] },
      [
        'spec.metrics[0].pods.target.value: must be positive',
        'spec.metrics[0].pods.target.averageValue: must specify a positive target averageValue',
      ],
    ],
    [
      'a policy with a long period',
      { behavior: { scaleDown: { policies: [{ type: 'Pods', value: 1, periodSeconds: 1801 }] } } },
      ['spec.behavior.scaleDown.policies[0].periodSeconds: must be less than or equal to 1800'],
    ],
    [
      'no policy',
      { behavior: { scaleUp: { policies: [] } } },
      ['spec.behavior.scaleUp.policies: must specify at least one Policy'],
    ],
    [
      'a controller of the core group',
      { scaleTargetRef: { kind: 'ReplicationController', name: 'r', apiVersion: 'v1' } },
      [],
    ],
    [
      'a version that is none',
      { scaleTargetRef: { kind: 'D', name: 'd', apiVersion: 'a/b/c' } },
      ['spec.scaleTargetRef.apiVersion: unexpected GroupVersion string: a/b/c'],
    ],
  ])('%s', (_, spec, errors) => expect(fieldsOf(spec)).toEqual(errors))

  test('a stored autoscaler may keep zero replicas', () => {
    const external = { type: 'External', external: { metric, target: { type: 'Value', value: '3' } } }
    const old = autoscaler('v2', { metadata: { resourceVersion: '1' }, spec: { minReplicas: 0, metrics: [external] } })
    expect(update(old, old)).toEqual([])
    expect(create(old).map(({ field }) => field)).toContain('spec.minReplicas')
  })

  test.each<[ValueObject, string[]]>([
    [
      { maxReplicas: 0 },
      [
        'spec.maxReplicas: must be set and greater than 0',
        'spec.maxReplicas: must be greater than or equal to `minReplicas`',
      ],
    ],
    [
      { maxReplicas: -1 },
      [
        'spec.maxReplicas: must be greater than or equal to 1',
        'spec.maxReplicas: must be greater than or equal to `minReplicas`',
      ],
    ],
  ])('bounds: %j', (spec, errors) => expect(fieldsOf(spec)).toEqual(errors))

  test('a stored target keeps its version', () => {
    const old = { spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 2 } }
    const change = (patch: ValueObject): string[] =>
      errorsOfChange('autoscaling/v2', 'HorizontalPodAutoscaler', old, { spec: { scaleTargetRef: patch } })
    expect(change({ name: 'e' })).toEqual([])
    expect(change({ kind: 'Other' })).toEqual([
      'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
    ])
  })
})

describe('autoscaling/v1', () => {
  const v1 = (annotations: ValueObject, spec: ValueObject = {}): ValueObject =>
    created('autoscaling/v1', 'HorizontalPodAutoscaler', {
      metadata: { annotations },
      spec: { scaleTargetRef, maxReplicas: 2, ...spec },
    })

  test('without any metric, the target is 80 percent of CPU', () => {
    expect(v1({})).toMatchObject({ spec: { minReplicas: 1, targetCPUUtilizationPercentage: 80 } })
    expect(v1({}, { targetCPUUtilizationPercentage: 5 })).toMatchObject({ spec: { targetCPUUtilizationPercentage: 5 } })
  })

  test('annotations of the conversion that cannot be read are dropped', () => {
    const object = v1({
      mine: 'yes',
      'autoscaling.alpha.kubernetes.io/metrics': '{',
      'autoscaling.alpha.kubernetes.io/behavior': '{"ScaleUp":null}',
      'autoscaling.alpha.kubernetes.io/scale-up-tolerance': '1',
    })
    expect(object).toMatchObject({ metadata: { annotations: { mine: 'yes' } } })
    expect(JSON.stringify(object)).not.toContain('autoscaling.alpha')
  })

  test('metrics in an annotation stay there', () => {
    const pods = '[{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"5"}}]'
    const object = v1({ 'autoscaling.alpha.kubernetes.io/metrics': pods })
    expect(object).toMatchObject({ metadata: { annotations: { 'autoscaling.alpha.kubernetes.io/metrics': pods } } })
    expect(object['spec']).not.toHaveProperty('targetCPUUtilizationPercentage')
    const row = tableRowOf('autoscaling/v1', 'horizontalpodautoscalers')(object, 0)
    expect(row.slice(0, 3)).toEqual(['x', 'Deployment/d', '<unknown>/5'])
  })
})

test('annotations of v1 that hold parts of the status are not written with the object', () => {
  const conditions = 'autoscaling.alpha.kubernetes.io/conditions'
  const withConditions = (text: string): ValueObject => ({
    metadata: { annotations: { [conditions]: text, own: 'x' } },
  })
  const { prepareForCreate, prepareForUpdate } = strategyOf('autoscaling/v1', 'HorizontalPodAutoscaler')
  const context = { now: '2024-01-02T03:04:05Z' }
  const sent = withConditions('[]')
  prepareForCreate!(sent, context)
  expect(sent).toMatchObject({ metadata: { annotations: { own: 'x' } } })
  expect(sent).not.toHaveProperty(['metadata', 'annotations', conditions])
  const updated = withConditions('[1]')
  prepareForUpdate!(updated, withConditions('[2]'), context)
  expect(updated).toMatchObject({ metadata: { annotations: { own: 'x', [conditions]: '[2]' } } })
})
