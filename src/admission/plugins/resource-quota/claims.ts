// The usage of PersistentVolumeClaims: their number and the requested storage, in total and by StorageClass.

import { amountOf } from '../../../builtin/pod.js'
import { type ApiObject } from '../../../meta/object/api-object.js'
import { has, mapAt, objectAt, stringAt } from '../../../meta/values/access.js'
import { compareQuantities, type Quantity, quantityOf } from '../../../meta/values/quantity.js'
import { equalValues } from '../../../meta/values/value.js'
import { CLASS_ANNOTATION } from '../default-storage-class.js'
import { matchesName } from './pods.js'
import type { QuotaEvaluator } from './quota-evaluator.js'

const COUNT = 'persistentvolumeclaims'
const STORAGE = 'requests.storage'
/** Quotas by class are named `gold.storageclass.storage.k8s.io/requests.storage`. */
const BY_CLASS = '.storageclass.storage.k8s.io/'

export const claimEvaluator: QuotaEvaluator = {
  handles({ operation, subresource, object, oldObject }) {
    if (subresource === '') return operation === 'CREATE' || operation === 'UPDATE'
    if (subresource !== 'status' || !object || !oldObject) return false
    return (
      !equalValues(allocatedOf(object), allocatedOf(oldObject)) ||
      attributesClassesOf(object).join() !== attributesClassesOf(oldObject).join()
    )
  },
  tracks: name =>
    name === `count/${COUNT}` || [COUNT, STORAGE].some(each => name === each || name.endsWith(`${BY_CLASS}${each}`)),
  usage(claim) {
    const used = new Map([
      [`count/${COUNT}`, quantityOf(1n)],
      [COUNT, quantityOf(1n)],
    ])
    const name = classOf(claim)
    if (name !== '') used.set(`${name}${BY_CLASS}${COUNT}`, quantityOf(1n))
    const storage = storageOf(claim)
    if (storage) {
      used.set(STORAGE, storage)
      if (name !== '') used.set(`${name}${BY_CLASS}${STORAGE}`, storage)
    }
    return used
  },
  isInScope(claim, { scopeName, operator, values }) {
    if (scopeName !== 'VolumeAttributesClass') return false
    const classes = attributesClassesOf(claim)
    // A claim without a class is not in any, which NotIn and DoesNotExist select.
    return (classes.length === 0 ? [''] : classes).some(name => matchesName(name, scopeName, operator, values))
  },
}

const allocatedOf = (claim: ApiObject) => objectAt(objectAt(claim, 'status'), 'allocatedResources')

/** The annotation, even an empty one, wins over the field. */
export function classOf(claim: ApiObject): string {
  const annotations = mapAt(claim.metadata, 'annotations')
  return has(annotations, CLASS_ANNOTATION)
    ? stringAt(annotations, CLASS_ANNOTATION)
    : stringAt(objectAt(claim, 'spec'), 'storageClassName')
}

/** The request in whole bytes, or what a failed expansion has allocated if that is more. */
function storageOf(claim: ApiObject): Quantity | undefined {
  const requested = amountOf(objectAt(objectAt(objectAt(claim, 'spec'), 'resources'), 'requests'), 'storage')
  if (!requested) return undefined
  const allocated = amountOf(allocatedOf(claim), 'storage')
  return roundUp(allocated && compareQuantities(allocated, requested) > 0 ? allocated : requested)
}

function roundUp(quantity: Quantity): Quantity {
  const { amount, scale, format } = quantity
  if (scale >= 0) return quantity
  const unit = 10n ** BigInt(-scale)
  if (amount % unit === 0n) return quantity
  return quantityOf(amount / unit + (amount > 0n ? 1n : 0n), format)
}

/** The VolumeAttributesClasses that a claim names in its spec and its status. */
function attributesClassesOf(claim: ApiObject): string[] {
  const status = objectAt(claim, 'status')
  const modify = objectAt(status, 'modifyVolumeStatus')
  const names = [
    stringAt(objectAt(claim, 'spec'), 'volumeAttributesClassName'),
    stringAt(status, 'currentVolumeAttributesClassName'),
    stringAt(modify, 'targetVolumeAttributesClassName'),
  ]
  return [...new Set(names.filter(name => name !== ''))].toSorted()
}
