// Nobody gives away more than they have: who writes a role must hold all of its rules, and who binds one those of the
// role, unless they may `escalate` or `bind`.

import type { Kind } from '../../kinds/kind.js'
import { resourceOf } from '../../kinds/kind-names.js'
import { forbidden, notFound } from '../../meta/errors/status.js'
import { compareTexts, quote } from '../../meta/go/go-text.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { equalValues, type Value } from '../../meta/values/value.js'
import type { Target } from '../../request/target.js'
import { type UserInfo } from '../../request/user-info.js'
import { MASTERS } from '../authn/authenticate.js'
import { asBinding, asRole, type PolicyRule, type Role } from './rbac.js'
import type { Authorizer } from './rights.js'

const RBAC_GROUP = 'rbac.authorization.k8s.io'

/** A write of a role or a binding. */
export interface RoleWrite {
  readonly target: Target
  readonly object: ApiObject
  readonly old: ApiObject | undefined
  readonly user: UserInfo
}

/** Refuses a role or a binding by which the caller would give away what they do not have. */
export async function checkEscalation({ target, object, old, user }: RoleWrite, authorizer: Authorizer): Promise<void> {
  const { kind, namespace } = target
  if (kind.group !== RBAC_GROUP || user.groups.includes(MASTERS)) return
  // What only lets an object go gives nobody anything.
  if (old && changesOnlyLifetime(object, old)) return
  const { plural } = kind.names
  const may = async (verb: string, resource: string, name: string): Promise<boolean> => {
    const attributes = { verb, group: RBAC_GROUP, resource, subresource: '', namespace, name }
    return (await authorizer.authorize(user, attributes)).allowed
  }
  if (plural === 'roles' || plural === 'clusterroles') {
    if (!(await may('escalate', plural, target.name)))
      checkRole(kind, asRole(object), old && asRole(old), user, namespace, authorizer)
  } else if (plural === 'rolebindings' || plural === 'clusterrolebindings') {
    const { roleRef } = asBinding(object)
    if (await may('bind', roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles', roleRef.name)) return
    const rules = authorizer.rulesOf(roleRef, namespace)
    if (!rules) throw notFound(resourceOf(kind), roleRef.name)
    refuse(kind, metaOf(object).name ?? '', lacking(user, namespace, rules, authorizer))
  }
}

const EVERYTHING: readonly PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
]

function checkRole(
  kind: Kind,
  role: Role,
  old: Role | undefined,
  user: UserInfo,
  namespace: string,
  authorizer: Authorizer,
): void {
  const name = role.metadata?.name ?? ''
  refuse(kind, name, lacking(user, namespace, role.rules ?? [], authorizer))
  if (!role.aggregationRule && !old?.aggregationRule) return
  // It can gather anything.
  const missing = lacking(user, namespace, EVERYTHING, authorizer)
  refuse(kind, name, missing && 'must have cluster-admin privileges to use the aggregationRule')
}

function refuse(kind: Kind, name: string, why: string | undefined): void {
  if (why !== undefined) throw forbidden(resourceOf(kind), name, why)
}

/** What the caller lacks to give these rules away, as they are told; undefined if it is nothing. */
function lacking(
  user: UserInfo,
  namespace: string,
  rules: readonly PolicyRule[],
  authorizer: Authorizer,
): string | undefined {
  const { rules: held, error } = authorizer.rulesFor(user, namespace)
  const missing = rules.flatMap(breakDown).filter(rule => !held.some(owned => covers(owned, rule)))
  if (missing.length === 0) return undefined
  const lines = [...new Set(compact(missing).map(printRule))].toSorted(compareTexts)
  const groups = user.groups.map(quote).join(' ')
  const doubt = error === '' ? '' : `; resolution errors: [${error}]`
  return `user ${quote(user.name)} (groups=[${groups}]) is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}${doubt}`
}

// ---- rules

/** A rule as rules for one thing each. */
function breakDown(rule: PolicyRule): PolicyRule[] {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [], verbs = [] } = rule
  const simple: PolicyRule[] = []
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const one = { apiGroups: [group], resources: [resource], verbs: [verb] }
        if (resourceNames.length === 0) simple.push(one)
        else for (const name of resourceNames) simple.push({ ...one, resourceNames: [name] })
      }
    }
  }
  for (const url of nonResourceURLs) for (const verb of verbs) simple.push({ nonResourceURLs: [url], verbs: [verb] })
  return simple
}

/** Whether one rule gives all that a broken-down one does. */
function covers(owned: PolicyRule, wanted: PolicyRule): boolean {
  const names = owned.resourceNames ?? []
  return (
    hasAll(owned.verbs, wanted.verbs) &&
    hasAll(owned.apiGroups, wanted.apiGroups) &&
    (wanted.resources ?? []).every(resource => coversResource(owned.resources ?? [], resource)) &&
    (names.length === 0 ||
      (Boolean(wanted.resourceNames?.length) && wanted.resourceNames!.every(each => names.includes(each)))) &&
    (wanted.nonResourceURLs ?? []).every(url => (owned.nonResourceURLs ?? []).some(pattern => coversUrl(pattern, url)))
  )
}

const hasAll = (owned: readonly string[] = [], wanted: readonly string[] = []): boolean =>
  owned.includes('*') || wanted.every(each => owned.includes(each))

function coversResource(owned: readonly string[], wanted: string): boolean {
  if (owned.includes('*') || owned.includes(wanted)) return true
  const slash = wanted.indexOf('/')
  return slash > 0 && owned.includes(`*${wanted.slice(slash)}`)
}

const coversUrl = (pattern: string, url: string): boolean =>
  pattern === url || (pattern.endsWith('*') && url.startsWith(pattern.replace(/\*+$/, '')))

/** Broken-down rules for the same things put together again, verb by verb. */
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

/** Finalizers, owners and versions say when an object goes, and nothing else. */
function changesOnlyLifetime(object: ApiObject, old: ApiObject): boolean {
  const rest = (each: ApiObject): Value => {
    const { finalizers: _1, ownerReferences: _2, resourceVersion: _3, managedFields: _4, ...metadata } = each.metadata
    return { ...each, metadata }
  }
  return equalValues(rest(object), rest(old))
}
