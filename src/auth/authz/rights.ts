// Everything that can be asked about rights: may somebody do something, and what rules count for them.
import { type Caller } from '../../request/user-info.js'
import { type Authorizer, allowAll } from './authorize.js'
import {
  grantsTo,
  type PolicyRule,
  printMissing,
  type RbacObjects,
  type RoleBinding,
  rbacAuthorizer,
  referredRole,
} from './rbac.js'

export interface Rights {
  readonly authorize: Authorizer
  /** The rules that count for the caller in a namespace, or at the cluster scope, and what could not be found out. */
  rulesFor(caller: Caller, namespace: string): { readonly rules: readonly PolicyRule[]; readonly error: string }
  /** The rules of the role that a binding refers to; undefined when there is no such role. */
  rulesOf(roleRef: RoleBinding['roleRef'], namespace: string): readonly PolicyRule[] | undefined
}

export const rbacRights = (objects: RbacObjects): Rights => ({
  authorize: rbacAuthorizer(objects),
  rulesFor(caller, namespace) {
    const missing: string[] = []
    const rules = [...grantsTo(objects, caller, namespace, missing)].flatMap(grant => grant.rules)
    return { rules, error: missing.length === 0 ? '' : printMissing(missing) }
  },
  rulesOf(roleRef, namespace) {
    const role = referredRole(objects, roleRef, namespace)
    return role && (role.rules ?? [])
  },
})

/** Where nobody is refused anything, roles do not matter. */
export const ALL_RIGHTS: Rights = {
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
