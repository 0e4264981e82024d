// What the objects of a namespace use of what a quota limits: the measurement from which the status of a quota begins, and
// by which usage is released.
import type { Kind } from '../../../kinds/kind.js'
import { resourceOf } from '../../../kinds/kind-names.js'
import type { ApiObject } from '../../../meta/object/api-object.js'
import { metaOf } from '../../../meta/object/object-meta.js'
import { objectAt } from '../../../meta/values/access.js'
import { addQuantities, printQuantity, type Quantity, quantityOf } from '../../../meta/values/quantity.js'
import type { ValueObject } from '../../../meta/values/value.js'
import type { Lister } from '../../../objects/lister.js'
import { amountsIn } from '../pod-resources.js'
import { scopesOf } from './check.js'
import { loadEvaluator } from './evaluators.js'

export interface QuotaWorld {
  /** The kinds with namespaces whose objects can be deleted. */
  readonly kinds: Iterable<Kind>
  /** The objects of the quota's namespace. */
  objects(kind: Kind): Promise<readonly ApiObject[]>
  readonly now: number
  readonly lister: Pick<Lister, 'all'>
}

/** The usage by resource name. Names that no kind is measured by are left out. */
export async function measureUsage(
  quota: ApiObject,
  { kinds, objects, now, lister }: QuotaWorld,
): Promise<ValueObject> {
  const { namespace = '' } = metaOf(quota)
  const hard = [...amountsIn(objectAt(objectAt(quota, 'spec'), 'hard')).keys()]
  const scopes = scopesOf(quota)
  const used = new Map<string, Quantity>()
  for (const kind of kinds) {
    const { tracks, usage, isInScope } = await loadEvaluator(resourceOf(kind), namespace, lister)
    const limited = hard.filter(tracks)
    if (limited.length === 0) continue
    for (const name of limited) used.set(name, used.get(name) ?? quantityOf(0n))
    if (scopes.length > 0 && !isInScope) continue
    for (const object of await objects(kind)) {
      if (!scopes.every(scope => isInScope!(object, scope))) continue
      const amounts = usage(object, now)
      for (const name of limited) {
        const amount = amounts.get(name)
        if (amount) used.set(name, addQuantities(used.get(name)!, amount))
      }
    }
  }
  return Object.fromEntries(hard.flatMap(name => (used.has(name) ? [[name, printQuantity(used.get(name)!)]] : [])))
}
