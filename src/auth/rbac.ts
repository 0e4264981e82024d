// Role-based access control: the bindings that name a caller, the roles they refer to, the rules of those.
import type { Value } from '../meta/value.js'
import type { Caller } from '../resources/resource-context.js'
import { MASTERS } from './authenticate.js'
import { type Authorizer, type Deed, type Verdict } from './authorize.js'

export interface PolicyRule {
  readonly verbs?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

export interface Role {
  readonly rules?: readonly PolicyRule[] | null
}

export interface RoleBinding {
  readonly subjects?: readonly Subject[]
  readonly roleRef: { readonly kind: string; readonly name: string; readonly apiGroup?: string }
}

export interface Subject {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly apiGroup?: string
}

/** The objects of the four kinds, as they are now. */
export interface RbacObjects {
  clusterRole(name: string): Role | undefined
  role(namespace: string, name: string): Role | undefined
  clusterRoleBindings(): Iterable<RoleBinding>
  roleBindings(namespace: string): Iterable<RoleBinding>
}

export function rbacAuthorizer(objects: RbacObjects): Authorizer {
  return async (caller, deed) => (caller.groups.includes(MASTERS) ? ALLOWED : judge(objects, caller, deed))
}

const ALLOWED: Verdict = { allowed: true, reason: '' }

function judge(objects: RbacObjects, caller: Caller, deed: Deed): Verdict {
  const missing: string[] = []
  for (const rules of rulesFor(objects, caller, 'path' in deed ? '' : deed.namespace, missing)) {
    if (rules.some(rule => allows(rule, deed))) return ALLOWED
  }
  return { allowed: false, reason: missing.length === 0 ? '' : `RBAC: ${printMissing(missing)}` }
}

/** The rules of every role that is bound to the caller there; roles that do not exist are named in `missing`. */
export function* rulesFor(
  objects: RbacObjects,
  caller: Caller,
  namespace: string,
  missing: string[] = [],
): Iterable<readonly PolicyRule[]> {
  for (const binding of objects.clusterRoleBindings()) {
    if (!binds(binding, caller, '')) continue
    const role = objects.clusterRole(binding.roleRef.name)
    if (role) yield role.rules ?? []
    else missing.push(`clusterrole.rbac.authorization.k8s.io "${binding.roleRef.name}" not found`)
  }
  if (namespace === '') return
  for (const binding of objects.roleBindings(namespace)) {
    if (!binds(binding, caller, namespace)) continue
    const { kind, name } = binding.roleRef
    const role = kind === 'ClusterRole' ? objects.clusterRole(name) : objects.role(namespace, name)
    if (role) yield role.rules ?? []
    else missing.push(`${kind.toLowerCase()}.rbac.authorization.k8s.io "${name}" not found`)
  }
}

const printMissing = (missing: readonly string[]): string =>
  missing.length === 1 ? missing[0]! : `[${[...new Set(missing)].join(', ')}]`

const binds = ({ subjects = [] }: RoleBinding, caller: Caller, namespace: string): boolean =>
  subjects.some(subject => {
    switch (subject.kind) {
      case 'User':
        return subject.name === caller.name
      case 'Group':
        return caller.groups.includes(subject.name)
      case 'ServiceAccount':
        return caller.name === `system:serviceaccount:${subject.namespace ?? namespace}:${subject.name}`
      default:
        return false
    }
  })

/** Whether one rule covers a deed. */
export function allows(rule: PolicyRule, deed: Deed): boolean {
  if (!covers(rule.verbs, deed.verb)) return false
  if ('path' in deed) return (rule.nonResourceURLs ?? []).some(pattern => matchesPath(pattern, deed.path))
  const { group, resource, subresource, name } = deed
  const full = subresource === '' ? resource : `${resource}/${subresource}`
  return (
    covers(rule.apiGroups, group) &&
    (covers(rule.resources, full) || (subresource !== '' && (rule.resources ?? []).includes(`*/${subresource}`))) &&
    (!rule.resourceNames?.length || rule.resourceNames.includes(name))
  )
}

const covers = (list: readonly string[] | undefined, wanted: string): boolean =>
  list !== undefined && (list.includes('*') || list.includes(wanted))

const matchesPath = (pattern: string, path: string): boolean =>
  pattern === '*' || pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1)))

/** The rules of stored objects are values of the API; their form was checked when they were written. */
export const asRole = (object: Value): Role => object as Role
export const asBinding = (object: Value): RoleBinding => object as unknown as RoleBinding
