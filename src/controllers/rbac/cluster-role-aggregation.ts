// Copies into each cluster role with an aggregationRule the rules of the roles that it selects, by server-side apply.
// A role that aggregates aggregated roles is complete after as many rounds as there are levels.
import type { Kind } from '../../kinds/kind.js'
import { compareTexts } from '../../meta/go/go-text.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { matchesLabels, selectorOf } from '../../meta/selectors/label-selectors.js'
import { objectAt, objectsAt } from '../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { systemObjects } from '../../verbs/system-writes.js'
import type { Controller, ControllerEnv } from '../common/controller.js'
import { startKindController } from '../common/kind-controller.js'

const NAME = 'clusterrole-aggregation-controller'
/** Any change of a role may concern any aggregated role, so that there is one key for all. */
const ALL = 'all'

export function startClusterRoleAggregation(context: ApiContext, roles: Kind, env: ControllerEnv): Promise<Controller> {
  const objects = systemObjects(context, NAME)
  return startKindController(context, {
    name: 'ClusterRoleAggregator',
    env,
    follow: [{ kind: roles, keys: () => [ALL] }],
    async reconcile() {
      const { entries } = await context.objectStore(roles).cache.range(roles.keyPrefix)
      const all = entries.map(decodeStored)
      for (const role of all) {
        const rules = role['aggregationRule'] && aggregatedRules(role, all)
        if (!rules || equalValues(rules, [...objectsAt(role, 'rules')])) continue
        await objects.apply(roles, { metadata: { name: metaOf(role).name! }, rules })
      }
    },
  })
}

/** The rules of the selected roles: selector by selector, role by role in the order of their names, each rule once. */
export function aggregatedRules(role: ApiObject, all: readonly ApiObject[]): ValueObject[] | undefined {
  const rules: ValueObject[] = []
  for (const written of objectsAt(objectAt(role, 'aggregationRule'), 'clusterRoleSelectors')) {
    const selector = selectorOf(written)
    // Roles of before this was validated; kube-controller-manager leaves such a role alone too.
    if (!selector.ok) return undefined
    const selected = all
      .filter(each => metaOf(each).name !== metaOf(role).name)
      .filter(each => matchesLabels(selector.value, metaOf(each).labels ?? {}))
      .toSorted((a, b) => compareTexts(metaOf(a).name!, metaOf(b).name!))
    for (const rule of selected.flatMap(each => objectsAt(each, 'rules'))) {
      if (!rules.some(each => equalValues(each, rule))) rules.push(rule)
    }
  }
  return rules
}
