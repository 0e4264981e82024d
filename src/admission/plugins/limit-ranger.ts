// LimitRanger: containers without requests or limits get the defaults of the namespace's LimitRanges, and pods and claims
// outside their bounds are refused.

import { printFixed } from '../../meta/go/go-text.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { ensureObject, objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { compareQuantities, printQuantity, type Quantity, quantityAsFloat } from '../../meta/values/quantity.js'
import { copyValue, type ValueObject } from '../../meta/values/value.js'
import type { Lister } from '../../objects/lister.js'
import { type Attributes, forbiddenBy } from '../attributes.js'
import type { AdmissionPlugin } from '../chain.js'
import {
  type Amounts,
  amountsIn,
  NO_AMOUNTS,
  type Resources,
  resourcesOf,
  resourcesOfContainers,
} from './pod-resources.js'

const LIMIT_RANGE = { group: '', kind: 'LimitRange' }

/** Requests and limits of a pod are set when it is created, and when it is resized. */
export function limitRanger(objects: Lister): AdmissionPlugin {
  const isSized = ({ operation, subresource }: Attributes): boolean =>
    operation === 'CREATE' || subresource === 'resize'
  const rangesFor = ({ namespace }: Attributes): Promise<readonly ApiObject[]> => objects.all(LIMIT_RANGE, namespace)
  return {
    name: 'LimitRanger',
    operations: new Set(['CREATE', 'UPDATE']),
    resources: ['pods', 'pods/resize', 'persistentvolumeclaims'],
    async mutate(attributes) {
      const { object, resource } = attributes
      if (!object || resource.resource !== 'pods' || !isSized(attributes)) return undefined
      const ranges = await rangesFor(attributes)
      return ranges.length === 0 ? undefined : withDefaults(object, ranges)
    },
    async validate(attributes) {
      const { object, resource } = attributes
      if (!object) return
      const isClaim = resource.resource === 'persistentvolumeclaims'
      if (!isClaim && !isSized(attributes)) return
      const ranges = await rangesFor(attributes)
      const errors = isClaim ? claimErrors(object, ranges) : podErrors(object, ranges)
      if (errors.length > 0) throw forbiddenBy(attributes, errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`)
    },
  }
}

const ANNOTATION = 'kubernetes.io/limit-ranger'

// ---- defaults

/** The pod with the defaults of the limit ranges filled in. */
export function withDefaults(pod: ApiObject, ranges: readonly ValueObject[]): ApiObject {
  const limited = copyValue(pod)
  for (const range of ranges) applyDefaults(limited, range)
  return limited
}

function applyDefaults(pod: ApiObject, range: ValueObject): void {
  const ofContainers = limitsOf(range, 'Container')
  const merged = (field: string): ValueObject =>
    Object.fromEntries(ofContainers.flatMap(limit => Object.entries(objectAt(limit, field))))
  const requests = merged('defaultRequest')
  const limits = merged('default')
  const spec = objectAt(pod, 'spec')
  const changes = ['containers', 'initContainers'].flatMap(field => {
    const what = field === 'containers' ? 'container' : 'init container'
    return objectsAt(spec, field).flatMap(container => {
      const of = `for ${what} ${stringAt(container, 'name')}`
      const setLimits = setMissing(container, 'limits', limits)
      const setRequests = setMissing(container, 'requests', requests)
      return [
        setRequests.length > 0 ? `${setRequests.join(', ')} request ${of}` : [],
        setLimits.length > 0 ? `${setLimits.join(', ')} limit ${of}` : [],
      ].flat()
    })
  })
  if (changes.length > 0) {
    ensureObject(pod.metadata, 'annotations')[ANNOTATION] = `LimitRanger plugin set: ${changes.join('; ')}`
  }
}

/** Sets the requests or limits that a container lacks; returns their names. */
function setMissing(container: ValueObject, field: string, defaults: ValueObject): string[] {
  const given = objectAt(objectAt(container, 'resources'), field)
  const missing = Object.keys(defaults)
    .filter(name => !Object.hasOwn(given, name))
    .toSorted()
  if (missing.length > 0) {
    const added = Object.fromEntries(missing.map(name => [name, defaults[name]!]))
    ensureObject(container, 'resources')[field] = { ...given, ...added }
  }
  return missing
}

const limitsOf = (range: ValueObject, type: string): ValueObject[] =>
  objectsAt(objectAt(range, 'spec'), 'limits').filter(limit => stringAt(limit, 'type') === type)

// ---- bounds

/** The errors of the first limit range that refuses the pod. */
export function podErrors(pod: ValueObject, ranges: readonly ValueObject[]): string[] {
  const spec = objectAt(pod, 'spec')
  const containers = [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')].map(resourcesOf)
  return firstErrors(ranges, limit => {
    const type = stringAt(limit, 'type')
    if (type === 'Container') return containers.flatMap(resources => errorsOf(limit, resources))
    return type === 'Pod' ? errorsOf(limit, resourcesOfPod(spec)) : []
  })
}

/** What the containers need together; cpu and memory of the pod itself take their place. */
function resourcesOfPod(spec: ValueObject): Resources {
  const [ofContainers, own] = [resourcesOfContainers(spec), resourcesOf(spec)]
  const of = (kind: keyof Resources): Amounts =>
    new Map([...ofContainers[kind], ...[...own[kind]].filter(([name]) => name === 'cpu' || name === 'memory')])
  return { requests: of('requests'), limits: of('limits') }
}

/** The same for a PersistentVolumeClaim, of which only the requests count. */
export function claimErrors(claim: ValueObject, ranges: readonly ValueObject[]): string[] {
  const { requests } = resourcesOf(objectAt(claim, 'spec'))
  return firstErrors(ranges, limit => {
    if (stringAt(limit, 'type') !== 'PersistentVolumeClaim') return []
    return [
      ...eachOf(limit, 'min', (name, min) => belowError(limit, name, min, { requests, limits: NO_AMOUNTS })),
      ...eachOf(limit, 'max', (name, max) => {
        const bound = `maximum ${name} usage per ${stringAt(limit, 'type')} is ${printQuantity(max)}`
        const request = requests.get(name)
        if (request === undefined) return `${bound}.  No request is specified`
        return compareQuantities(request, max) > 0 ? `${bound}, but request is ${printQuantity(request)}` : undefined
      }),
    ]
  })
}

function firstErrors(ranges: readonly ValueObject[], errors: (limit: ValueObject) => string[]): string[] {
  for (const range of ranges) {
    const found = objectsAt(objectAt(range, 'spec'), 'limits').flatMap(errors)
    if (found.length > 0) return found
  }
  return []
}

const errorsOf = (limit: ValueObject, resources: Resources): string[] => [
  ...eachOf(limit, 'min', (name, min) => belowError(limit, name, min, resources)),
  ...eachOf(limit, 'max', (name, max) => aboveError(limit, name, max, resources)),
  ...eachOf(limit, 'maxLimitRequestRatio', (name, ratio) => ratioError(limit, name, ratio, resources)),
]

function eachOf(
  limit: ValueObject,
  field: string,
  error: (name: string, bound: Quantity) => string | undefined,
): string[] {
  return [...amountsIn(objectAt(limit, field))].flatMap(([name, bound]) => error(name, bound) ?? [])
}

function belowError(
  limit: ValueObject,
  name: string,
  min: Quantity,
  { requests, limits }: Resources,
): string | undefined {
  const bound = `minimum ${name} usage per ${stringAt(limit, 'type')} is ${printQuantity(min)}`
  const [request, max] = [requests.get(name), limits.get(name)]
  if (request === undefined) return `${bound}.  No request is specified`
  if (compareQuantities(request, min) < 0) return `${bound}, but request is ${printQuantity(request)}`
  return max !== undefined && compareQuantities(max, min) < 0
    ? `${bound}, but limit is ${printQuantity(max)}`
    : undefined
}

function aboveError(
  limit: ValueObject,
  name: string,
  max: Quantity,
  { requests, limits }: Resources,
): string | undefined {
  const bound = `maximum ${name} usage per ${stringAt(limit, 'type')} is ${printQuantity(max)}`
  const [request, limited] = [requests.get(name), limits.get(name)]
  if (limited === undefined) return `${bound}.  No limit is specified`
  if (compareQuantities(limited, max) > 0) return `${bound}, but limit is ${printQuantity(limited)}`
  return request !== undefined && compareQuantities(request, max) > 0
    ? `${bound}, but request is ${printQuantity(request)}`
    : undefined
}

function ratioError(
  limit: ValueObject,
  name: string,
  ratio: Quantity,
  { requests, limits }: Resources,
): string | undefined {
  const bound = `${name} max limit to request ratio per ${stringAt(limit, 'type')} is ${printQuantity(ratio)}`
  const [request, limited] = [requests.get(name), limits.get(name)]
  if (request === undefined || request.amount === 0n) return `${bound}, but no request is specified or request is 0`
  if (limited === undefined || limited.amount === 0n) return `${bound}, but no limit is specified or limit is 0`
  const observed = quantityAsFloat(limited) / quantityAsFloat(request)
  return observed > quantityAsFloat(ratio) ? `${bound}, but provided ratio is ${printFixed(observed, 6)}` : undefined
}
