// The resources that containers, and pods as a whole, request and are limited to.
import {
  asTypedText,
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  indexPath,
  keyPath,
} from '../../../../meta/errors/field-errors.js'
import { checkQualifiedName } from '../../../../meta/object/names.js'
import { objectAt, objectOrNone, objectsAt, stringAt } from '../../../../meta/values/access.js'
import { asGiven } from '../../../../meta/values/given-empty.js'
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  printQuantity,
  type Quantity,
  quantityAsFloat,
  quantityOf,
  signOf,
} from '../../../../meta/values/quantity.js'
import type { Value, ValueObject } from '../../../../meta/values/value.js'
import { checkTypedText } from '../../../common/field-checks.js'
import { checkUsedClaims } from './resource-claims.js'

export function checkResources(
  resources: ValueObject,
  path: string,
  checkName: (name: string, path: string) => FieldError[] = checkContainerResourceName,
): FieldError[] {
  const limits = objectAt(resources, 'limits')
  const requests = objectAt(resources, 'requests')
  const limitsPath = childPath(path, 'limits')
  const requestsPath = childPath(path, 'requests')
  // Mostly the requests are the limits, of which nothing more can be wrong.
  const sound = new Map<string, Value>()
  return [
    ...Object.keys(limits).flatMap(name => {
      const errors = checkAmount(limits, name, keyPath(limitsPath, name), checkName)
      if (errors.length === 0) sound.set(name, limits[name]!)
      return errors
    }),
    ...Object.keys(requests).flatMap(name =>
      sound.get(name) === requests[name]
        ? []
        : checkAmount(requests, name, keyPath(requestsPath, name), checkName).concat(
            checkWithinLimit(name, requests, limits, requestsPath, limitsPath),
          ),
    ),
    ...checkHugePagesNotAlone([...Object.keys(limits), ...Object.keys(requests)], path),
  ]
}

const checkHugePagesNotAlone = (names: readonly string[], path: string): FieldError[] =>
  names.some(name => name.startsWith(HUGE_PAGES)) && !names.some(name => name === 'cpu' || name === 'memory')
    ? [fieldForbidden(path, 'HugePages require cpu or memory')]
    : []

function checkAmount(
  amounts: ValueObject,
  name: string,
  path: string,
  checkName: (name: string, path: string) => FieldError[],
): FieldError[] {
  const errors = checkName(name, path)
  const amount = amountOf(amounts, name)
  if (amount === undefined) return errors
  errors.push(...checkNotNegative(amount, path))
  // Extended resources are counted in whole units.
  if (isExtended(name) && !isInteger(amount)) {
    errors.push(fieldInvalid(path, printQuantity(amount), 'must be an integer'))
  }
  if (name.startsWith(HUGE_PAGES) && !isWholePages(name, amount)) {
    const shown = printQuantity(amount)
    errors.push(fieldInvalid(path, shown, `${shown} is not positive integer multiple of ${name}`))
  }
  return errors
}

const HUGE_PAGES = 'hugepages-'

/** The name of the resource has the size of a page: `hugepages-2Mi`. Parts of a byte count as whole ones. */
function isWholePages(name: string, amount: Quantity): boolean {
  const page = parseQuantity(name.slice(HUGE_PAGES.length))
  if (!page.ok || signOf(page.value) <= 0 || !isInteger(page.value)) return false
  return Math.ceil(quantityAsFloat(amount)) % quantityAsFloat(page.value) === 0
}

/** The amount under that name, if there is one. */
export function checkNotNegativeAmount(amounts: ValueObject, name: string, path: string): FieldError[] {
  const amount = amountOf(amounts, name)
  return amount === undefined ? [] : checkNotNegative(amount, path)
}

const checkNotNegative = (amount: Quantity, path: string): FieldError[] =>
  signOf(amount) >= 0 ? [] : [fieldInvalid(path, printQuantity(amount), 'must be greater than or equal to 0')]

/** The same with another message, which shows the amount as a number. */
export function checkBasicAmount(amounts: ValueObject, name: string, path: string): FieldError[] {
  const amount = amountOf(amounts, name)
  if (amount === undefined || signOf(amount) >= 0) return []
  return [fieldInvalid(path, Math.floor(quantityAsFloat(amount)), 'must be a valid resource quantity')]
}

/** The name of a resource, in any place. */
export function checkResourceName(name: string, path: string): FieldError[] {
  const errors = checkTypedText(name, checkQualifiedName, path)
  if (errors.length > 0 || name.includes('/') || isStandard(name)) return errors
  return [fieldInvalid(path, asTypedText(name), 'must be a standard resource type or fully qualified')]
}

export function checkContainerResourceName(name: string, path: string): FieldError[] {
  const errors = checkResourceName(name, path)
  if (isForeign(name) && !isExtendedName(name)) {
    return [...errors, fieldInvalid(path, asTypedText(name), "doesn't follow extended resource name standard")]
  }
  if (name.includes('/') || CONTAINER_RESOURCES.has(name) || name.startsWith('hugepages-')) return errors
  return [...errors, fieldInvalid(path, asTypedText(name), 'must be a standard resource for containers')]
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
  const mustBe = (relation: string): FieldError[] => [
    fieldInvalid(requestsPath, printQuantity(request), `must be ${relation} ${name} limit of ${printQuantity(limit)}`),
  ]
  if (difference !== 0 && !mayExceed(name)) return mustBe('equal to')
  return difference > 0 ? mustBe('less than or equal to') : []
}

