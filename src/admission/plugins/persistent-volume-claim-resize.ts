// PersistentVolumeClaimResize: only a bound claim may grow, and only if its StorageClass allows the expansion of volumes.

import { amountOf } from '../../builtin/pod.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { has, mapAt, objectAt, stringAt } from '../../meta/values/access.js'
import { compareQuantities, type Quantity, quantityOf } from '../../meta/values/quantity.js'
import type { Lister } from '../../objects/lister.js'
import { forbiddenBy } from '../attributes.js'
import type { AdmissionPlugin } from '../chain.js'
import { CLASS_ANNOTATION } from './default-storage-class.js'

const STORAGE_CLASS = { group: 'storage.k8s.io', kind: 'StorageClass' }
const NOT_BOUND = 'Only bound persistent volume claims can be expanded'
const NOT_RESIZABLE =
  'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize'

export function persistentVolumeClaimResize(objects: Lister): AdmissionPlugin {
  async function allowsResize(claim: ApiObject, old: ApiObject): Promise<boolean> {
    const name = classOf(claim)
    if (name === '' || name !== classOf(old)) return false
    const found = await objects.find(STORAGE_CLASS, '', name)
    return found?.['allowVolumeExpansion'] === true
  }
  return {
    name: 'PersistentVolumeClaimResize',
    operations: new Set(['UPDATE']),
    resources: ['persistentvolumeclaims'],
    async validate(attributes) {
      const { object: claim, oldObject: old } = attributes
      if (!claim || !old || compareQuantities(sizeOf(claim), sizeOf(old)) <= 0) return
      if (stringAt(objectAt(old, 'status'), 'phase') !== 'Bound') throw forbiddenBy(attributes, NOT_BOUND)
      if (!(await allowsResize(claim, old))) throw forbiddenBy(attributes, NOT_RESIZABLE)
    },
  }
}

const ZERO = quantityOf(0n)

const sizeOf = (claim: ApiObject): Quantity =>
  amountOf(objectAt(objectAt(objectAt(claim, 'spec'), 'resources'), 'requests'), 'storage') ?? ZERO

/** The annotation, even an empty one, wins over the field. */
function classOf(claim: ApiObject): string {
  const annotations = mapAt(claim.metadata, 'annotations')
  return has(annotations, CLASS_ANNOTATION)
    ? stringAt(annotations, CLASS_ANNOTATION)
    : stringAt(objectAt(claim, 'spec'), 'storageClassName')
}
