import { describe, expect, test } from 'vitest'
import type { ApiObject } from '../../meta/object/api-object.js'
import { createAdmissionCalls, type RecordedCall } from './calls.js'

const kind = { group: '', version: 'v1', kind: 'ConfigMap' }
const matched = { kind, resource: { group: '', version: 'v1', resource: 'configmaps' } }

const configMap = (name: string, size = 1, resourceVersion?: string): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(resourceVersion !== undefined && { resourceVersion }) },
  data: { a: 'x'.repeat(size) },
})

const call = (object: ApiObject, oldObject?: ApiObject): RecordedCall => ({
  name: 'f',
  phase: 'validate',
  parts: {
    matched,
    requested: matched,
    operation: oldObject ? 'UPDATE' : 'CREATE',
    subresource: '',
    name: 'a',
    namespace: '',
    user: { name: 'jane', uid: '', groups: [], extra: {} },
    dryRun: false,
    options: { dryRun: false, fieldManager: '', fieldValidation: '' },
  },
  object,
  oldObject,
  allowed: true,
  message: undefined,
  mutated: undefined,
})

const namesOf = ({ calls }: ReturnType<typeof createAdmissionCalls>) =>
  calls.map(({ request }) => (request.object!.metadata as { name: string }).name)

describe('the calls of functions', () => {
  test('are the last 1,000, the oldest first', () => {
    const calls = createAdmissionCalls()
    for (let i = 0; i < 3; i++) calls.add(call(configMap(`${i}`)))
    expect(namesOf(calls)).toEqual(['0', '1', '2'])
    for (let i = 3; i < 1003; i++) calls.add(call(configMap(`${i}`)))
    expect(namesOf(calls)).toEqual(Array.from({ length: 1000 }, (_, i) => `${i + 3}`))
    calls.clear()
    expect(calls.calls).toEqual([])
    calls.add(call(configMap('after')))
    expect(namesOf(calls)).toEqual(['after'])
  })

  test('are fewer if their objects are large', () => {
    const calls = createAdmissionCalls()
    for (let i = 0; i < 100; i++) {
      const object = configMap(`${i}`, 1024 * 1024)
      calls.add(call(object))
      if (i % 2) calls.stored(object, Buffer.from(JSON.stringify(object)))
    }
    expect(namesOf(calls).length).toBeLessThan(100)
    expect(namesOf(calls).length).toBeGreaterThan(60)
    expect(namesOf(calls).at(-1)).toBe('99')
  })

  test('have their objects as they were when they were stored, with the version of the request', () => {
    const calls = createAdmissionCalls()
    const [object, old] = [configMap('a', 1, '7'), configMap('old')]
    calls.add(call(object, old))
    calls.stored(object, Buffer.from(JSON.stringify(configMap('a'))))
    object.metadata['name'] = 'changed by a later step'
    expect(calls.calls[0]!.request.object).toEqual(configMap('a', 1, '7'))
    expect(calls.calls[0]!.request.oldObject).toEqual(configMap('old'))
  })

  test('that are never stored keep what was asked', () => {
    const calls = createAdmissionCalls()
    for (let i = 0; i < 100; i++) calls.add(call(configMap(`${i}`), configMap('old', 2)))
    expect(namesOf(calls)).toHaveLength(100)
    expect(calls.calls[0]!.request.object).toEqual(configMap('0'))
    expect(calls.calls[0]!.request.oldObject).toEqual(configMap('old', 2))
    expect(calls.calls[0]).toBe(calls.calls[0])
  })
})