export function amountOf(amounts: ValueObject, name: string): Quantity | undefined {
  const amount = parseQuantity(stringAt(amounts, name))
  return amount.ok ? amount.value : undefined
}

export const isInteger = ({ amount, scale }: Quantity): boolean => scale >= 0 || amount % 10n ** BigInt(-scale) === 0n

const isForeign = (name: string): boolean => name.includes('/') && !name.includes('kubernetes.io/')

/** The name of an extended resource, with which a quota can be named, too. */
export const isExtendedName = (name: string): boolean =>
  isExtended(name) && checkQualifiedName(`requests.${name}`).length === 0

/** A resource with a name outside the domains of Kubernetes. */
export const isExtended = (name: string): boolean =>
  name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.')

/** Resources that are numbers of objects. */
export const COUNTED_RESOURCES: ReadonlySet<string> = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
])

/** Resources of which there are no parts. */
export const isIntegerResource = (name: string): boolean => COUNTED_RESOURCES.has(name) || isExtended(name)

/** Whether requests may be below limits: only for resources that the system can share out. */
export const mayExceed = (name: string): boolean =>
  (!name.includes('/') || name.includes('kubernetes.io/')) && !name.startsWith('hugepages-')

const CONTAINER_RESOURCES: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage'])

/** Standard names, also those that only quotas use. */
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
  'storage',
  'requests.storage',
  ...COUNTED_RESOURCES,
])

// ---- resources of the pod as a whole

const POD_RESOURCES = ['cpu', 'hugepages-', 'memory']

function checkPodResourceName(name: string, path: string): FieldError[] {
  const errors = checkResourceName(name, path)
  if (errors.length > 0 || name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')) return errors
  return [fieldNotSupported(path, name, POD_RESOURCES)]
}

/** Resources of the pod, which its containers share: they must cover what the containers request. */
export function checkPodResources(spec: ValueObject, claims: ReadonlySet<string>, path: string): FieldError[] {
  const resources = objectOrNone(spec, 'resources')
  if (resources === undefined) return []
  if (stringAt(objectAt(spec, 'os'), 'name') === 'windows') {
    return [fieldForbidden(path, 'may not be set for a windows pod')]
  }
  const noClaims =
    asGiven(resources, 'claims') !== null
      ? [fieldForbidden(childPath(path, 'claims'), 'claims may not be set for Resources at pod-level')]
      : []
  return [
    ...noClaims,
    ...checkResources(resources, path, checkPodResourceName),
    ...checkUsedClaims(resources, claims, path),
    ...checkCoversContainers(spec, resources, path),
    ...checkContainerLimits(spec, resources, path),
  ]
}

function checkCoversContainers(spec: ValueObject, resources: ValueObject, path: string): FieldError[] {
  const requests = objectAt(resources, 'requests')
  return Object.keys(requests).flatMap(name => {
    const request = amountOf(requests, name)
    const total = totalRequest(spec, name)
    if (request === undefined || total === undefined || compareQuantities(total, request) <= 0) return []
    const why = `must be greater than or equal to aggregate container requests of ${printQuantity(total)}`
    return [fieldInvalid(keyPath(childPath(path, 'requests'), name), printQuantity(request), why)]
  })
}

/**
 * What all containers need at a time: the containers with the sidecars, or an init container with the sidecars that
 * started before it, whichever is more.
 */
export function totalRequest(spec: ValueObject, name: string): Quantity | undefined {
  const requestOf = (container: ValueObject): Quantity =>
    amountOf(objectAt(objectAt(container, 'resources'), 'requests'), name) ?? ZERO
  let sidecars = ZERO
  let most = ZERO
  for (const container of objectsAt(spec, 'initContainers')) {
    const own = addQuantities(sidecars, requestOf(container))
    if (stringAt(container, 'restartPolicy') === 'Always') sidecars = own
    if (compareQuantities(own, most) > 0) most = own
  }
  const running = objectsAt(spec, 'containers').map(requestOf).reduce(addQuantities, sidecars)
  const total = compareQuantities(running, most) > 0 ? running : most
  return signOf(total) === 0 ? undefined : total
}

const ZERO = quantityOf(0n)

/** kube-apiserver's errors name the containers below the resources of the pod. */
const checkContainerLimits = (spec: ValueObject, resources: ValueObject, path: string): FieldError[] =>
  objectsAt(spec, 'containers').flatMap((container, i) => {
    const limits = objectAt(objectAt(container, 'resources'), 'limits')
    return Object.keys(limits).flatMap(name => {
      const [own, ofPod] = [amountOf(limits, name), amountOf(objectAt(resources, 'limits'), name)]
      if (own === undefined || ofPod === undefined || compareQuantities(own, ofPod) <= 0) return []
      const at = `${keyPath(indexPath(childPath(path, 'containers'), i), name)}.limits`
      return [
        fieldInvalid(at, printQuantity(own), `must be less than or equal to pod limits of ${printQuantity(ofPod)}`),
      ]
    })
  })
