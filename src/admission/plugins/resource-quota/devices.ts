// The usage of ResourceClaims: their number, and the devices that they may get at most, by DeviceClass. Devices also count
// as the extended resource that stands for their class, unless the pod that the claim was made for is charged for it.
import type { ApiObject } from '../../../meta/object/api-object.js'
import { metaOf } from '../../../meta/object/object-meta.js'
import { numberAt, objectAt, objectOrNone, objectsAt, stringAt } from '../../../meta/values/access.js'
import {
  compareQuantities,
  type Quantity,
  quantityOf,
  signOf,
  subtractQuantities,
} from '../../../meta/values/quantity.js'
import { millisOf } from '../../../meta/values/time.js'
import type { ValueObject } from '../../../meta/values/value.js'
import { type Amounts, addAmounts } from '../pod-resources.js'
import { podEvaluator } from './pods.js'
import type { QuotaEvaluator } from './quota-evaluator.js'

export const RESOURCE_CLAIMS = 'resourceclaims.resource.k8s.io'

const COUNT = `count/${RESOURCE_CLAIMS}`
/** `gpu.deviceclass.resource.k8s.io/devices`. */
const BY_CLASS = '.deviceclass.resource.k8s.io/devices'
/** `requests.deviceclass.resource.kubernetes.io/gpu`. */
const IMPLICIT = 'requests.deviceclass.resource.kubernetes.io/'
const REQUESTS = 'requests.'
const EXTENDED_CLAIM = 'resource.kubernetes.io/extended-resource-claim'
/** The most devices that one request can get, if it asks for all. */
const MAX_DEVICES = 32n

/** What a claim's usage depends on, beside the claim. */
export interface DeviceWorld {
  readonly deviceClasses: readonly ApiObject[]
  /** Of the namespace. */
  readonly pods: readonly ApiObject[]
  readonly claims: readonly ApiObject[]
}

export function deviceEvaluator({ deviceClasses, pods, claims }: DeviceWorld): QuotaEvaluator {
  const extendedNames = new Map(
    deviceClasses.flatMap(each => {
      const extended = stringAt(objectAt(each, 'spec'), 'extendedResourceName')
      return extended === '' ? [] : [[metaOf(each).name ?? '', extended] as const]
    }),
  )
  const extended = new Set(extendedNames.values())
  const classes = new Set(deviceClasses.map(each => metaOf(each).name ?? ''))
  return {
    handles: ({ operation, subresource }) => subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
    tracks(name) {
      if (name === COUNT || name.endsWith(BY_CLASS)) return true
      if (name.startsWith(IMPLICIT)) return classes.has(name.slice(IMPLICIT.length))
      return name.startsWith(REQUESTS) && extended.has(name.slice(REQUESTS.length))
    },
    usage(claim, now) {
      const requests = objectsAt(objectAt(objectAt(claim, 'spec'), 'devices'), 'requests')
      const devices = requests.map(devicesOf).reduce(addAmounts, new Map([[COUNT, quantityOf(1n)]]))
      const used = new Map(devices)
      const charged = chargedToPod(claim, pods, claims, now)
      for (const [name, amount] of asExtended(used, extendedNames)) {
        const before = charged.get(name)
        const left = before ? subtractQuantities(amount, before) : amount
        if (signOf(left) > 0) used.set(name, left)
      }
      return used
    },
  }
}

/** The devices of one request, by the name of a quota. Of alternatives, the most of each class counts. */
function devicesOf(request: ValueObject): Amounts {
  const most = new Map<string, Quantity>()
  const alternatives = objectsAt(request, 'firstAvailable')
  // In v1beta1 the request itself says what it asks for.
  for (const each of alternatives.length > 0 ? alternatives : [objectOrNone(request, 'exactly') ?? request]) {
    const name = `${stringAt(each, 'deviceClassName')}${BY_CLASS}`
    const amount = quantityOf(countOf(each))
    const before = most.get(name)
    if (!before || compareQuantities(amount, before) > 0) most.set(name, amount)
  }
  return most
}

function countOf(request: ValueObject): bigint {
  switch (stringAt(request, 'allocationMode')) {
    case 'ExactCount':
      return BigInt(numberAt(request, 'count'))
    case 'All':
      return MAX_DEVICES
    default:
      return 0n
  }
}

function asExtended(used: Amounts, extendedNames: ReadonlyMap<string, string>): Map<string, Quantity> {
  const found = new Map<string, Quantity>()
  for (const [name, amount] of used) {
    const className = name.endsWith(BY_CLASS) ? name.slice(0, -BY_CLASS.length) : ''
    if (className === '') continue
    found.set(`${IMPLICIT}${className}`, amount)
    const extended = extendedNames.get(className)
    if (extended !== undefined) found.set(`${REQUESTS}${extended}`, amount)
  }
  return found
}

/** What the pod already pays for that a claim was made for: only the first claim of the pod is free. */
function chargedToPod(
  claim: ApiObject,
  pods: readonly ApiObject[],
  claims: readonly ApiObject[],
  now: number,
): Amounts {
  const owner = podOwner(claim)
  const pod = owner && pods.find(each => metaOf(each).name === owner.name && metaOf(each).uid === owner.uid)
  if (!pod) return new Map()
  const status = objectOrNone(objectAt(pod, 'status'), 'extendedResourceClaimStatus')
  const { name = '' } = metaOf(claim)
  if (status && stringAt(status, 'resourceClaimName') !== name) return new Map()
  const isEarlier = (other: ApiObject): boolean => {
    const difference = createdAt(other) - createdAt(claim)
    return (
      podOwner(other)?.uid === owner.uid && (difference < 0 || (difference === 0 && (metaOf(other).name ?? '') < name))
    )
  }
  if (!status && claims.some(isEarlier)) return new Map()
  return podEvaluator.usage(pod, now)
}

const createdAt = (object: ApiObject): number => {
  const { creationTimestamp } = metaOf(object)
  return creationTimestamp === undefined ? Number.NEGATIVE_INFINITY : millisOf(creationTimestamp)
}

/** The pod that controls a claim for extended resources. */
function podOwner(claim: ApiObject): { readonly name: string; readonly uid: string } | undefined {
  const { annotations = {}, ownerReferences = [] } = metaOf(claim)
  if (annotations[EXTENDED_CLAIM] !== 'true') return undefined
  const owner = ownerReferences.find(({ controller }) => controller === true)
  if (owner?.kind !== 'Pod' || owner.apiVersion !== 'v1') return undefined
  return { name: owner.name ?? '', uid: owner.uid ?? '' }
}
