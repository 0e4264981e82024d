// What a container asks for and is limited to.
import { childPath, type FieldError, fieldInvalid, fieldRequired, keyPath } from '../../../meta/errors/field-errors.js'
import { checkQualifiedName } from '../../../meta/object/names.js'
import { objectAt, stringAt } from '../../../meta/values/access.js'
import {
  compareQuantities,
  parseQuantity,
  printQuantity,
  type Quantity,
  signOf,
} from '../../../meta/values/quantity.js'
import type { ValueObject } from '../../../meta/values/value.js'
import { checkText } from '../../common/field-checks.js'

export function checkResources(resources: ValueObject, path: string): FieldError[] {
  const limits = objectAt(resources, 'limits')
  const requests = objectAt(resources, 'requests')
  const limitsPath = childPath(path, 'limits')
  const requestsPath = childPath(path, 'requests')
  return [
    ...Object.keys(limits).flatMap(name => checkAmount(limits, name, keyPath(limitsPath, name))),
    ...Object.keys(requests).flatMap(name =>
      [
        checkAmount(requests, name, keyPath(requestsPath, name)),
        checkWithinLimit(name, requests, limits, requestsPath, limitsPath),
      ].flat(),
    ),
  ]
}

function checkAmount(amounts: ValueObject, name: string, path: string): FieldError[] {
  const errors = checkContainerResourceName(name, path)
  const amount = amountOf(amounts, name)
  if (amount === undefined) return errors
  errors.push(...checkNotNegativeAmount(amounts, name, path))
  // Things that are counted cannot be cut.
  if (isExtended(name) && !isInteger(amount)) {
    errors.push(fieldInvalid(path, printQuantity(amount), 'must be an integer'))
  }
  return errors
}

/** The amount under that name, if there is one. */
export function checkNotNegativeAmount(amounts: ValueObject, name: string, path: string): FieldError[] {
  const amount = amountOf(amounts, name)
  if (amount === undefined || signOf(amount) >= 0) return []
  return [fieldInvalid(path, printQuantity(amount), 'must be greater than or equal to 0')]
}

/** A name by itself, wherever resources are named. */
export function checkResourceName(name: string, path: string): FieldError[] {
  const errors = checkText(name, checkQualifiedName, path)
  if (errors.length > 0 || name.includes('/') || isStandard(name)) return errors
  return [fieldInvalid(path, name, 'must be a standard resource type or fully qualified')]
}

export function checkContainerResourceName(name: string, path: string): FieldError[] {
  const errors = checkResourceName(name, path)
  if (name.includes('/') || CONTAINER_RESOURCES.has(name) || name.startsWith('hugepages-')) return errors
  return [...errors, fieldInvalid(path, name, 'must be a standard resource for containers')]
}

const isStandard = (name: string): boolean => STANDARD_RESOURCES.has(name) || /^(requests\.)?hugepages-/.test(name)

function checkWithinLimit(
  name: string,
  requests: ValueObject,
  limits: ValueObject,
  requestsPath: string,
  limitsPath: string,
): FieldError[] {
  const request = amountOf(requests, name)
  const limit = amountOf(limits, name)
  if (request === undefined) return []
  if (limit === undefined) {
    return mayExceed(name) ? [] : [fieldRequired(limitsPath, 'Limit must be set for non overcommitable resources')]
  }
  const difference = compareQuantities(request, limit)
  const told = (relation: string): FieldError[] => [
    fieldInvalid(requestsPath, printQuantity(request), `must be ${relation} ${name} limit of ${printQuantity(limit)}`),
  ]
  if (difference !== 0 && !mayExceed(name)) return told('equal to')
  return difference > 0 ? told('less than or equal to') : []
}

export function amountOf(amounts: ValueObject, name: string): Quantity | undefined {
  const amount = parseQuantity(stringAt(amounts, name))
  return amount.ok ? amount.value : undefined
}

export const isInteger = ({ amount, scale }: Quantity): boolean => scale >= 0 || amount % 10n ** BigInt(-scale) === 0n

/** What others than Kubernetes itself have named. */
export const isExtended = (name: string): boolean =>
  name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.')

/** More than is there can be promised only of what the system itself shares out. */
export const mayExceed = (name: string): boolean =>
  (!name.includes('/') || name.includes('kubernetes.io/')) && !name.startsWith('hugepages-')

const CONTAINER_RESOURCES: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage'])

/** Names that stand for something elsewhere, as in quotas. */
const STANDARD_RESOURCES: ReadonlySet<string> = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'storage',
  'requests.storage',
  'services.nodeports',
  'services.loadbalancers',
])
