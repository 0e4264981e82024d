import { describe, expect, it, test } from 'vitest'
import {
  ageCell,
  parseIncludeObject,
  partialObjectMetadata,
  partialObjectMetadataList,
  tableOf,
  tableRow,
} from './table.js'

const object = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { labels: { l: 'v' }, name: 'a', uid: 'u', odd: 1 },
  spec: { x: 1 },
}
const partial = {
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: { name: 'a', uid: 'u', labels: { l: 'v' } },
}

describe('a Table', () => {
  it('has columns and rows', () => {
    const column = { name: 'Name', type: 'string', format: 'name', description: 'Its name.', priority: 0 }
    expect(tableOf([column], [], { resourceVersion: '5', continue: '', remainingItemCount: 1 })).toEqual({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '5', remainingItemCount: 1 },
      columnDefinitions: [column],
      rows: [],
    })
    expect(tableOf(null, []).columnDefinitions).toBeNull()
  })

  test.each([
    ['None' as const, null],
    ['Metadata' as const, partial],
    ['Object' as const, object],
  ])('row carries %s', (include, expected) => {
    expect(tableRow(['a', 1, null], object, include)).toEqual({ cells: ['a', 1, null], object: expected })
  })

  it('includes metadata by default', () => {
    expect(['', 'includeObject=', 'includeObject=Object'].map(q => parseIncludeObject(new URLSearchParams(q)))).toEqual(
      ['Metadata', 'Metadata', 'Object'],
    )
    expect(() => parseIncludeObject(new URLSearchParams('includeObject=none'))).toThrow(
      `Unable to convert to Table as requested: includeObject: Invalid value: "none": must be 'Metadata', 'Object', 'None', or empty`,
    )
  })
})

describe('PartialObjectMetadata', () => {
  it('has the order of its fields', () => {
    expect(JSON.stringify(partialObjectMetadata(object))).toBe(JSON.stringify(partial))
    expect(partialObjectMetadata({ kind: 'K' })).toMatchObject({ metadata: {} })
  })

  it('comes in lists', () => {
    expect(partialObjectMetadataList([object], { resourceVersion: '5' })).toEqual({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '5' },
      items: [partial],
    })
  })
})

test('ages are printed as in kubectl', () => {
  const now = Date.UTC(2024, 0, 1, 0, 5)
  expect(ageCell('2024-01-01T00:00:00Z', now)).toBe('5m')
  expect([undefined, null, 'x'].map(time => ageCell(time, now))).toEqual(Array(3).fill('<unknown>'))
})
