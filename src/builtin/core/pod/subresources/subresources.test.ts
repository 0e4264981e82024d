import { describe, expect, test } from 'vitest'
import type { ValueObject } from '../../../../meta/values/value.js'
import { changed, created, errorsOfChange } from '../../../written-objects.suite.js'
import { checkResizeWithoutInit } from './resize.js'

const container = { name: 'c', image: 'i', resources: { requests: { cpu: '100m' } } }
const init = { name: 'first', image: 'i' }
const sidecar = { name: 'beside', image: 'i', restartPolicy: 'Always' }

describe('resize', () => {
  const pod = { spec: { containers: [container], initContainers: [init, sidecar] } }
  const sized = (...requests: readonly ValueObject[]): ValueObject => ({
    spec: { containers: [{ ...container, resources: { requests: Object.assign({}, ...requests) as ValueObject } }] },
  })

  test('changes how much containers ask for, and counts that; nothing else', () => {
    const old = created('v1', 'Pod', pod)
    const patch = {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ ...container, image: 'other', resources: { requests: { cpu: '1' } } }], hostname: 'h' },
    }
    const now = changed('v1', 'Pod', old, patch, 'resize')
    expect(now).toMatchObject({
      metadata: { generation: 2 },
      spec: { containers: [{ image: 'i', resources: { requests: { cpu: '1' } } }] },
    })
    expect(now['metadata']).not.toHaveProperty('labels')
    expect(now['spec']).not.toHaveProperty('hostname')
  })

  test('leaves init containers as they are while their gate is off', () => {
    const old = created('v1', 'Pod', pod)
    const errorsOf = (...initContainers: ValueObject[]): string[] => {
      const now = structuredClone(old)
      Object.assign(now['spec'] as object, { initContainers })
      return checkResizeWithoutInit(now, old).map(({ field, detail }) => `${field}: ${detail}`)
    }
    const [first, beside] = (old['spec'] as { initContainers: ValueObject[] }).initContainers
    const resources = { requests: { cpu: '1' } }
    expect(errorsOf({ ...first, resources }, beside!)).toEqual([
      'spec: resources for non-sidecar init containers are immutable',
    ])
    expect(errorsOf(first!, { ...beside, resources })).toEqual([])
  })

  test('that changes nothing is no new generation', () => {
    const old = created('v1', 'Pod', pod)
    expect(changed('v1', 'Pod', old, { spec: { containers: [{ ...container, image: 'other' }] } }, 'resize')).toEqual(
      old,
    )
  })

  test.each<[string, ValueObject, string[]]>([
    ['more cpu', sized({ cpu: '1' }), []],
    ['memory as well', sized({ cpu: '1' }, { memory: '1Gi' }), []],
    ['a sidecar', { spec: { initContainers: [init, { ...sidecar, resources: { requests: { cpu: '1' } } }] } }, []],
    [
      'no cpu any more',
      sized({ memory: '1Gi' }),
      ['spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed'],
    ],
    [
      'another class',
      {
        spec: {
          containers: [{ ...container, resources: { limits: { cpu: '100m', memory: '1Gi' } } }],
          initContainers: null,
        },
      },
      [
        'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
        'spec.initContainers: Forbidden: initContainers may not be added or removed on resize',
      ],
    ],
    [
      'something else than cpu and memory',
      sized({ cpu: '1' }, { 'ephemeral-storage': '1Gi' }),
      ['spec: Forbidden: only cpu and memory resources are mutable'],
    ],
    [
      'an init container',
      { spec: { initContainers: [{ ...init, resources: { requests: { cpu: '1' } } }, sidecar] } },
      [],
    ],
    [
      'an init container that would be started again',
      {
        spec: {
          initContainers: [
            {
              ...init,
              resources: { requests: { cpu: '1' } },
              resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }],
            },
            sidecar,
          ],
        },
      },
      [
        'spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be set to \'RestartContainer\' for non-sidecar initContainers',
        'spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable',
        'spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized',
      ],
    ],
    [
      'a sidecar, beyond cpu and memory',
      { spec: { initContainers: [init, { ...sidecar, resources: { requests: { 'ephemeral-storage': '1' } } }] } },
      ['spec.initContainers[1]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable'],
    ],
    ['the pod itself', { spec: { resources: { requests: { cpu: '1' } } } }, []],
    [
      'the pod itself, beyond cpu and memory',
      { spec: { resources: { requests: { cpu: '1', 'hugepages-2Mi': '2Mi' }, limits: { 'hugepages-2Mi': '2Mi' } } } },
      ['spec: Forbidden: only cpu and memory resources are mutable at pod-level'],
    ],
    [
      'another name',
      { spec: { containers: [{ ...container, name: 'd' }] } },
      ['spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize'],
    ],
    [
      'one more',
      { spec: { containers: [container, { name: 'd', image: 'i' }] } },
      ['spec.containers: Forbidden: containers may not be added or removed on resize'],
    ],
  ])('of %s', (_, patch, errors) => {
    expect(errorsOfChange('v1', 'Pod', pod, patch, 'resize')).toEqual(errors)
  })

  test('takes nothing away from the resources of the pod', () => {
    const own = { spec: { ...pod.spec, resources: { requests: { cpu: '1', memory: '1Gi' } } } }
    const errors = (resources: ValueObject | null): string[] =>
      errorsOfChange('v1', 'Pod', own, { spec: { resources } }, 'resize')
    expect(errors({ requests: { cpu: '2', memory: '1Gi' } })).toEqual([])
    expect(errors({ requests: { cpu: '2', memory: null } })).toEqual([
      'spec.resources.requests: Forbidden: pod-level resource requests cannot be removed',
    ])
    expect(errors(null)).toEqual(['spec.resources: Forbidden: pod-level resources cannot be removed'])
  })
})

