import { describe, expect, test } from 'vitest'
import { metaOf } from '../meta/object/object-meta.js'
import type { ValueObject } from '../meta/values/value.js'
import { podGrace, qosClassOf } from './core/pod/status.js'
import { changed, created, strategyOf } from './written-objects.suite.js'

describe('namespaces', () => {
  test('a new one is active, has its own finalizer and its name as a label', () => {
    const namespace = created('v1', 'Namespace', { spec: { finalizers: ['a.b/c'] }, status: { phase: 'Terminating' } })
    expect(namespace).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': 'x' } },
      spec: { finalizers: ['a.b/c', 'kubernetes'] },
      status: { phase: 'Active' },
    })
  })

  test('an update changes neither finalizers nor status nor the label', () => {
    const old = created('v1', 'Namespace', {})
    const patch = { metadata: { labels: null }, spec: { finalizers: [] }, status: { phase: 'Terminating' } }
    expect(changed('v1', 'Namespace', old, patch)).toEqual(old)
  })
})

describe('pods', () => {
  const old = created('v1', 'Pod', { spec: { containers: [{ name: 'c', image: 'i' }] } })

  test.each<[string, ValueObject, number | undefined, number]>([
    ['as it says itself', { spec: { nodeName: 'n', terminationGracePeriodSeconds: 7 } }, undefined, 7],
    ['as is asked', { spec: { nodeName: 'n', terminationGracePeriodSeconds: 7 } }, 3, 3],
    ['at least a second for less than nothing', { spec: { nodeName: 'n' } }, -1, 1],
    ['none if it runs nowhere', { spec: { terminationGracePeriodSeconds: 7 } }, 3, 0],
    ['none if it has ended', { spec: { nodeName: 'n' }, status: { phase: 'Failed' } }, 3, 0],
  ])('one that is to go gets its time: %s', (_, pod, requested, seconds) => {
    expect(podGrace(pod, requested)).toBe(seconds)
  })

  test('a new one is pending', () => {
    expect(old).toMatchObject({ metadata: { generation: 1 }, status: { phase: 'Pending', qosClass: 'BestEffort' } })
  })

  test('one with gates says that it waits', () => {
    const gated = created('v1', 'Pod', { spec: { schedulingGates: [{ name: 'a' }] } })
    expect(gated).toMatchObject({ status: { conditions: [{ type: 'PodScheduled', reason: 'SchedulingGated' }] } })
  })

  test('the generation counts changes of the spec only', () => {
    const labelled = changed('v1', 'Pod', old, { metadata: { labels: { a: 'b' }, generation: 9 } })
    expect(metaOf(labelled).generation).toBe(1)
    const tolerant = changed('v1', 'Pod', old, { spec: { activeDeadlineSeconds: 5 } })
    expect(metaOf(tolerant).generation).toBe(2)
  })

  test('a write to the status leaves the spec and the quality of service', () => {
    const patch = { spec: { hostNetwork: true }, status: { phase: 'Running', qosClass: 'Guaranteed' } }
    const pod = changed('v1', 'Pod', old, patch, 'status')
    expect(pod).toMatchObject({ spec: old['spec'], status: { phase: 'Running', qosClass: 'BestEffort' } })
  })

  test.each<[string, ValueObject[]]>([
    ['BestEffort', [{}]],
    ['BestEffort', [{ limits: { 'example.com/gpu': '1' } }]],
    ['Burstable', [{ requests: { cpu: '1' } }]],
    ['Burstable', [{ limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } }, {}]],
    ['Guaranteed', [{ limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1000m', memory: '1Gi' } }]],
  ])('%s: %j', (expected, resources) => {
    expect(qosClassOf({ containers: resources.map(each => ({ resources: each })) })).toBe(expected)
  })
})

describe('deployments', () => {
  const old = created('apps/v1', 'Deployment', { status: { replicas: 5 } })

  test('a new one has no status and the first generation', () => {
    expect(old).toMatchObject({ metadata: { generation: 1 }, status: {} })
    expect(old['status']).toEqual({})
  })

  test.each<[string, ValueObject, number]>([
    ['the spec', { spec: { replicas: 3 } }, 2],
    ['an annotation', { metadata: { annotations: { a: 'b' } } }, 2],
    ['a label', { metadata: { labels: { a: 'b' } } }, 1],
  ])('a change of %s', (_what, patch, generation) => {
    expect(metaOf(changed('apps/v1', 'Deployment', old, patch)).generation).toBe(generation)
  })

  test('a write to the status changes neither spec nor labels', () => {
    const patch = { metadata: { labels: { a: 'b' } }, spec: { replicas: 9 }, status: { replicas: 2 } }
    const deployment = changed('apps/v1', 'Deployment', old, patch, 'status')
    expect(deployment).toEqual({ ...old, status: { replicas: 2 } })
  })
})

test('a client may say which generation a plain object starts with, not which it goes on with', () => {
  const old = created('v1', 'ConfigMap', { metadata: { generation: 42 } })
  expect(metaOf(old).generation).toBe(42)
  expect(metaOf(changed('v1', 'ConfigMap', old, { metadata: { generation: 50 } })).generation).toBe(42)
})

test('a service account names its secrets and says no more of them', () => {
  expect(created('v1', 'ServiceAccount', { secrets: [{ name: 'a', namespace: 'b' }] })).toMatchObject({
    secrets: [{ name: 'a' }],
  })
})

test('a lease takes no part in elections that are not held', () => {
  const lease = created('coordination.k8s.io/v1', 'Lease', { spec: { strategy: 'x', preferredHolder: 'y' } })
  expect(lease['spec']).toEqual({})
})

test('kinds without rules of their own keep their status apart if they have a path for it', () => {
  const strategy = strategyOf('apps/v1', 'ReplicaSet')
  const object: ValueObject = { metadata: {}, status: { replicas: 3 } }
  strategy.prepareForCreate?.(object, { now: '' })
  expect(object['status']).toEqual({ replicas: 0 })
  expect(strategyOf('storage.k8s.io/v1', 'StorageClass').prepareForStatusUpdate).toBeUndefined()
})
