// Validation of persistent volumes and claims.
import { describe, expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { validationOf } from '../written-objects.suite.js'

const metadata = { name: 'x', resourceVersion: '1' }

const created = (apiVersion: string, kind: string, object: ValueObject): string[] =>
  validationOf(apiVersion, kind, false)
    .create({ metadata: { name: 'x' }, ...object })
    .map(printFieldError)

const updated = (apiVersion: string, kind: string, object: ValueObject, old: ValueObject): string[] =>
  validationOf(apiVersion, kind, false)
    .update({ metadata, ...object }, { metadata, ...old })
    .map(printFieldError)

describe('a claim', () => {
  const claim = (spec: ValueObject, storage = '2Gi'): ValueObject => ({
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...spec },
  })
  const bound = (object: ValueObject, capacity = '1Gi'): ValueObject => ({
    ...object,
    status: { phase: 'Bound', capacity: { storage: capacity } },
  })
  const named = { metadata: { ...metadata, namespace: 'n' } }
  const changed = (object: ValueObject, old: ValueObject) =>
    updated('v1', 'PersistentVolumeClaim', { ...object, ...named }, { ...old, ...named })

  test.each<[ValueObject, string]>([
    [{ accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] }, 'may not use ReadWriteOncePod with other access modes'],
    [{ dataSource: { kind: 'Odd', name: 'x' } }, 'spec.dataSource: Invalid value: "Odd"'],
    [{ dataSourceRef: { apiGroup: 'g', kind: 'K', name: '' } }, 'spec.dataSourceRef.name: Required value'],
    [
      {
        dataSource: { kind: 'PersistentVolumeClaim', name: 'a' },
        dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' },
      },
      'spec: Invalid value: {}: must match dataSourceRef',
    ],
  ])('with %j', (spec, error) => {
    const object = { ...claim(spec), metadata: { name: 'x', namespace: 'n' } }
    expect(created('v1', 'PersistentVolumeClaim', object)).toEqual([expect.stringContaining(error)])
  })

  test('may be bound and get its class after it was created', () => {
    expect(changed(claim({ volumeName: 'v', storageClassName: 'c' }), claim({}))).toEqual([])
    expect(changed(claim({ volumeName: 'w' }), claim({ volumeName: 'v' }))).toEqual([
      expect.stringContaining('spec: Forbidden: spec is immutable after creation'),
    ])
  })

  test('that is bound may grow, and shrink to more than its capacity', () => {
    expect(changed(bound(claim({}, '3Gi')), bound(claim({})))).toEqual([])
    expect(changed(bound(claim({}, '1500Mi')), bound(claim({})))).toEqual([])
    expect(changed(bound(claim({}, '1Gi')), bound(claim({})))).toEqual([
      'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
    ])
  })

  test('that is bound cannot lose its attributes class', () => {
    const old = bound(claim({ volumeAttributesClassName: 'a' }))
    old['status'] = { ...(old['status'] as ValueObject), currentVolumeAttributesClassName: 'a' }
    expect(changed(bound(claim({ volumeAttributesClassName: 'b' })), old)).toEqual([])
    expect(changed(bound(claim({})), old)).toEqual([
      'spec.volumeAttributesClassName: Forbidden: update to nil is forbidden when status.currentVolumeAttributesClassName is not nil',
    ])
  })
})

describe('a volume', () => {
  const spec = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/a' } }
  const volume = (over: ValueObject): string[] => created('v1', 'PersistentVolume', { spec: { ...spec, ...over } })

  test.each<[ValueObject, string[]]>([
    [{}, []],
    [{ accessModes: [] }, ['spec.accessModes: Required value']],
    [
      { capacity: {} },
      ['spec.capacity: Required value', 'spec.capacity: Unsupported value: {}: supported values: "storage"'],
    ],
    [{ capacity: { storage: '0' } }, ['spec.capacity[storage]: Invalid value: "0": must be greater than zero']],
    [
      { persistentVolumeReclaimPolicy: 'Odd' },
      ['spec.persistentVolumeReclaimPolicy: Unsupported value: "Odd": supported values: "Delete", "Recycle", "Retain"'],
    ],
    [{ hostPath: null }, ['spec: Required value: must specify a volume type']],
    [{ csi: { driver: 'd', volumeHandle: 'h' } }, ['spec.csi: Forbidden: may not specify more than 1 volume type']],
    [{ hostPath: null, csi: { driver: 'd' } }, ['spec.csi.volumeHandle: Required value']],
    [
      { hostPath: { path: '/' }, persistentVolumeReclaimPolicy: 'Recycle' },
      ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
    ],
  ])('with %j', (over, expected) => {
    expect(volume(over)).toEqual(expected)
  })

  test('cannot change its source', () => {
    const moved = { spec: { ...spec, hostPath: { path: '/b' }, capacity: { storage: '2Gi' } } }
    expect(updated('v1', 'PersistentVolume', moved, { spec })).toEqual([
      expect.stringMatching(
        /^spec\.persistentvolumesource: Forbidden: .* immutable after creation\n@@[^]*\+ {2}"Path": "\/b"/,
      ),
    ])
  })
})
