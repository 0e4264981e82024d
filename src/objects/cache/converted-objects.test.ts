import { expect, test } from 'vitest'
import { widgetKind } from '../../kinds/fake-kinds.suite.js'
import { createConvertedObjects } from './converted-objects.js'

const [version] = widgetKind({}).versions
const entry = (revision: number, size = 1000) => ({ key: `/k/${revision}`, value: Buffer.alloc(size), revision })

test('an entry is found by its key, revision and version', () => {
  const kept = createConvertedObjects()
  kept.keep(version!, entry(7))
  expect(kept.find(version!, entry(7))?.value.length).toBe(1000)
  expect(kept.find(version!, { ...entry(7), key: '/k/other' })).toBeUndefined()
  expect(kept.find(version!, entry(8))).toBeUndefined()
  expect(kept.find({ ...version! }, entry(7))).toBeUndefined()
})

test('entries that are not used are evicted', () => {
  const kept = createConvertedObjects(10_000)
  for (let revision = 1; revision <= 100; revision++) {
    kept.keep(version!, entry(revision))
    expect(kept.find(version!, entry(1))).toBeDefined()
  }
  const found = Array.from({ length: 100 }, (_, i) => kept.find(version!, entry(i + 1))).filter(each => each)
  expect(found.length).toBeLessThanOrEqual(16)
})
