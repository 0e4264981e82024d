import { expect, test } from 'vitest'
import { summarize } from './summary.js'

const texts = (value: unknown): string[] => summarize(value).map(({ path, text }) => `${path}: ${text}`)

test('plain values stand with their paths, lists with the names in them', () => {
  const spec = {
    replicas: 3,
    paused: null,
    args: ['a', 'b'],
    containers: [{ name: 'web' }, { name: 'side' }],
    rules: [{ hosts: ['x'] }],
    template: { metadata: { labels: { app: 'web' } }, spec: {} },
  }
  expect(texts(spec)).toEqual([
    'replicas: 3',
    'paused: null',
    'args: a, b',
    'containers: web, side',
    'rules: 1 item',
    'template.metadata.labels: { app }',
    'template.spec: {}',
  ])
})

test('what has no members has no summary, and a large part is cut', () => {
  expect(texts(undefined)).toEqual([])
  expect(texts({})).toEqual([])
  expect(summarize(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, i])))).toHaveLength(24)
})
