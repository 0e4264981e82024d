// The spec of a SubjectAccessReview: what a webhook is asked, and what its match conditions read.
import { type FieldSelector, parseFieldSelector } from '../../meta/selectors/field-selectors.js'
import { type LabelOperator, type LabelRequirement, parseLabelSelector } from '../../meta/selectors/label-selectors.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { AccessAttributes, ResourceAccess } from '../../request/access-attributes.js'
import type { UserInfo } from '../../request/user-info.js'

/** Empty fields are left out. */
export function reviewSpecOf({ name, uid, groups, extra }: UserInfo, attributes: AccessAttributes): ValueObject {
  const what =
    'path' in attributes
      ? { nonResourceAttributes: withoutEmpty({ path: attributes.path, verb: attributes.verb }) }
      : { resourceAttributes: resourceAttributes(attributes) }
  const entries = Object.entries(extra).map(([key, values]): [string, string[]] => [key, [...values]])
  return {
    ...what,
    ...(name !== '' && { user: name }),
    ...(groups.length > 0 && { groups: [...groups] }),
    ...(entries.length > 0 && { extra: Object.fromEntries(entries) }),
    ...(uid !== '' && { uid }),
  }
}

function resourceAttributes(attributes: ResourceAccess): ValueObject {
  const { namespace, verb, group, version = '', resource, subresource, name } = attributes
  const fields = fieldRequirements(attributes.fieldSelector)
  const labels = labelRequirements(attributes.labelSelector)
  return {
    ...withoutEmpty({ namespace, verb, group, version, resource, subresource, name }),
    ...(fields.length > 0 && { fieldSelector: { requirements: fields } }),
    ...(labels.length > 0 && { labelSelector: { requirements: labels } }),
  }
}

const withoutEmpty = (texts: Readonly<Record<string, string>>): ValueObject =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''))

/** A selector that cannot be parsed limits nothing. */
function fieldRequirements(selector: string | FieldSelector | undefined): ValueObject[] {
  const parsed = typeof selector === 'string' ? parseFieldSelector(selector) : undefined
  const requirements = parsed ? (parsed.ok ? parsed.value : []) : ((selector as FieldSelector | undefined) ?? [])
  return requirements.map(({ field, operator, value }) => ({
    key: field,
    operator: operator === '=' ? 'In' : 'NotIn',
    values: [value],
  }))
}

const OPERATORS: Readonly<Partial<Record<LabelOperator, string>>> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
}

/** Requirements that a review cannot express are left out: the question is then about more than the request. */
function labelRequirements(selector: string | readonly LabelRequirement[] | undefined): ValueObject[] {
  const parsed = typeof selector === 'string' && selector !== '' ? parseLabelSelector(selector) : undefined
  const requirements = typeof selector === 'string' ? (parsed?.ok ? parsed.value : []) : (selector ?? [])
  if (requirements === 'nothing') return []
  return requirements.flatMap(({ key, operator, values }) => {
    const known = OPERATORS[operator]
    if (known === undefined) return []
    return [{ key, operator: known, ...(values.length > 0 && { values: [...values] }) }]
  })
}
