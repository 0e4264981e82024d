// Role-based access control: the bindings that name a caller, the roles they refer to, the rules of those.

import { quote } from '../../meta/go/go-text.js'
import type { LabelSelectorObject } from '../../meta/selectors/label-selectors.js'
import type { Value } from '../../meta/values/value.js'
import { type Deed } from '../../request/access-attributes.js'
import { type Caller } from '../../request/user-info.js'
import { MASTERS } from '../authn/authenticate.js'
import { accountUser } from '../authn/service-accounts.js'
import { ALLOWED, type Authorizer, type Verdict } from './authorize.js'

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
  /** A cluster role may be made of others. */
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

/** The objects of the four kinds, as they are now. */
export interface RbacObjects {
  /** With the rules of those that it is made of. */
  clusterRole(name: string): Role | undefined
  role(namespace: string, name: string): Role | undefined
  clusterRoleBindings(): Iterable<RoleBinding>
  roleBindings(namespace: string): Iterable<RoleBinding>
}

export function rbacAuthorizer(objects: RbacObjects): Authorizer {
  return (caller, deed) => (caller.groups.includes(MASTERS) ? ALLOWED : judge(objects, caller, deed))
}

function judge(objects: RbacObjects, caller: Caller, deed: Deed): Verdict {
  const missing: string[] = []
  for (const grant of grantsTo(objects, caller, 'path' in deed ? '' : deed.namespace, missing)) {
    if (grant.rules.some(rule => allows(rule, deed))) {
      return { allowed: true, reason: `RBAC: allowed by ${describeGrant(grant)}` }
    }
  }
  return { allowed: false, reason: missing.length === 0 ? '' : `RBAC: ${printMissing(missing)}` }
}

/** The rules of a role that is bound to a caller, and how it is. */
export interface Grant {
  readonly rules: readonly PolicyRule[]
  readonly binding: RoleBinding
  readonly subject: Subject
}

/** Every role that is bound to the caller there; roles that do not exist are named in `missing`. */
export function* grantsTo(
  objects: RbacObjects,
  caller: Caller,
  namespace: string,
  missing: string[] = [],
): Iterable<Grant> {
  for (const binding of objects.clusterRoleBindings()) {
    const subject = findSubject(binding, caller, '')
    if (!subject) continue
    const role = objects.clusterRole(binding.roleRef.name)
    if (role) yield { rules: role.rules ?? [], binding, subject }
    else missing.push(notThere('ClusterRole', binding.roleRef.name))
  }
  if (namespace === '') return
  for (const binding of objects.roleBindings(namespace)) {
    const subject = findSubject(binding, caller, namespace)
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

/** What is missing, each once. */
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

const findSubject = ({ subjects = [] }: RoleBinding, caller: Caller, namespace: string): Subject | undefined =>
  subjects.find(subject => {
    switch (subject.kind) {
      case 'User':
        return subject.name === caller.name
      case 'Group':
        return caller.groups.includes(subject.name)
      case 'ServiceAccount':
        return caller.name === accountUser(subject.namespace || namespace, subject.name)
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
