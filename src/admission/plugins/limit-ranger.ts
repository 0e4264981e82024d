// Limit ranges of a namespace: containers that do not say how much they need get its defaults, and whoever asks for too
// little or too much is refused.

import { amountOf } from '../../builtin/pod.js'
import { printFixed } from '../../meta/go/go-text.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { ensureObject, mapAt, objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import {
  addQuantities,
  compareQuantities,
  printQuantity,
  type Quantity,
  quantityAsFloat,
} from '../../meta/values/quantity.js'
import { copyValue, type ValueObject } from '../../meta/values/value.js'

type Amounts = ReadonlyMap<string, Quantity>

/** What is asked for, and what it is limited to. */
interface Needs {
  readonly requests: Amounts
  readonly limits: Amounts
}

const ANNOTATION = 'kubernetes.io/limit-ranger'

// ---- defaults

/** The pod with the defaults of the limit ranges filled in. */
export function limitPod(pod: ApiObject, ranges: readonly ValueObject[]): ApiObject {
  if (ranges.length === 0) return pod
  const limited = copyValue(pod)
  for (const range of ranges) fillIn(limited, range)
  return limited
}

function fillIn(pod: ApiObject, range: ValueObject): void {
  const ofContainers = limitsOf(range, 'Container')
  const merged = (field: string): ValueObject => Object.assign({}, ...ofContainers.map(limit => objectAt(limit, field)))
  const requests = merged('defaultRequest')
  const limits = merged('default')
  const spec = objectAt(pod, 'spec')
  const told = ['containers', 'initContainers'].flatMap(field => {
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
  if (told.length > 0) {
    ensureObject(pod.metadata, 'annotations')[ANNOTATION] = `LimitRanger plugin set: ${told.join('; ')}`
  }
}

/** Sets what a container does not say, and tells what that was. */
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

/** What the first limit range that has something against the pod says of it. */
export function podLimitErrors(pod: ValueObject, ranges: readonly ValueObject[]): string[] {
  const spec = objectAt(pod, 'spec')
  const containers = [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')].map(needsOf)
  return firstErrors(ranges, limit => {
    const type = stringAt(limit, 'type')
    if (type === 'Container') return containers.flatMap(needs => errorsOf(limit, needs))
    return type === 'Pod' ? errorsOf(limit, needsOfPod(spec)) : []
  })
}

/** The same of a claim for a volume, whose storage is all that counts. */
export function claimLimitErrors(claim: ValueObject, ranges: readonly ValueObject[]): string[] {
  const { requests } = needsOf(objectAt(claim, 'spec'))
  return firstErrors(ranges, limit => {
    if (stringAt(limit, 'type') !== 'PersistentVolumeClaim') return []
    const none: Amounts = new Map()
    return [
      ...eachOf(limit, 'min', (name, least) => belowError(limit, name, least, { requests, limits: none })),
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

const errorsOf = (limit: ValueObject, needs: Needs): string[] => [
  ...eachOf(limit, 'min', (name, least) => belowError(limit, name, least, needs)),
  ...eachOf(limit, 'max', (name, max) => aboveError(limit, name, max, needs)),
  ...eachOf(limit, 'maxLimitRequestRatio', (name, ratio) => ratioError(limit, name, ratio, needs)),
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
  least: Quantity,
  { requests, limits }: Needs,
): string | undefined {
  const bound = `minimum ${name} usage per ${stringAt(limit, 'type')} is ${printQuantity(least)}`
  const [request, max] = [requests.get(name), limits.get(name)]
  if (request === undefined) return `${bound}.  No request is specified`
  if (compareQuantities(request, least) < 0) return `${bound}, but request is ${printQuantity(request)}`
  return max !== undefined && compareQuantities(max, least) < 0
    ? `${bound}, but limit is ${printQuantity(max)}`
    : undefined
}

function aboveError(limit: ValueObject, name: string, max: Quantity, { requests, limits }: Needs): string | undefined {
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
  { requests, limits }: Needs,
): string | undefined {
  const bound = `${name} max limit to request ratio per ${stringAt(limit, 'type')} is ${printQuantity(ratio)}`
  const [request, limited] = [requests.get(name), limits.get(name)]
  if (request === undefined || request.amount === 0n) return `${bound}, but no request is specified or request is 0`
  if (limited === undefined || limited.amount === 0n) return `${bound}, but no limit is specified or limit is 0`
  const observed = quantityAsFloat(limited) / quantityAsFloat(request)
  return observed > quantityAsFloat(ratio) ? `${bound}, but provided ratio is ${printFixed(observed, 6)}` : undefined
}

// ---- what a pod needs

function amountsIn(amounts: ValueObject): Amounts {
  const read = new Map<string, Quantity>()
  for (const name of Object.keys(amounts).toSorted()) {
    const amount = amountOf(amounts, name)
    if (amount !== undefined) read.set(name, amount)
  }
  return read
}

function needsOf(container: ValueObject): Needs {
  const resources = objectAt(container, 'resources')
  return { requests: amountsIn(mapAt(resources, 'requests')), limits: amountsIn(mapAt(resources, 'limits')) }
}

/**
 * Containers run together. Those that prepare the way run before them, one after the other, beside those of them that
 * are meant to stay.
 */
function needsOfPod(spec: ValueObject): Needs {
  const of = (kind: 'requests' | 'limits'): Amounts => {
    let staying: Amounts = new Map()
    let max: Amounts = new Map()
    for (const container of objectsAt(spec, 'initContainers')) {
      const needed = together(staying, needsOf(container)[kind])
      if (stringAt(container, 'restartPolicy') === 'Always') staying = needed
      max = greater(max, needed)
    }
    const running = objectsAt(spec, 'containers').map(container => needsOf(container)[kind])
    return greater(max, running.reduce(together, staying))
  }
  return { requests: of('requests'), limits: of('limits') }
}

const together = (a: Amounts, b: Amounts): Amounts => combined(a, b, addQuantities)
const greater = (a: Amounts, b: Amounts): Amounts => combined(a, b, (x, y) => (compareQuantities(x, y) < 0 ? y : x))

function combined(a: Amounts, b: Amounts, combine: (x: Quantity, y: Quantity) => Quantity): Amounts {
  const result = new Map(a)
  for (const [name, amount] of b) {
    const other = result.get(name)
    result.set(name, other === undefined ? amount : combine(other, amount))
  }
  return result
}
