import { expect, test } from 'vitest'
import type { ValueObject } from '../meta/values/value.js'
import { strategyOf } from './written-objects.suite.js'

const now = '2026-01-01T00:00:00Z'
const strategy = (apiVersion: string, kind: string) => strategyOf(apiVersion, kind)

test('what a driver asks for is counted, what stays is not', () => {
  const { prepareForUpdate } = strategy('storage.k8s.io/v1', 'CSIDriver')
  const old: ValueObject = { metadata: {}, spec: { requiresRepublish: false } }
  const same: ValueObject = { metadata: { generation: 7 }, spec: { requiresRepublish: false } }
  prepareForUpdate!(same, old, { now })
  expect(same['metadata']).toEqual({})
  const changed: ValueObject = { metadata: {}, spec: { requiresRepublish: true } }
  prepareForUpdate!(changed, old, { now })
  expect(changed['metadata']).toEqual({ generation: 1 })
})
