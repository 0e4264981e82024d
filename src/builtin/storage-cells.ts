// The rows of the kinds of storage.

import { has, objectAt, objectsAt, stringAt, stringsAt } from '../meta/values/access.js'
import { ageOf, NONE, nameOf, type TableRow } from './common/table-cells.js'
import { stringOrUnset, UNSET } from './core/volume-cells.js'

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
    stringOrUnset(storage, 'volumeBindingMode'),
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
