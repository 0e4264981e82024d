// The kinds of storage: classes, drivers, nodes, attachments, claims.
import { describe, expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { validationOf } from '../written-objects.suite.js'

const metadata = { name: 'x', resourceVersion: '1' }
const GROUP = 'storage.k8s.io/v1'

const created = (apiVersion: string, kind: string, object: ValueObject): string[] =>
  validationOf(apiVersion, kind, false)
    .create({ metadata: { name: 'x' }, ...object })
    .map(printFieldError)

const updated = (apiVersion: string, kind: string, object: ValueObject, old: ValueObject): string[] =>
  validationOf(apiVersion, kind, false)
    .update({ metadata, ...object }, { metadata, ...old })
    .map(printFieldError)

describe('a class of storage', () => {
  const storage = { provisioner: 'p', reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }
  const term = (...values: string[]) => ({ matchLabelExpressions: [{ key: 'zone', values }] })

  test.each<[string, ValueObject, string[]]>([
    ['has a provisioner', { provisioner: '' }, ['provisioner: Required value']],
    ['takes a provisioner in any case', { provisioner: 'Example.com/P' }, []],
    [
      'has parameters with names',
      { parameters: { '': '' } },
      ['parameters: Invalid value: "": field can not be empty.'],
    ],
    [
      'has topologies that differ',
      { allowedTopologies: [term('a', 'b'), term('b', 'a')] },
      ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
    ],
    [
      'has topologies with values',
      { allowedTopologies: [term()] },
      ['allowedTopologies[0].matchLabelExpressions[0].values: Required value'],
    ],
  ])('%s', (_name, fields, expected) => {
    expect(created(GROUP, 'StorageClass', { ...storage, ...fields })).toEqual(expected)
  })

  test('lets only expansion, mount options and topologies change', () => {
    const changed = { ...storage, provisioner: 'q', allowVolumeExpansion: true, mountOptions: ['ro'] }
    expect(updated(GROUP, 'StorageClass', changed, storage)).toEqual([
      'provisioner: Invalid value: "q": field is immutable',
    ])
  })
})

test('a class of attributes has parameters, and stays', () => {
  const attributes = { driverName: 'd', parameters: { a: 'b' } }
  expect(created(GROUP, 'VolumeAttributesClass', { driverName: 'd' })).toEqual([
    'parameters: Required value: must contain at least one key/value pair',
  ])
  expect(updated(GROUP, 'VolumeAttributesClass', { ...attributes, driverName: 'e' }, attributes)).toEqual([
    'driverName: Forbidden: updates to driverName are forbidden.',
  ])
})

test('a driver asks for each token once, and for some time', () => {
  const spec = {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    seLinuxMount: false,
    fsGroupPolicy: 'Odd',
    nodeAllocatableUpdatePeriodSeconds: 9,
    tokenRequests: [{ audience: 'a' }, { audience: 'a' }, { audience: 'b', expirationSeconds: 599 }],
  }
  expect(created(GROUP, 'CSIDriver', { spec })).toEqual([
    'spec.fsGroupPolicy: Unsupported value: "Odd": supported values: "File", "None", "ReadWriteOnceWithFSType"',
    'spec.tokenRequests[1].audience: Duplicate value: "a"',
    'spec.tokenRequests[2].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
    'spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds',
  ])
})

test('a driver on a node stays as it is, apart from how much it takes', () => {
  const node = (driver: ValueObject): ValueObject => ({ spec: { drivers: [{ name: 'd', nodeID: 'n', ...driver }] } })
  expect(updated(GROUP, 'CSINode', node({ allocatable: { count: 2 } }), node({}))).toEqual([])
  expect(updated(GROUP, 'CSINode', node({ nodeID: 'm' }), node({}))).toEqual([
    expect.stringMatching(/^spec\.drivers: Invalid value: \{"Name":"d","NodeID":"m",.*: field is immutable$/),
  ])
})

test('an attachment is of one volume', () => {
  const source = { persistentVolumeName: 'v', inlineVolumeSpec: {} }
  expect(created(GROUP, 'VolumeAttachment', { spec: { attacher: 'a', nodeName: 'n', source } })).toEqual([
    'spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
  ])
})

test('room is no less than none', () => {
  expect(created(GROUP, 'CSIStorageCapacity', { storageClassName: 'c', capacity: '-1' })).toContain(
    'capacity: Invalid value: "-1": must be greater than or equal to 0',
  )
})
