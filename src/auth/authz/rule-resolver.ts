// The rules that hold for a user, for SelfSubjectRulesReviews and for the check against escalation.
import { type UserInfo } from '../../request/user-info.js'
import { grantsTo, type PolicyRule, printMissing, type RbacObjects, type RoleBinding, referredRole } from './rbac.js'

export interface RuleResolver {
  /** The rules of a user in a namespace, or at the cluster scope if it is empty; `error` names roles that do not exist. */
  rulesFor(user: UserInfo, namespace: string): ResolvedRules
  /** The rules of the role that a binding refers to; undefined when there is no such role. */
  rulesOf(roleRef: RoleBinding['roleRef'], namespace: string): readonly PolicyRule[] | undefined
}

export interface ResolvedRules {
  readonly rules: readonly PolicyRule[]
  readonly error: string
  /** Whether there may be rules that are not listed. */
  readonly incomplete?: boolean | undefined
}

export const createRbacRules = (objects: RbacObjects): RuleResolver => ({
  rulesFor(user, namespace) {
    const missing: string[] = []
    const rules = [...grantsTo(objects, user, namespace, missing)].flatMap(grant => grant.rules)
    return { rules, error: missing.length === 0 ? '' : printMissing(missing) }
  },
  rulesOf(roleRef, namespace) {
    const role = referredRole(objects, roleRef, namespace)
    return role && (role.rules ?? [])
  },
})

const EVERYTHING: readonly PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
]

/** The rules where everything is allowed; stored roles are not read. */
export const ALL_RULES: RuleResolver = { rulesFor: () => ({ rules: EVERYTHING, error: '' }), rulesOf: () => [] }

/** The rules where everything is forbidden. */
export const NO_RULES: RuleResolver = { rulesFor: () => ({ rules: [], error: '' }), rulesOf: () => [] }
