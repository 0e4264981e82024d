import { describe, expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { claimErrors, podErrors, withDefaults } from './limit-ranger.js'

const range = (...limits: ValueObject[]): ValueObject => ({ spec: { limits } })
const pod = (containers: ValueObject[], initContainers: ValueObject[] = []) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers, initContainers },
})
const container = (resources: ValueObject = {}, more: ValueObject = {}): ValueObject => ({
  name: 'c',
  resources,
  ...more,
})

describe('defaults', () => {
  const defaults = range({ type: 'Container', default: { cpu: '2', memory: '1Gi' }, defaultRequest: { cpu: '1' } })

  test('containers get the requests and limits that they lack, and an annotation lists them', () => {
    const given = pod([container({ limits: { cpu: '3' } })], [container({}, { name: 'i' })])
    const limited = withDefaults(given, [defaults])
    expect(limited['spec']).toMatchObject({
      containers: [{ resources: { limits: { cpu: '3', memory: '1Gi' }, requests: { cpu: '1' } } }],
      initContainers: [{ resources: { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '1' } } }],
    })
    expect(limited.metadata['annotations']).toEqual({
      'kubernetes.io/limit-ranger':
        'LimitRanger plugin set: cpu request for container c; memory limit for container c; cpu request for init container i; cpu, memory limit for init container i',
    })
    // The pod that was sent is not changed.
    expect(given.metadata).toEqual({ name: 'p' })
  })

  test('a pod that lacks nothing is not changed', () => {
    const given = pod([container({ limits: { cpu: '1', memory: '1' }, requests: { cpu: '1' } })])
    expect(withDefaults(given, [defaults])).toEqual(given)
  })
})

describe('bounds', () => {
  test.each<[string, ValueObject, ValueObject, string[]]>([
    [
      'a request too small',
      { min: { cpu: '1' } },
      { requests: { cpu: '500m' } },
      ['minimum cpu usage per Container is 1, but request is 500m'],
    ],
    ['no request', { min: { cpu: '1' } }, {}, ['minimum cpu usage per Container is 1.  No request is specified']],
    [
      'a limit too small',
      { min: { cpu: '1' } },
      { requests: { cpu: '1' }, limits: { cpu: '500m' } },
      ['minimum cpu usage per Container is 1, but limit is 500m'],
    ],
    ['no limit', { max: { memory: '1Gi' } }, {}, ['maximum memory usage per Container is 1Gi.  No limit is specified']],
    ['a limit that fits', { max: { memory: '1Gi' } }, { limits: { memory: '1024Mi' } }, []],
    [
      'a ratio',
      { maxLimitRequestRatio: { cpu: '2' } },
      { requests: { cpu: '1' }, limits: { cpu: '3' } },
      ['cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000'],
    ],
    [
      'a ratio of nothing',
      { maxLimitRequestRatio: { cpu: '2' } },
      { limits: { cpu: '3' } },
      ['cpu max limit to request ratio per Container is 2, but no request is specified or request is 0'],
    ],
  ])('%s', (_, limit, resources, errors) => {
    expect(podErrors(pod([container(resources)]), [range({ type: 'Container', ...limit })])).toEqual(errors)
  })

  test('a pod is measured by the containers that run at the same time', () => {
    const of = (cpu: string): ValueObject => container({ limits: { cpu } })
    const stays = container({ limits: { cpu: '1' } }, { restartPolicy: 'Always' })
    const limits = range({ type: 'Pod', max: { cpu: '4' } })
    expect(podErrors(pod([of('2'), of('2')], [of('4')]), [limits])).toEqual([])
    expect(podErrors(pod([of('2'), of('2')], [stays]), [limits])).toEqual([
      'maximum cpu usage per Pod is 4, but limit is 5',
    ])
    expect(podErrors(pod([of('1')], [stays, of('4')]), [limits])).toEqual([
      'maximum cpu usage per Pod is 4, but limit is 5',
    ])
  })

  test('cpu and memory of the pod itself count instead of the sum of its containers', () => {
    const limits = range({ type: 'Pod', max: { cpu: '3', 'hugepages-2Mi': '4Mi' } })
    const given = pod([container({ limits: { cpu: '1', 'hugepages-2Mi': '2Mi' } })])
    const sized = (own: ValueObject) => ({ ...given, spec: { ...given.spec, resources: { limits: own } } })
    expect(podErrors(sized({ cpu: '4' }), [limits])).toEqual(['maximum cpu usage per Pod is 3, but limit is 4'])
    expect(podErrors(sized({ cpu: '2', 'hugepages-2Mi': '8Mi' }), [limits])).toEqual([])
  })

  test('only the errors of the first range that refuses are reported', () => {
    const ranges = [range({ type: 'Pod', max: { cpu: '2' } }), range({ type: 'Pod', max: { cpu: '1' } })]
    expect(podErrors(pod([container({ limits: { cpu: '3' } })]), ranges)).toHaveLength(1)
  })

  test('claims are measured by their storage request', () => {
    const claim = { spec: { resources: { requests: { storage: '3Gi' } } } }
    const limits = range({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } })
    expect(claimErrors(claim, [limits])).toEqual([
      'maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi',
    ])
  })
})
