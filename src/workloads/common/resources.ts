// What pods ask for and nodes offer, as numbers: quantities in their base unit.
import { parseQuantity, quantityAsFloat } from '../../meta/values/quantity.js'
import type { Container, PodSpec, Resources } from '../api/objects.js'

export type Amounts = ReadonlyMap<string, number>

/** Depends on nothing but the texts. */
const KNOWN = new Map<string, number>()

/** A quantity as a number; 0 if it is none. Most pods ask for the same few quantities. */
export function amountOf(text: string | undefined): number {
  if (text === undefined) return 0
  const known = KNOWN.get(text)
  if (known !== undefined) return known
  const parsed = parseQuantity(text)
  const amount = parsed.ok ? quantityAsFloat(parsed.value) : 0
  if (KNOWN.size > 1000) KNOWN.clear()
  KNOWN.set(text, amount)
  return amount
}

export const amountsOf = (resources: Resources | undefined): Amounts =>
  new Map(Object.entries(resources ?? {}).map(([name, text]) => [name, amountOf(text)]))

/** What a pod asks for: the sum of its containers, or its largest init container with the sidecars before it. */
export function requestsOf({ containers, initContainers = [], overhead }: PodSpec): Amounts {
  const sum = new Map<string, number>()
  for (const container of containers) add(sum, requestOf(container))
  const sidecars = new Map<string, number>()
  const initial = new Map<string, number>()
  for (const container of initContainers) {
    const requested = requestOf(container)
    if (container.restartPolicy === 'Always') add(sidecars, requested)
    const needed = new Map(sidecars)
    if (container.restartPolicy !== 'Always') add(needed, requested)
    for (const [name, amount] of needed) initial.set(name, Math.max(initial.get(name) ?? 0, amount))
  }
  add(sum, sidecars)
  for (const [name, amount] of initial) sum.set(name, Math.max(sum.get(name) ?? 0, amount))
  add(sum, amountsOf(overhead))
  return sum
}

const requestOf = ({ resources }: Container): Amounts => amountsOf({ ...resources?.limits, ...resources?.requests })

function add(to: Map<string, number>, amounts: Amounts): void {
  for (const [name, amount] of amounts) to.set(name, (to.get(name) ?? 0) + amount)
}