describe('ephemeral containers', () => {
  const pod = { spec: { containers: [container] } }
  const added = (...ephemeralContainers: readonly ValueObject[]): ValueObject => ({
    spec: { ephemeralContainers: [...ephemeralContainers] },
  })

  test('are added, and nothing else changes', () => {
    const old = created('v1', 'Pod', pod)
    const patch = { spec: { ephemeralContainers: [{ name: 'e', image: 'i' }], hostname: 'h' } }
    const now = changed('v1', 'Pod', old, patch, 'ephemeralcontainers')
    expect(now).toMatchObject({ metadata: { generation: 2 }, spec: { ephemeralContainers: [{ name: 'e' }] } })
    expect(now['spec']).not.toHaveProperty('hostname')
  })

  test.each<[ValueObject, string[]]>([
    [added({ name: 'e', image: 'i', targetContainerName: 'c' }), []],
    [
      added({ name: 'e', image: 'i', targetContainerName: 'x' }),
      ['spec.ephemeralContainers[0].targetContainerName: Not found: "x"'],
    ],
    [added({ name: 'c', image: 'i' }), ['spec.ephemeralContainers[0].name: Duplicate value: "c"']],
    [
      added({ name: 'e', image: 'i', ports: [{ containerPort: 1 }], resources: { limits: { cpu: '1' } } }),
      [
        'spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container',
        'spec.ephemeralContainers[0].resources: Forbidden: cannot be set for an Ephemeral Container',
      ],
    ],
  ])('%j', (patch, errors) => {
    expect(errorsOfChange('v1', 'Pod', pod, patch, 'ephemeralcontainers')).toEqual(errors)
  })

  test('never change and never go', () => {
    const old = { spec: { ...pod.spec, ephemeralContainers: [{ name: 'e', image: 'i' }] } }
    const errors = (patch: ValueObject): string[] => errorsOfChange('v1', 'Pod', old, patch, 'ephemeralcontainers')
    expect(errors(added())).toEqual([
      'spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be removed\n',
    ])
    expect(errors(added({ name: 'e', image: 'other' }))[0]).toMatch(
      /^spec\.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be changed\n@@/,
    )
    expect(errors(added({ name: 'e', image: 'i' }, { name: 'f', image: 'i' }))).toEqual([])
  })
})
