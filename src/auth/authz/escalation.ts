// Protection against escalation: a user who writes a role must hold all of its rules, and a user who binds a role must
// hold the rules of that role, unless they have the verb `escalate` or `bind`.

import { forbidden, notFound } from '../../meta/errors/status.js'
import { compareTexts, quote } from '../../meta/go/go-text.js'
import type { GroupResource } from '../../meta/group-version.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { equalValues, type Value } from '../../meta/values/value.js'
import { type UserInfo } from '../../request/user-info.js'
import { MASTERS } from '../authn/system-groups.js'
import type { Authorizer } from './authorizer.js'
import { asBinding, asRole, type PolicyRule } from './rbac.js'
import { uncoveredRules } from './rule-cover.js'
import type { RuleResolver } from './rule-resolver.js'

const RBAC_GROUP = 'rbac.authorization.k8s.io'

/** A write of a role or a binding. */
export interface RoleWrite {
  readonly resource: GroupResource
  readonly namespace: string
  /** The name in the path of the request; empty for a POST. */
  readonly name: string
  readonly object: ApiObject
  readonly old: ApiObject | undefined
  readonly user: UserInfo
}

/** Throws a 403 if the role or the binding would grant what the user does not hold. */
export async function checkEscalation(write: RoleWrite, authorizer: Authorizer, resolver: RuleResolver): Promise<void> {
  const { resource: written, namespace, name, object, old, user } = write
  if (written.group !== RBAC_GROUP || user.groups.includes(MASTERS)) return
  // Finalizers and owner references grant nothing.
  if (old && changesOnlyLifetime(object, old)) return
  const mayUse = async (verb: string, resource: string, roleName: string): Promise<boolean> => {
    const attributes = { verb, group: RBAC_GROUP, resource, subresource: '', namespace, name: roleName }
    return (await authorizer.authorize(user, attributes)).allowed
  }
  switch (written.resource) {
    case 'roles':
    case 'clusterroles':
      if (!(await mayUse('escalate', written.resource, name))) checkRole(write, resolver)
      return
    case 'rolebindings':
    case 'clusterrolebindings': {
      const { roleRef } = asBinding(object)
      if (await mayUse('bind', roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles', roleRef.name)) return
      const rules = resolver.rulesOf(roleRef, namespace)
      if (!rules) throw notFound(written, roleRef.name)
      refuse(write, notHeld(user, namespace, rules, resolver))
    }
  }
}

const EVERYTHING: readonly PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
]

function checkRole(write: RoleWrite, resolver: RuleResolver): void {
  const { namespace, object, old, user } = write
  const { rules, aggregationRule } = asRole(object)
  refuse(write, notHeld(user, namespace, rules ?? [], resolver))
  if (!aggregationRule && !(old && asRole(old).aggregationRule)) return
  // An aggregation rule can select any role, so that the user must hold everything.
  const missing = notHeld(user, namespace, EVERYTHING, resolver)
  refuse(write, missing && 'must have cluster-admin privileges to use the aggregationRule')
}

function refuse({ resource, object }: RoleWrite, why: string | undefined): void {
  if (why !== undefined) throw forbidden(resource, metaOf(object).name ?? '', why)
}

/** The message about the rules that the user does not hold; undefined if they hold all. */
function notHeld(
  user: UserInfo,
  namespace: string,
  rules: readonly PolicyRule[],
  resolver: RuleResolver,
): string | undefined {
  const { rules: held, error } = resolver.rulesFor(user, namespace)
  const missing = uncoveredRules(held, rules)
  if (missing.length === 0) return undefined
  const lines = [...new Set(compact(missing).map(printRule))].toSorted(compareTexts)
  const groups = user.groups.map(quote).join(' ')
  const doubt = error === '' ? '' : `; resolution errors: [${error}]`
  return `user ${quote(user.name)} (groups=[${groups}]) is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}${doubt}`
}

// ---- rules

/** Joins broken-down rules that differ only in their verbs. */
function compact(rules: readonly PolicyRule[]): PolicyRule[] {
  const together = new Map<string, PolicyRule>()
  for (const rule of rules) {
    const { apiGroups, resources, resourceNames, nonResourceURLs, verbs = [] } = rule
    const key = JSON.stringify(nonResourceURLs ? rule : [apiGroups, resources, resourceNames])
    const known = together.get(key)
    together.set(key, known ? { ...known, verbs: [...new Set([...(known.verbs ?? []), ...verbs])] } : rule)
  }
  return [...together.values()]
}

function printRule({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const parts = Object.entries({
    APIGroups: apiGroups,
    Resources: resources,
    NonResourceURLs: nonResourceURLs,
    ResourceNames: resourceNames,
    Verbs: verbs,
  })
  const given = parts.flatMap(([name, texts]) => (texts?.length ? [`${name}:[${texts.map(quote).join(' ')}]`] : []))
  return `{${given.join(', ')}}`
}

// ---- updates

/** Whether only finalizers, owner references and versions differ. */
function changesOnlyLifetime(object: ApiObject, old: ApiObject): boolean {
  const rest = (each: ApiObject): Value => {
    const { finalizers: _1, ownerReferences: _2, resourceVersion: _3, managedFields: _4, ...metadata } = each.metadata
    return { ...each, metadata }
  }
  return equalValues(rest(object), rest(old))
}
