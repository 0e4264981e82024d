// What pods get from classes that they name, and from the health of nodes.

import { describe, expect, test } from 'vitest'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import { addTolerations, taintNewNode } from './node-health.js'
import { defaultClassError, defaultClassOf, keepPriority, setPriority, systemClassError } from './priority.js'
import { runtimeError, setRuntime } from './runtime-class.js'

const pod = (spec: ValueObject): ApiObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec })
const priorityClass = (name: string, value: number, more: ValueObject = {}): ApiObject => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name },
  value,
  preemptionPolicy: 'Never',
  ...more,
})

describe('priority', () => {
  test('is that of the class', () => {
    expect(setPriority(pod({ priorityClassName: 'a' }), priorityClass('a', 5))).toEqual({
      pod: pod({ priorityClassName: 'a', priority: 5, preemptionPolicy: 'Never' }),
    })
  })

  test('is 0 without a class, and that of the default where there is one', () => {
    expect(setPriority(pod({}), undefined)).toEqual({
      pod: pod({ priority: 0, preemptionPolicy: 'PreemptLowerPriority' }),
    })
    expect(setPriority(pod({}), priorityClass('d', 7))).toEqual({
      pod: pod({ priorityClassName: 'd', priority: 7, preemptionPolicy: 'Never' }),
    })
  })

  test('is not for the pod to say', () => {
    expect(setPriority(pod({ priority: 1 }), undefined)).toEqual({
      refusal:
        'the integer value of priority (1) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    })
    expect(setPriority(pod({ preemptionPolicy: 'Never' }), undefined)).toHaveProperty('refusal')
  })

  test('stays when someone writes the pod who does not know of it', () => {
    const old = pod({ priority: 5, preemptionPolicy: 'Never' })
    expect(keepPriority(pod({ priority: 5 }), old)).toEqual(old)
  })

  test('has one default, which nobody can add to', () => {
    const isDefault = { globalDefault: true }
    const classes = [priorityClass('b', 2, isDefault), priorityClass('a', 1, isDefault), priorityClass('c', 0)]
    expect(defaultClassOf(classes)?.metadata['name']).toBe('a')
    expect(defaultClassError(priorityClass('a', 1, isDefault), classes)).toBeUndefined()
    expect(defaultClassError(priorityClass('x', 1, isDefault), classes)).toBe(
      'PriorityClass a is already marked as default. Only one default can exist',
    )
  })

  test('some classes stay', () => {
    expect(systemClassError('system-node-critical')).toBe('this is a system priority class and cannot be deleted')
    expect(systemClassError('mine')).toBeUndefined()
  })
})

describe('runtime classes', () => {
  const overhead = { podFixed: { cpu: '100m' } }

  test('add to what a pod takes, and to where it runs', () => {
    const scheduling = { nodeSelector: { a: 'b' }, tolerations: [{ key: 'k', operator: 'Exists' }] }
    const given = pod({ nodeSelector: { c: 'd' }, tolerations: [{ key: 'k', operator: 'Equal', value: 'v' }] })
    expect(setRuntime(given, { overhead, scheduling })).toEqual({
      pod: pod({
        nodeSelector: { c: 'd', a: 'b' },
        // The one says all that the other said.
        tolerations: [{ key: 'k', operator: 'Exists' }],
        overhead: { cpu: '100m' },
      }),
    })
  })

  test.each<[string, ValueObject[], ValueObject[], number]>([
    ['the same twice', [{ key: 'a', operator: 'Exists' }], [{ key: 'a', operator: 'Exists' }], 1],
    ['all keys', [{ operator: 'Exists' }], [{ key: 'a', operator: 'Exists' }], 1],
    [
      'another effect',
      [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }],
      [{ key: 'a', operator: 'Exists', effect: 'NoExecute' }],
      2,
    ],
    [
      'a longer time',
      [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }],
      [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 9 }],
      1,
    ],
    ['another value', [{ key: 'a', operator: 'Equal', value: 'x' }], [{ key: 'a', operator: 'Equal', value: 'y' }], 2],
  ])('tolerations: %s', (_, own, added, left) => {
    expect(setRuntime(pod({ tolerations: own }), { scheduling: { tolerations: added } })).toHaveProperty(
      'pod.spec.tolerations.length',
      left,
    )
  })

  test('and pods must agree', () => {
    const mismatch = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
    expect(setRuntime(pod({ overhead: { cpu: '1' } }), { overhead })).toEqual({ refusal: mismatch })
    expect(setRuntime(pod({ overhead: { cpu: '0.1' } }), { overhead })).toHaveProperty('pod')
    expect(setRuntime(pod({ nodeSelector: { a: 'c' } }), { scheduling: { nodeSelector: { a: 'b' } } })).toEqual({
      refusal: 'conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c',
    })
    expect(runtimeError(pod({}), { overhead })).toBe(mismatch)
    expect(runtimeError(pod({ overhead: { cpu: '1' } }), undefined)).toBe(
      'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    )
    expect(runtimeError(pod({}), undefined)).toBeUndefined()
  })
})

describe('the health of nodes', () => {
  test('tolerations of its own replace those that come by themselves', () => {
    const count = (tolerations: ValueObject[]): number =>
      (addTolerations(pod({ tolerations }))['spec'] as { tolerations: ValueObject[] }).tolerations.length
    expect(count([{ key: 'x', operator: 'Exists', effect: 'NoSchedule' }])).toBe(3)
    expect(count([{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }])).toBe(2)
    expect(count([{ operator: 'Exists' }])).toBe(1)
  })

  test('a new node takes no pods until it has reported', () => {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: {}, spec: {} }
    const tainted = { ...node, spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] } }
    expect(taintNewNode(node)).toEqual(tainted)
    expect(taintNewNode(tainted)).toEqual(tainted)
  })
})
