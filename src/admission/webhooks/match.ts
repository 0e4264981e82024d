// Whether a webhook is called for a request, and in which version of the resource.

import type { Authorizer } from '../../auth/authorizer.js'
import { type Awaitable, andThen } from '../../base/awaitable.js'
import { forbidden, notFound } from '../../meta/errors/status.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { type Labels, matchesLabels, selectsEverything } from '../../meta/selectors/label-selectors.js'
import type { Attributes } from '../attributes.js'
import {
  type GroupVersionResource,
  type MatchedResource,
  requestedResource,
  requestNamespace,
} from '../expressions/admission-request.js'
import { admissionVariables } from '../expressions/variables.js'
import { holdsFor, includes, type Webhook, type WebhookRule } from './source.js'

/** What matching reads beside the request. */
export interface MatchEnv {
  /** The labels of a namespace, if it exists. */
  readonly findNamespace: (name: string) => Awaitable<{ readonly labels: Labels } | undefined>
  readonly authorizer: () => Authorizer
}

/** Configurations of admission itself are not reviewed, so that a broken one can be repaired. */
const EXEMPT: ReadonlySet<string> = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
])

export const isExempt = ({ group, kind }: { readonly group: string; readonly kind: string }): boolean =>
  group === 'admissionregistration.k8s.io' && EXEMPT.has(kind)

/** The resource as the webhook asked for it; undefined if it is not called. Throws a StatusError. */
export function matchWebhook(
  env: MatchEnv,
  webhook: Webhook,
  attributes: Attributes,
): Awaitable<MatchedResource | undefined> {
  const matched = matchRules(webhook, attributes)
  if (!matched || !matchesObject(webhook, attributes)) return undefined
  return andThen(matchesNamespace(env, webhook, attributes), matches => {
    if (!matches) return undefined
    if (webhook.conditions.isEmpty) return matched
    return andThen(attributes.inVersion(matched.kind), objects => {
      const variables = admissionVariables(attributes, matched, objects, env.authorizer())
      const result = webhook.conditions.evaluate(variables)
      if (result.matches === undefined) throw forbidden(attributes.resource, attributes.name, result.error)
      return result.matches ? matched : undefined
    })
  })
}

/** The first rule that holds for the request; with `Equivalent`, one that holds for another version of the resource. */
export function matchRules(webhook: Webhook, attributes: Attributes): MatchedResource | undefined {
  const requested = requestedResource(attributes)
  if (webhook.rules.some(rule => matchesRule(rule, attributes, requested.resource))) return requested
  if (!webhook.matchesEquivalent) return undefined
  const { storedKind } = attributes
  if (!storedKind) return undefined
  for (const rule of webhook.rules) {
    for (const { name: version, served } of storedKind.versions) {
      if (!served || version === requested.resource.version) continue
      const resource = { ...requested.resource, version }
      if (!matchesRule(rule, attributes, resource)) continue
      const { kind } = requested
      // The kind of a subresource such as /scale has versions of its own.
      const isOfResource = kind.kind === storedKind.names.kind && kind.group === storedKind.group
      return { resource, kind: isOfResource ? { ...kind, version } : kind }
    }
  }
  return undefined
}

function matchesRule(rule: WebhookRule, attributes: Attributes, resource: GroupVersionResource): boolean {
  return (
    holdsFor(rule, attributes.operation, resource.resource, attributes.subresource) &&
    includes(rule.groups, resource.group) &&
    includes(rule.versions, resource.version) &&
    matchesScope(rule.scope, attributes)
  )
}

function matchesScope(scope: string, attributes: Attributes): boolean {
  if (scope === '*') return true
  const isClusterScoped = isNamespaces(attributes) || attributes.namespace === ''
  return isClusterScoped === (scope === 'Cluster')
}

const isNamespaces = ({ resource }: Attributes): boolean => resource.group === '' && resource.resource === 'namespaces'

/** The selector must match the new or the old object. */
function matchesObject({ objectSelector }: Webhook, { object, oldObject }: Attributes): boolean {
  if (selectsEverything(objectSelector)) return true
  const matches = (each: ApiObject | undefined): boolean =>
    each !== undefined && matchesLabels(objectSelector, metaOf(each).labels ?? {})
  return matches(object) || matches(oldObject)
}

/** Resources without a namespace always match. A Namespace is selected by its own labels. */
function matchesNamespace(
  { findNamespace }: MatchEnv,
  { namespaceSelector }: Webhook,
  attributes: Attributes,
): Awaitable<boolean> {
  if (selectsEverything(namespaceSelector)) return true
  const { operation, object, subresource, namespace } = attributes
  if (isNamespaces(attributes)) {
    if (object && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) {
      return matchesLabels(namespaceSelector, metaOf(object).labels ?? {})
    }
  } else if (namespace === '') return true
  const name = requestNamespace(attributes)
  return andThen(findNamespace(name), found => {
    if (!found) throw notFound({ group: '', resource: 'namespaces' }, name)
    return matchesLabels(namespaceSelector, found.labels)
  })
}
