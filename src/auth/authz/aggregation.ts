// Aggregated cluster roles: a role with an aggregationRule has the rules of the roles that it selects. The rules are not
// copied into the stored role; they apply as soon as the selected roles exist.
import { matchesLabels, selectorOf } from '../../meta/selectors/label-selectors.js'
import type { PolicyRule, Role } from './rbac.js'

/** The role with its own rules and the rules of all roles that it selects, directly or through other roles. */
export function aggregated(role: Role, all: () => Iterable<Role>): Role {
  if (!role.aggregationRule) return role
  const seen = new Set<Role>([role])
  const rules: PolicyRule[] = []
  // The loop also visits the roles that it adds; each is added once, so that circles end.
  for (const each of seen) {
    rules.push(...(each.rules ?? []))
    for (const other of selected(each, all)) seen.add(other)
  }
  return { ...role, rules }
}

function selected({ aggregationRule }: Role, all: () => Iterable<Role>): Role[] {
  const selectors = (aggregationRule?.clusterRoleSelectors ?? []).flatMap(object => {
    const selector = selectorOf(object)
    return selector.ok ? [selector.value] : []
  })
  if (selectors.length === 0) return []
  return [...all()].filter(({ metadata }) =>
    selectors.some(selector => matchesLabels(selector, metadata?.labels ?? {})),
  )
}
