import { describe, expect, it, test } from 'vitest'
import { WholeFloat } from '../meta/values/value.js'
import { decodeObjectMeta, decodeStoredObjectMeta } from './object-meta.js'

describe('metadata of custom objects', () => {
  it('keeps known fields and reports unknown ones', () => {
    const decoded = decodeObjectMeta({
      unknown: 1,
      name: 'a',
      labels: { x: null },
      creationTimestamp: null,
      ownerReferences: [{ uid: 'u', extra: 1 }],
    })
    expect(decoded).toEqual({
      ok: true,
      value: {
        value: { name: 'a', labels: { x: '' }, ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: 'u' }] },
        unknown: ['metadata.ownerReferences[0].extra', 'metadata.unknown'],
      },
    })
  })

  test.each([
    [{ labels: { a: 1 } }, 'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string'],
    [{ uid: 1 }, 'json: cannot unmarshal number into Go struct field ObjectMeta.uid of type types.UID'],
    [
      { ownerReferences: [{ controller: 'yes' }] },
      'json: cannot unmarshal string into Go struct field OwnerReference.ownerReferences.controller of type bool',
    ],
    [
      { managedFields: 'x' },
      'json: cannot unmarshal string into Go struct field ObjectMeta.managedFields of type []v1.ManagedFieldsEntry',
    ],
    ['x', 'json: cannot unmarshal string into Go value of type v1.ObjectMeta'],
  ])('%j is refused', (value, error) => {
    expect(decodeObjectMeta(value)).toEqual({ ok: false, error })
  })

  it('drops stored fields of the wrong type, but nothing else', () => {
    const decoded = decodeStoredObjectMeta({ name: 'a', labels: 'x', finalizers: ['f'] })
    expect(decoded.ok && decoded.value.value).toEqual({ name: 'a', finalizers: ['f'] })
    expect(decodeStoredObjectMeta('x')).toMatchObject({ ok: false })
  })

  it('take whole floats for integers, as encoding them again does', () => {
    const decoded = decodeObjectMeta({ generation: new WholeFloat(2) })
    expect(decoded.ok && decoded.value.value).toEqual({ generation: 2 })
    expect(decodeObjectMeta({ generation: 1.5 })).toEqual({
      ok: false,
      error: 'json: cannot unmarshal number 1.5 into Go struct field ObjectMeta.generation of type int64',
    })
  })

  it('are looked at in the order of their names', () => {
    expect(decodeObjectMeta({ name: 1, labels: 2 })).toMatchObject({
      error: expect.stringContaining('ObjectMeta.labels') as string,
    })
  })
})
