import { describe, expect, test } from 'vitest'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import { overheadError, setRuntime } from './runtime-class.js'

const pod = (spec: ValueObject): ApiObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec })

describe('runtime classes', () => {
  const overhead = { podFixed: { cpu: '100m' } }

  test('add overhead, node selector and tolerations to a pod', () => {
    const scheduling = { nodeSelector: { a: 'b' }, tolerations: [{ key: 'k', operator: 'Exists' }] }
    const given = pod({ nodeSelector: { c: 'd' }, tolerations: [{ key: 'k', operator: 'Equal', value: 'v' }] })
    expect(setRuntime(given, { overhead, scheduling })).toEqual({
      pod: pod({
        nodeSelector: { c: 'd', a: 'b' },
        // Exists tolerates every value.
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

  test('refuse pods that conflict with them', () => {
    const mismatch = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
    expect(setRuntime(pod({ overhead: { cpu: '1' } }), { overhead })).toEqual({ refusal: mismatch })
    expect(setRuntime(pod({ overhead: { cpu: '0.1' } }), { overhead })).toHaveProperty('pod')
    expect(setRuntime(pod({ nodeSelector: { a: 'c' } }), { scheduling: { nodeSelector: { a: 'b' } } })).toEqual({
      refusal: 'conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c',
    })
    expect(overheadError(pod({}), { overhead })).toBe(mismatch)
    expect(overheadError(pod({ overhead: { cpu: '1' } }), undefined)).toBe(
      'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    )
    expect(overheadError(pod({}), undefined)).toBeUndefined()
  })
})
