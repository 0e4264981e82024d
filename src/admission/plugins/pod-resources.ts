// The requests and limits of containers and of a whole pod.

import { amountOf } from '../../builtin/pod.js'
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { addQuantities, compareQuantities, type Quantity, signOf } from '../../meta/values/quantity.js'
import type { ValueObject } from '../../meta/values/value.js'

/** Quantities by resource name. A Map, because clients choose the names. */
export type Amounts = ReadonlyMap<string, Quantity>

export interface Resources {
  readonly requests: Amounts
  readonly limits: Amounts
}

export const NO_AMOUNTS: Amounts = new Map()

export function amountsIn(amounts: ValueObject): Amounts {
  const parsed = new Map<string, Quantity>()
  for (const name of Object.keys(amounts).toSorted()) {
    const amount = amountOf(amounts, name)
    if (amount !== undefined) parsed.set(name, amount)
  }
  return parsed
}

/** The `resources` of a container, a claim or a pod. */
export function resourcesOf(holder: ValueObject): Resources {
  const resources = objectAt(holder, 'resources')
  return { requests: amountsIn(objectAt(resources, 'requests')), limits: amountsIn(objectAt(resources, 'limits')) }
}

/**
 * The sum over the containers, or the most that any init container needs if that is more. Init containers run one after
 * the other; those with restartPolicy Always (sidecars) go on to run beside all later ones and the containers.
 */
export function resourcesOfContainers(spec: ValueObject): Resources {
  const of = (kind: keyof Resources): Amounts => {
    let sidecars = NO_AMOUNTS
    let max = NO_AMOUNTS
    for (const container of objectsAt(spec, 'initContainers')) {
      const needed = addAmounts(sidecars, resourcesOf(container)[kind])
      if (stringAt(container, 'restartPolicy') === 'Always') sidecars = needed
      max = combine(max, needed, (x, y) => (compareQuantities(x, y) < 0 ? y : x))
    }
    const running = objectsAt(spec, 'containers').map(container => resourcesOf(container)[kind])
    return combine(max, running.reduce(addAmounts, sidecars), (x, y) => (compareQuantities(x, y) < 0 ? y : x))
  }
  return { requests: of('requests'), limits: of('limits') }
}

/** What the containers need, replaced by what the pod itself sets, plus the overhead. */
export function resourcesOfPod(spec: ValueObject): Resources {
  const containers = resourcesOfContainers(spec)
  const own = resourcesOf(spec)
  const overhead = amountsIn(objectAt(spec, 'overhead'))
  const requests = addAmounts(new Map([...containers.requests, ...own.requests]), overhead)
  const limits = new Map([...containers.limits, ...own.limits])
  for (const [name, amount] of overhead) {
    const limit = limits.get(name)
    if (limit && signOf(limit) !== 0) limits.set(name, addQuantities(limit, amount))
  }
  return { requests, limits }
}

export const addAmounts = (a: Amounts, b: Amounts): Amounts => combine(a, b, addQuantities)

/** The amounts of both; names that both have are combined. */
export function combine(a: Amounts, b: Amounts, join: (x: Quantity, y: Quantity) => Quantity): Amounts {
  const result = new Map(a)
  for (const [name, amount] of b) {
    const other = result.get(name)
    result.set(name, other === undefined ? amount : join(other, amount))
  }
  return result
}
