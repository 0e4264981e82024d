// Which requests the matchConstraints of a policy, or the matchResources of a binding, apply to.

import { type Awaitable, andThen } from '../../base/awaitable.js'
import { notFound } from '../../meta/errors/status.js'
import type { GroupVersionKind } from '../../meta/group-version.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import {
  type LabelSelector,
  type Labels,
  matchesLabels,
  selectorOf,
  selectsEverything,
} from '../../meta/selectors/label-selectors.js'
import { objectOrNone, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { Attributes } from '../attributes.js'
import {
  type GroupVersionResource,
  type MatchedResource,
  requestedResource,
  requestNamespace,
} from '../expressions/admission-request.js'

export interface MatchResources {
  readonly namespaceSelector: LabelSelector
  readonly objectSelector: LabelSelector
  readonly include: readonly Rule[]
  readonly exclude: readonly Rule[]
  /** Whether rules for another version of the resource match, too. */
  readonly isEquivalent: boolean
}

interface Rule {
  readonly operations: readonly string[]
  readonly groups: readonly string[]
  readonly versions: readonly string[]
  readonly resources: readonly (readonly [resource: string, subresource: string])[]
  readonly scope: string
  /** All names if empty. */
  readonly names: readonly string[]
}

/** Undefined selects everything. */
export function readMatchResources(resources: ValueObject | undefined): MatchResources | undefined {
  if (resources === undefined) return undefined
  return {
    namespaceSelector: selectorIn(resources, 'namespaceSelector'),
    objectSelector: selectorIn(resources, 'objectSelector'),
    include: objectsAt(resources, 'resourceRules').map(readRule),
    exclude: objectsAt(resources, 'excludeResourceRules').map(readRule),
    isEquivalent: stringAt(resources, 'matchPolicy') === 'Equivalent',
  }
}

/** Selectors are checked when the object is written. */
function selectorIn(resources: ValueObject, field: string): LabelSelector {
  const selector = selectorOf(objectOrNone(resources, field) ?? {})
  return selector.ok ? selector.value : 'nothing'
}

const readRule = (rule: ValueObject): Rule => ({
  operations: stringsAt(rule, 'operations'),
  groups: stringsAt(rule, 'apiGroups'),
  versions: stringsAt(rule, 'apiVersions'),
  resources: stringsAt(rule, 'resources').map(resource => {
    const slash = resource.indexOf('/')
    return slash < 0 ? [resource, ''] : [resource.slice(0, slash), resource.slice(slash + 1)]
  }),
  scope: stringAt(rule, 'scope') || '*',
  names: stringsAt(rule, 'resourceNames'),
})

// ---- rules

/** The resource that the rules match; undefined if they do not match the request. Selectors are not looked at. */
export function matchRules(resources: MatchResources, attributes: Attributes): MatchedResource | undefined {
  const { include, exclude, isEquivalent } = resources
  if (exclude.length > 0 && firstMatch(exclude, isEquivalent, attributes)) return undefined
  return include.length === 0 ? requestedResource(attributes) : firstMatch(include, isEquivalent, attributes)
}

function firstMatch(
  rules: readonly Rule[],
  isEquivalent: boolean,
  attributes: Attributes,
): MatchedResource | undefined {
  const requested = requestedResource(attributes)
  const matches = (rule: Rule, resource: GroupVersionResource): boolean =>
    matchesRule(rule, resource, attributes) && (rule.names.length === 0 || rule.names.includes(attributes.name))
  if (rules.some(rule => matches(rule, requested.resource))) return requested
  if (!isEquivalent) return undefined
  const others = otherVersions(attributes)
  for (const rule of rules) {
    const found = others.find(({ resource }) => matches(rule, resource))
    if (found) return found
  }
  return undefined
}

/** The resource in its other served versions. */
function otherVersions({ storedKind, resource, version, kind }: Attributes): readonly MatchedResource[] {
  if (!storedKind) return []
  return storedKind.versions
    .filter(({ name, served }) => served && name !== version)
    .map(({ name }) => ({ resource: { ...resource, version: name }, kind: kindIn(name, kind, storedKind.names.kind) }))
}

/** A subresource with a kind of its own, such as a Scale, has the same kind in all versions of the resource. */
const kindIn = (version: string, kind: GroupVersionKind, ofResource: string): GroupVersionKind =>
  kind.kind === ofResource ? { ...kind, version } : kind

const includes = (list: readonly string[], item: string): boolean => list.includes('*') || list.includes(item)

function matchesRule(rule: Rule, { group, version, resource }: GroupVersionResource, attributes: Attributes): boolean {
  const { operation, subresource } = attributes
  return (
    includes(rule.operations, operation) &&
    includes(rule.groups, group) &&
    includes(rule.versions, version) &&
    rule.resources.some(([name, sub]) => (name === '*' || name === resource) && (sub === '*' || sub === subresource)) &&
    matchesScope(rule.scope, attributes)
  )
}

/** Namespaces count as resources of the cluster. */
function matchesScope(scope: string, { namespace, resource }: Attributes): boolean {
  if (scope === '*') return true
  const isNamespaced = namespace !== '' && !(resource.group === '' && resource.resource === 'namespaces')
  return (scope === 'Namespaced') === isNamespaced
}

// ---- selectors

export function matchesObject({ objectSelector }: MatchResources, { object, oldObject }: Attributes): boolean {
  if (selectsEverything(objectSelector)) return true
  return [object, oldObject].some(each => each !== undefined && matchesLabels(objectSelector, labelsOf(each)))
}

const labelsOf = (object: ApiObject): Labels => metaOf(object).labels ?? {}

export type FindLabels = (namespace: string) => Awaitable<{ readonly labels: Labels } | undefined>

/** Requests to the cluster scope always match, except those to namespaces. */
export function matchesNamespace(
  { namespaceSelector }: MatchResources,
  attributes: Attributes,
  find: FindLabels,
): Awaitable<boolean> {
  const namespace = requestNamespace(attributes)
  const { resource, subresource, operation, object } = attributes
  const isNamespace = resource.resource === 'namespaces'
  if ((namespace === '' && !isNamespace) || selectsEverything(namespaceSelector)) return true
  // The labels of a namespace that is being written are those of the request.
  if (isNamespace && subresource === '' && object && (operation === 'CREATE' || operation === 'UPDATE')) {
    return matchesLabels(namespaceSelector, labelsOf(object))
  }
  return andThen(find(namespace), found => {
    if (!found) throw notFound({ group: '', resource: 'namespaces' }, namespace)
    return matchesLabels(namespaceSelector, found.labels)
  })
}
