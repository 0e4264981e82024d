// Everything that can be asked about rights: may somebody do something, and what rules count for them.
import { type UserInfo } from '../../request/user-info.js'
import { type Authorize, allowAll } from './authorize.js'
import {
  authorizeByRbac,
  grantsTo,
  type PolicyRule,
  printMissing,
  type RbacObjects,
  type RoleBinding,
  referredRole,
} from './rbac.js'

export interface Authorizer {
  readonly authorize: Authorize
  /** The rules that count for the caller in a namespace, or at the cluster scope, and what could not be found out. */
  rulesFor(user: UserInfo, namespace: string): { readonly rules: readonly PolicyRule[]; readonly error: string }
  /** The rules of the role that a binding refers to; undefined when there is no such role. */
  rulesOf(roleRef: RoleBinding['roleRef'], namespace: string): readonly PolicyRule[] | undefined
}

export const createRbacAuthorizer = (objects: RbacObjects): Authorizer => ({
  authorize: authorizeByRbac(objects),
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

/** Where nobody is refused anything, roles do not matter. */
export const ALWAYS_ALLOW: Authorizer = {
  authorize: allowAll,
  rulesFor: () => ({
    rules: [
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      { nonResourceURLs: ['*'], verbs: ['*'] },
    ],
    error: '',
  }),
  rulesOf: () => [],
}
