// What writes set, keep and clear in core kinds and deployments.
import { describe, expect, test } from 'vitest'
import { metaOf } from '../../meta/object/object-meta.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import { changed, created } from '../written-objects.suite.js'
import { podGrace, qosClassOf } from './pod/subresources/status.js'

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
    expect(equalValues(changed('v1', 'Namespace', old, patch), old)).toBe(true)
  })
})

describe('pods', () => {
  const old = created('v1', 'Pod', { spec: { containers: [{ name: 'c', image: 'i' }] } })

  test.each<[string, ValueObject, number | undefined, number]>([
    ['of the spec', { spec: { nodeName: 'n', terminationGracePeriodSeconds: 7 } }, undefined, 7],
    ['of the request', { spec: { nodeName: 'n', terminationGracePeriodSeconds: 7 } }, 3, 3],
    ['one second if negative', { spec: { nodeName: 'n' } }, -1, 1],
    ['0 if it is on no node', { spec: { terminationGracePeriodSeconds: 7 } }, 3, 0],
    ['0 if it has ended', { spec: { nodeName: 'n' }, status: { phase: 'Failed' } }, 3, 0],
  ])('grace period of a deletion: %s', (_, pod, requested, seconds) => {
    expect(podGrace(pod, requested)).toBe(seconds)
  })

  test('a new one is pending', () => {
    expect(old).toMatchObject({ metadata: { generation: 1 }, status: { phase: 'Pending', qosClass: 'BestEffort' } })
  })

  test('one with gates has a condition that it is not scheduled', () => {
    const gated = created('v1', 'Pod', { spec: { schedulingGates: [{ name: 'a' }] } })
    expect(gated).toMatchObject({ status: { conditions: [{ type: 'PodScheduled', reason: 'SchedulingGated' }] } })
  })

  test('the generation counts changes of the spec only', () => {
    const labelled = changed('v1', 'Pod', old, { metadata: { labels: { a: 'b' }, generation: 9 } })
    expect(metaOf(labelled).generation).toBe(1)
    const tolerant = changed('v1', 'Pod', old, { spec: { activeDeadlineSeconds: 5 } })
    expect(metaOf(tolerant).generation).toBe(2)
  })

  test('a write to the status changes neither spec nor quality of service', () => {
    const patch = { spec: { hostNetwork: true }, status: { phase: 'Running', qosClass: '' } }
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

test('a client sets the generation of an object without a spec only when it creates it', () => {
  const old = created('v1', 'ConfigMap', { metadata: { generation: 42 } })
  expect(metaOf(old).generation).toBe(42)
  expect(metaOf(changed('v1', 'ConfigMap', old, { metadata: { generation: 50 } })).generation).toBe(42)
})

test('a service account keeps only the names of its secrets', () => {
  expect(created('v1', 'ServiceAccount', { secrets: [{ name: 'a', namespace: 'b' }] })).toMatchObject({
    secrets: [{ name: 'a' }],
  })
})
