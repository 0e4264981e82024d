// Which requests something applies to: a webhook, the matchConstraints of a policy, or the matchResources of a binding.
// Rules say which operations on which resources, and two selectors look at labels.

import { type Awaitable, andThen } from '../../base/awaitable.js'
import { notFound } from '../../meta/errors/status.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import {
  type LabelSelector,
  type Labels,
  matchesLabels,
  selectorOf,
  selectsEverything,
} from '../../meta/selectors/label-selectors.js'
import { objectOrNone, objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { Attributes } from '../attributes.js'
import { type MatchedResource, requestedResource, requestNamespace } from '../expressions/admission-request.js'
import { equivalentResources } from './equivalent-resources.js'
import { matchesRule, type Rule, readRule } from './rules.js'

export interface MatchResources {
  /** Undefined: all requests. */
  readonly include: readonly Rule[] | undefined
  readonly exclude: readonly Rule[]
  /** Whether rules also hold for the same resource in another version or group. */
  readonly isEquivalent: boolean
  readonly namespaceSelector: LabelSelector
  readonly objectSelector: LabelSelector
}

/** Of a webhook. One without rules is never called. */
export const readWebhookResources = (webhook: ValueObject): MatchResources => ({
  ...readCommon(webhook),
  include: objectsAt(webhook, 'rules').map(readRule),
  exclude: [],
})

/** Of a policy or a binding. */
export function readPolicyResources(resources: ValueObject): MatchResources {
  const rules = objectsAt(resources, 'resourceRules').map(readRule)
  return {
    ...readCommon(resources),
    include: rules.length === 0 ? undefined : rules,
    exclude: objectsAt(resources, 'excludeResourceRules').map(readRule),
  }
}

const readCommon = (from: ValueObject): Omit<MatchResources, 'include' | 'exclude'> => ({
  isEquivalent: stringAt(from, 'matchPolicy') === 'Equivalent',
  namespaceSelector: selectorIn(from, 'namespaceSelector'),
  objectSelector: selectorIn(from, 'objectSelector'),
})

/** Selectors are checked when the object is written. An absent one selects everything. */
function selectorIn(from: ValueObject, field: string): LabelSelector {
  const selector = selectorOf(objectOrNone(from, field) ?? {})
  return selector.ok ? selector.value : 'nothing'
}

/** What matching reads beside the request. */
export interface MatchEnv {
  /** The labels of a namespace, if it exists. */
  readonly findNamespace: (name: string) => Awaitable<{ readonly labels: Labels } | undefined>
}

/**
 * The resource as the rules ask for it; undefined if the request does not match. Throws a StatusError. `byRules`: what the
 * rules have matched, where that is known.
 */
export function matchResources(
  env: MatchEnv,
  resources: MatchResources,
  attributes: Attributes,
  byRules?: MatchedResource,
): Awaitable<MatchedResource | undefined> {
  const matched = byRules ?? matchRules(resources, attributes)
  if (!matched || !matchesObject(resources, attributes)) return undefined
  return andThen(matchesNamespace(env, resources, attributes), matches => (matches ? matched : undefined))
}

// ---- rules

/** Looks at the rules only: the resource of the first one that holds. `requested`: that of the request itself. */
export function matchRules(
  resources: MatchResources,
  attributes: Attributes,
  requested = requestedResource(attributes),
): MatchedResource | undefined {
  const { include, exclude, isEquivalent } = resources
  if (exclude.length > 0 && firstMatch(exclude, isEquivalent, attributes, requested)) return undefined
  return include ? firstMatch(include, isEquivalent, attributes, requested) : requested
}

/** Rules that hold for the request itself come first, then those that hold for an equivalent resource. */
function firstMatch(
  rules: readonly Rule[],
  isEquivalent: boolean,
  attributes: Attributes,
  requested: MatchedResource,
): MatchedResource | undefined {
  if (rules.some(rule => matchesRule(rule, requested.resource, attributes))) return requested
  if (!isEquivalent) return undefined
  const others = equivalentResources(attributes)
  for (const rule of rules) {
    const found = others.find(({ resource }) => matchesRule(rule, resource, attributes))
    if (found) return found
  }
  return undefined
}

/** Whether requests that differ in their names only may differ in what the rules say. */
export const dependsOnNames = ({ include = [], exclude }: MatchResources): boolean =>
  [...include, ...exclude].some(({ names }) => names.length > 0)

/** Whether the rules may hold for a request that differs in its name only. */
export const mayMatch = (resources: MatchResources, attributes: Attributes): boolean =>
  matchRules(
    { ...resources, include: resources.include?.map(rule => ({ ...rule, names: [] })), exclude: [] },
    attributes,
  ) !== undefined

// ---- selectors

/** Whether labels do not matter. */
export const selectsAll = ({ namespaceSelector, objectSelector }: MatchResources): boolean =>
  selectsEverything(namespaceSelector) && selectsEverything(objectSelector)

/** The selector must match the new or the old object. */
export function matchesObject({ objectSelector }: MatchResources, attributes: Attributes): boolean {
  if (selectsEverything(objectSelector)) return true
  const { object, oldObject } = attributes
  return [object, oldObject].some(each => each !== undefined && matchesLabels(objectSelector, labelsOf(each)))
}

const labelsOf = (object: ApiObject): Labels => metaOf(object).labels ?? {}

/** Requests to the cluster scope always match, except those to namespaces: these are selected by their own labels. */
function matchesNamespace(
  { findNamespace }: MatchEnv,
  { namespaceSelector }: MatchResources,
  attributes: Attributes,
): Awaitable<boolean> {
  if (selectsEverything(namespaceSelector)) return true
  const namespace = requestNamespace(attributes)
  const { resource, subresource, operation, object } = attributes
  const isNamespace = resource.resource === 'namespaces'
  if (namespace === '' && !isNamespace) return true
  // The labels of a namespace that is being written are those of the request.
  if (isNamespace && subresource === '' && object && (operation === 'CREATE' || operation === 'UPDATE')) {
    return matchesLabels(namespaceSelector, labelsOf(object))
  }
  return andThen(findNamespace(namespace), found => {
    if (!found) throw notFound({ group: '', resource: 'namespaces' }, namespace)
    return matchesLabels(namespaceSelector, found.labels)
  })
}
