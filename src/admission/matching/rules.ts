// A rule of a webhook or a policy: operations on resources.

import { stringAt, stringsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { Attributes } from '../attributes.js'
import type { GroupVersionResource } from '../expressions/admission-request.js'

export interface Rule {
  readonly operations: readonly string[]
  readonly groups: readonly string[]
  readonly versions: readonly string[]
  readonly resources: readonly (readonly [resource: string, subresource: string])[]
  readonly scope: string
  /** All names if empty. Rules of webhooks have none. */
  readonly names: readonly string[]
}

export const readRule = (rule: ValueObject): Rule => ({
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

/** Whether the rule holds for the request, if the request were to this resource. */
export function matchesRule(
  rule: Rule,
  { group, version, resource }: GroupVersionResource,
  attributes: Attributes,
): boolean {
  const { operation, subresource, name } = attributes
  return (
    includes(rule.operations, operation) &&
    includes(rule.groups, group) &&
    includes(rule.versions, version) &&
    rule.resources.some(([each, sub]) => (each === '*' || each === resource) && (sub === '*' || sub === subresource)) &&
    matchesScope(rule.scope, attributes) &&
    (rule.names.length === 0 || rule.names.includes(name))
  )
}

/** `*` stands for all values. */
const includes = (list: readonly string[], value: string): boolean => list.includes('*') || list.includes(value)

/** Namespaces count as resources of the cluster. */
function matchesScope(scope: string, { namespace, resource }: Attributes): boolean {
  if (scope === '*') return true
  const isNamespaced = namespace !== '' && !(resource.group === '' && resource.resource === 'namespaces')
  return (scope === 'Namespaced') === isNamespaced
}
