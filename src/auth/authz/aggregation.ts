// Cluster roles that are made of others. The rules of the others count as soon as they are there: nothing is copied
// into the role, which stays as it was written.
import { matchesLabels, selectorOf } from '../../meta/selectors/label-selectors.js'
import type { PolicyRule, Role } from './rbac.js'

/** The role with its own rules and those of every role that it selects, and that those select in turn. */
export function aggregated(role: Role, all: () => Iterable<Role>): Role {
  if (!role.aggregationRule) return role
  const seen = new Set<Role>([role])
  const rules: PolicyRule[] = []
  // What a role selects is looked at after it, so that roles that select each other come to an end.
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
