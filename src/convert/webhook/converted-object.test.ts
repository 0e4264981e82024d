import { describe, expect, it } from 'vitest'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { checkConverted } from './converted-object.js'

const METADATA: ValueObject = { name: 'a', namespace: 'ns', uid: 'u', generation: 3, labels: { l: 'x' } }
const ORIGINAL = { apiVersion: 'g/v1', kind: 'K', metadata: METADATA, spec: { old: true } }
const CONVERTED = { apiVersion: 'g/v2', kind: 'K', metadata: METADATA, spec: { fresh: true } }

const check = (converted: Value | undefined) => checkConverted(ORIGINAL, converted, 'g/v2')
const checkMeta = (changed: ValueObject) => check({ ...CONVERTED, metadata: { ...METADATA, ...changed } })

describe('a converter may change', () => {
  it('everything outside of metadata', () => {
    expect(check(CONVERTED)).toEqual({ object: CONVERTED })
  })

  it('labels and annotations', () => {
    const changed = { labels: { l: 'y', m: 'z' }, annotations: { a: 'b' } }
    expect(checkMeta(changed)).toEqual({ object: { ...CONVERTED, metadata: { ...METADATA, ...changed } } })
    const { labels: _, ...bare } = METADATA
    expect(check({ ...CONVERTED, metadata: bare })).toEqual({ object: { ...CONVERTED, metadata: bare } })
  })

  it('nothing else in metadata, which is restored', () => {
    const meddled = { generation: 99, finalizers: ['x'], resourceVersion: '1', ownerReferences: [] }
    expect(checkMeta(meddled)).toEqual({ object: CONVERTED })
  })
})

describe('a converter may not', () => {
  it.each([
    ['object at index 0: invalid groupVersion (expected g/v2, received g/v1)', ORIGINAL],
    ['object at index 0: invalid kind (expected K, received L)', { ...CONVERTED, kind: 'L' }],
    ['object at index 0: invalid groupVersion (expected g/v2, received )', null],
    ['object: must have the same name: a != ', { ...CONVERTED, metadata: null }],
  ])('%s', (error, converted) => {
    expect(check(converted)).toEqual({ error })
  })

  it.each([
    ['object: must have the same name: a != b', { name: 'b' }],
    ['object: must have the same namespace: ns != other', { namespace: 'other' }],
    ['object: must have the same UID: u != v', { uid: 'v' }],
    ['metadata: invalid metadata.labels of type string in converted object', { labels: 'x' }],
    ['metadata: metadata.labels[l] must be a string, but is int64 in converted object', { labels: { l: 1 } }],
  ])('%s', (error, changed) => {
    expect(checkMeta(changed)).toEqual({ error })
  })

  it('set invalid labels and annotations', () => {
    expect(checkMeta({ labels: { l: 'not a value' } })).toMatchObject({
      error: expect.stringContaining('metadata.labels: Invalid value: "not a value"'),
    })
    expect(checkMeta({ annotations: { 'not a key': '' } })).toMatchObject({
      error: expect.stringContaining('metadata.annotation: Invalid value: "not a key"'),
    })
  })

  it('set invalid ones, but unchanged ones are tolerated', () => {
    const original = { ...ORIGINAL, metadata: { ...METADATA, labels: { l: 'not a value' } } }
    const converted = { ...CONVERTED, metadata: original.metadata }
    expect(checkConverted(original, converted, 'g/v2')).toEqual({ object: converted })
  })
})
