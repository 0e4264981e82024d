import { expect, test } from 'vitest'
import type { PolicyRule } from './rbac.js'
import { uncoveredRules } from './rule-cover.js'

const texts = (count: number, prefix: string): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`)

test('a rule is broken down to what is not granted', () => {
  const owned = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }]
  const wanted = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'delete'] }]
  expect(uncoveredRules(owned, wanted)).toEqual([{ apiGroups: [''], resources: ['pods'], verbs: ['delete'] }])
  expect(uncoveredRules(owned, [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }])).toEqual([])
})

test('rules whose parts multiply are not broken down', () => {
  const rule = { apiGroups: texts(10_000, 'g'), resources: texts(10_000, 'r'), verbs: texts(10_000, 'v') }
  expect(uncoveredRules([], [rule])).toEqual([rule])
  expect(uncoveredRules([{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }], [rule])).toEqual([])
})

test('a URL of very many stars is compared in a time that grows with their number', () => {
  const [owned, wanted] = [`/${'*'.repeat(500_000)}x*`, '/y'].map(url => ({ verbs: ['get'], nonResourceURLs: [url] }))
  expect(uncoveredRules([owned!], [wanted!])).toEqual([wanted])
  const covering = { verbs: ['get'], nonResourceURLs: ['/a**'] }
  expect(uncoveredRules([covering], [{ verbs: ['get'], nonResourceURLs: ['/ab'] }])).toEqual([])
})

test('lists may be null', () => {
  const rule = { verbs: null, apiGroups: null, resources: ['pods'] } as unknown as PolicyRule
  expect(uncoveredRules([], [rule])).toEqual([])
})
