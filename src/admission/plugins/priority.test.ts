import { describe, expect, test } from 'vitest'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import { attributesFor, mutated, refusalOf } from '../attributes.suite.js'
import { systemPriorityClasses } from '../internal/system-priority-classes.js'
import { defaultClassError, defaultClassOf, keepPriority, priority, setPriority } from './priority.js'

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

  test('cannot be set to another value by the pod', () => {
    expect(setPriority(pod({ priority: 1 }), undefined)).toEqual({
      refusal:
        'the integer value of priority (1) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    })
    expect(setPriority(pod({ preemptionPolicy: 'Never' }), undefined)).toHaveProperty('refusal')
  })

  test('is kept by an update that leaves it out', () => {
    const old = pod({ priority: 5, preemptionPolicy: 'Never' })
    expect(keepPriority(pod({ priority: 5 }), old)).toEqual(old)
    expect(keepPriority(old, old)).toBeUndefined()
  })

  test('has one default class, and a second one is refused', () => {
    const isDefault = { globalDefault: true }
    const classes = [priorityClass('b', 2, isDefault), priorityClass('a', 1, isDefault), priorityClass('c', 0)]
    expect(defaultClassOf(classes)?.metadata['name']).toBe('a')
    expect(defaultClassError(priorityClass('a', 1, isDefault), classes)).toBeUndefined()
    expect(defaultClassError(priorityClass('x', 1, isDefault), classes)).toBe(
      'PriorityClass a is already marked as default. Only one default can exist',
    )
  })

  const classes = [priorityClass('a', 5)]
  const plugin = priority({
    find: async (_, __, name) => classes.find(({ metadata }) => metadata['name'] === name),
    all: async () => classes,
  })

  test('is set by the plugin', async () => {
    const attributes = attributesFor('pods', { object: pod({ priorityClassName: 'a' }) })
    expect((await mutated(plugin, attributes))?.['spec']).toMatchObject({ priority: 5 })
  })

  test('cannot come from a class that does not exist', async () => {
    const attributes = attributesFor('pods', { object: pod({ priorityClassName: 'b' }) })
    expect(await refusalOf(plugin, attributes)).toBe('pods "p" is forbidden: no PriorityClass with name b was found')
  })
})

test('the priority classes of the system cannot be deleted', async () => {
  const remove = (name: string): Promise<string> =>
    refusalOf(
      systemPriorityClasses,
      attributesFor('priorityclasses.scheduling.k8s.io', { operation: 'DELETE', namespace: '', name }),
    )
  expect(await remove('system-node-critical')).toBe(
    'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted',
  )
  expect(await remove('mine')).toBe('')
})
