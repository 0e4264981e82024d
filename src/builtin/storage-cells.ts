// The rows of the kinds of storage.

import { has, objectAt, objectsAt, stringAt, stringsAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import { ageOf, NONE, nameOf, type TableRow } from './common/table-cells.js'

const UNSET = '<unset>'

const ACCESS_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
}

/** In the order of the table, whatever order they were given in. */
const printAccessModes = (modes: readonly string[]): string =>
  Object.keys(ACCESS_MODES)
    .filter(mode => modes.includes(mode))
    .map(mode => ACCESS_MODES[mode]!)
    .join(',')

const isLeaving = (object: ValueObject): boolean => has(objectAt(object, 'metadata'), 'deletionTimestamp')

/** The class used to be an annotation. */
const classOf = (object: ValueObject): string =>
  stringAt(objectAt(objectAt(object, 'metadata'), 'annotations'), 'volume.beta.kubernetes.io/storage-class') ||
  stringAt(objectAt(object, 'spec'), 'storageClassName')

const textOrUnset = (object: ValueObject, field: string): string =>
  has(object, field) ? stringAt(object, field) : UNSET

const claimCells: TableRow = (claim, now) => {
  const spec = objectAt(claim, 'spec')
  const status = objectAt(claim, 'status')
  const volume = stringAt(spec, 'volumeName')
  const isBound = volume !== ''
  return [
    nameOf(claim),
    isLeaving(claim) ? 'Terminating' : stringAt(status, 'phase'),
    volume,
    isBound ? stringAt(objectAt(status, 'capacity'), 'storage') || '0' : '',
    isBound ? printAccessModes(stringsAt(status, 'accessModes')) : '',
    classOf(claim),
    textOrUnset(spec, 'volumeAttributesClassName'),
    ageOf(claim, now),
    textOrUnset(spec, 'volumeMode'),
  ]
}

const volumeCells: TableRow = (volume, now) => {
  const spec = objectAt(volume, 'spec')
  const status = objectAt(volume, 'status')
  const claim = objectAt(spec, 'claimRef')
  return [
    nameOf(volume),
    stringAt(objectAt(spec, 'capacity'), 'storage') || '0',
    printAccessModes(stringsAt(spec, 'accessModes')),
    stringAt(spec, 'persistentVolumeReclaimPolicy'),
    isLeaving(volume) ? 'Terminating' : stringAt(status, 'phase'),
    has(spec, 'claimRef') ? `${stringAt(claim, 'namespace')}/${stringAt(claim, 'name')}` : '',
    classOf(volume),
    textOrUnset(spec, 'volumeAttributesClassName'),
    stringAt(status, 'reason'),
    ageOf(volume, now),
    textOrUnset(spec, 'volumeMode'),
  ]
}

const DEFAULT_CLASS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]

const classCells: TableRow = (storage, now) => {
  const annotations = objectAt(objectAt(storage, 'metadata'), 'annotations')
  const isDefault = DEFAULT_CLASS.some(annotation => stringAt(annotations, annotation) === 'true')
  return [
    nameOf(storage) + (isDefault ? ' (default)' : ''),
    stringAt(storage, 'provisioner'),
    stringAt(storage, 'reclaimPolicy') || 'Delete',
    textOrUnset(storage, 'volumeBindingMode'),
    storage['allowVolumeExpansion'] === true,
    ageOf(storage, now),
  ]
}

const driverCells: TableRow = (driver, now) => {
  const spec = objectAt(driver, 'spec')
  const audiences = objectsAt(spec, 'tokenRequests').map(request => stringAt(request, 'audience'))
  return [
    nameOf(driver),
    spec['attachRequired'] !== false,
    spec['podInfoOnMount'] === true,
    spec['storageCapacity'] === true,
    has(spec, 'tokenRequests') ? audiences.join(',') : UNSET,
    spec['requiresRepublish'] === true,
    stringsAt(spec, 'volumeLifecycleModes').join(',') || NONE,
    ageOf(driver, now),
  ]
}

const attachmentCells: TableRow = (attachment, now) => {
  const spec = objectAt(attachment, 'spec')
  return [
    nameOf(attachment),
    stringAt(spec, 'attacher'),
    stringAt(objectAt(spec, 'source'), 'persistentVolumeName'),
    stringAt(spec, 'nodeName'),
    objectAt(attachment, 'status')['attached'] === true,
    ageOf(attachment, now),
  ]
}

export const STORAGE_CELLS: Readonly<Record<string, TableRow>> = {
  'v1 persistentvolumeclaims': claimCells,
  'v1 persistentvolumes': volumeCells,
  'storage.k8s.io/v1 storageclasses': classCells,
  'storage.k8s.io/v1 volumeattributesclasses': (attributes, now) => [
    nameOf(attributes),
    stringAt(attributes, 'driverName'),
    ageOf(attributes, now),
  ],
  'storage.k8s.io/v1 csidrivers': driverCells,
  'storage.k8s.io/v1 csinodes': (node, now) => [
    nameOf(node),
    objectsAt(objectAt(node, 'spec'), 'drivers').length,
    ageOf(node, now),
  ],
  'storage.k8s.io/v1 volumeattachments': attachmentCells,
}
