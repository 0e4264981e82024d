// Role-based access control: the bindings that name a user, the roles that they refer to, and the rules of those roles.

import { quote } from '../../meta/go/go-text.js'
import type { LabelSelectorObject } from '../../meta/selectors/label-selectors.js'
import type { Value } from '../../meta/values/value.js'
import { type AccessAttributes } from '../../request/access-attributes.js'
import { type UserInfo } from '../../request/user-info.js'
import { accountUser } from '../authn/service-accounts.js'
import { type Authorizer, createAuthorizer, type Decision } from './authorizer.js'

export interface PolicyRule {
  readonly verbs?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

export interface Role {
  readonly metadata?: { readonly name?: string; readonly labels?: Readonly<Record<string, string>> }
  readonly rules?: readonly PolicyRule[] | null
  /** Selects the cluster roles whose rules a controller copies into this one. */
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelectorObject[] }
}

export interface RoleBinding {
  readonly metadata?: { readonly name?: string; readonly namespace?: string }
  readonly subjects?: readonly Subject[]
  readonly roleRef: { readonly kind: string; readonly name: string; readonly apiGroup?: string }
}

export interface Subject {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly apiGroup?: string
}

/** The stored objects of the four kinds. */
export interface RbacObjects {
  clusterRole(name: string): Role | undefined
  role(namespace: string, name: string): Role | undefined
  clusterRoleBindings(): Iterable<RoleBinding>
  roleBindings(namespace: string): Iterable<RoleBinding>
}

export const createRbacAuthorizer = (objects: RbacObjects): Authorizer =>
  createAuthorizer((user, attributes) => decide(objects, user, attributes))

function decide(objects: RbacObjects, user: UserInfo, attributes: AccessAttributes): Decision {
  const missing: string[] = []
  for (const grant of grantsTo(objects, user, 'path' in attributes ? '' : attributes.namespace, missing)) {
    if (grant.rules.some(rule => allows(rule, attributes))) {
      return { allowed: true, reason: `RBAC: allowed by ${describeGrant(grant)}` }
    }
  }
  return { allowed: false, reason: missing.length === 0 ? '' : `RBAC: ${printMissing(missing)}` }
}

/** The rules of a role that is bound to a user, with the binding and the subject that binds it. */
export interface Grant {
  readonly rules: readonly PolicyRule[]
  readonly binding: RoleBinding
  readonly subject: Subject
}

/** Every role that is bound to the user in the namespace; roles that do not exist are added to `missing`. */
export function* grantsTo(
  objects: RbacObjects,
  user: UserInfo,
  namespace: string,
  missing: string[] = [],
): Iterable<Grant> {
  for (const binding of objects.clusterRoleBindings()) {
    const subject = findSubject(binding, user, '')
    if (!subject) continue
    const role = objects.clusterRole(binding.roleRef.name)
    if (role) yield { rules: role.rules ?? [], binding, subject }
    else missing.push(notThere('ClusterRole', binding.roleRef.name))
  }
  if (namespace === '') return
  for (const binding of objects.roleBindings(namespace)) {
    const subject = findSubject(binding, user, namespace)
    if (!subject) continue
    const role = referredRole(objects, binding.roleRef, namespace)
    if (role) yield { rules: role.rules ?? [], binding, subject }
    else missing.push(notThere(binding.roleRef.kind, binding.roleRef.name))
  }
}

/** The role that a binding in that namespace refers to. */
export const referredRole = (
  objects: RbacObjects,
  { kind, name }: RoleBinding['roleRef'],
  namespace: string,
): Role | undefined => (kind === 'ClusterRole' ? objects.clusterRole(name) : objects.role(namespace, name))

const notThere = (kind: string, name: string): string =>
  `${kind.toLowerCase()}.rbac.authorization.k8s.io ${quote(name)} not found`

/** The roles that do not exist, each named once. */
export function printMissing(missing: readonly string[]): string {
  const once = [...new Set(missing)]
  return once.length === 1 ? once[0]! : `[${once.join(', ')}]`
}

function describeGrant({ binding: { metadata = {}, roleRef }, subject }: Grant): string {
  const { name = '', namespace } = metadata
  const what =
    namespace === undefined ? `ClusterRoleBinding ${quote(name)}` : `RoleBinding ${quote(`${name}/${namespace}`)}`
  const who = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace ?? ''}` : subject.name
  return `${what} of ${roleRef.kind} ${quote(roleRef.name)} to ${subject.kind} ${quote(who)}`
}

const findSubject = ({ subjects = [] }: RoleBinding, user: UserInfo, namespace: string): Subject | undefined =>
  subjects.find(subject => {
    switch (subject.kind) {
      case 'User':
        return subject.name === user.name
      case 'Group':
        return user.groups.includes(subject.name)
      case 'ServiceAccount':
        return user.name === accountUser(subject.namespace || namespace, subject.name)
      default:
        return false
    }
  })

/** Whether one rule allows the attributes. */
export function allows(rule: PolicyRule, attributes: AccessAttributes): boolean {
  if (!covers(rule.verbs, attributes.verb)) return false
  if ('path' in attributes) return (rule.nonResourceURLs ?? []).some(pattern => matchesPath(pattern, attributes.path))
  const { group, resource, subresource, name } = attributes
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

/** Stored objects need no check: they were validated when they were written. */
export const asRole = (object: Value): Role => object as Role
export const asBinding = (object: Value): RoleBinding => object as unknown as RoleBinding
