// Resources of which nothing may be used in a namespace without a quota for them.
import { UsageError } from '../../../base/usage-error.js'
import { fieldRequired, printFieldErrors } from '../../../meta/errors/field-errors.js'
import type { GroupResource } from '../../../meta/group-version.js'
import { objectsAt, stringAt, stringsAt } from '../../../meta/values/access.js'
import type { ValueObject } from '../../../meta/values/value.js'
import { readScopeSelector, type ScopeSelector } from './quota-evaluator.js'

export interface LimitedResource extends GroupResource {
  /** Parts of the names of a quota's resources: what an object uses of such a resource needs a quota. */
  readonly matchContains: readonly string[]
  /** An object in such a scope needs a quota with that scope. */
  readonly matchScopes: readonly ScopeSelector[]
}

/** Throws a UsageError. */
export function readLimitedResources(document: ValueObject): readonly LimitedResource[] {
  const resources = objectsAt(document, 'limitedResources').map(
    (each): LimitedResource => ({
      group: stringAt(each, 'apiGroup'),
      resource: stringAt(each, 'resource'),
      matchContains: stringsAt(each, 'matchContains'),
      matchScopes: objectsAt(each, 'matchScopes').map(readScopeSelector),
    }),
  )
  const errors = resources.flatMap(({ resource }, i) =>
    resource === '' ? [fieldRequired(`limitedResources[${i}].resource`)] : [],
  )
  if (errors.length > 0) throw new UsageError(printFieldErrors(errors))
  return resources
}
