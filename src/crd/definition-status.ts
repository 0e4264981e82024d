// The status of a definition: which names are accepted, and whether it is established. Computed from the definition and
// the names of others of its group only.

import { printFieldErrors } from '../meta/errors/field-errors.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import { equalValues, type Value } from '../meta/values/value.js'
import { isUsableCa } from '../webhook/check-client-config.js'
import { type NewCondition, withCondition, withStatus } from './conditions.js'
import {
  acceptNames,
  createGroupNames,
  type GroupNames,
  NO_NAMES,
  namesTakenBy,
  type TakenNames,
} from './definition/accepted-names.js'
import { approvalCondition } from './definition/api-approval.js'
import { unstructuredParts } from './definition/ratcheting.js'
import { type Condition, type DefinitionSpec, type DefinitionStatus, specOf, statusOf } from './definition.js'

export { createGroupNames, type GroupNames, NO_NAMES, namesTakenBy }

/** The definition with the status that it should have; the same object when it has that already. */
export function withRightStatus(definition: ApiObject, taken: TakenNames, now: number): ApiObject {
  const spec = specOf(definition)
  const old = statusOf(definition)
  const { names, conflict } = acceptNames(spec.names, old.acceptedNames, taken)
  const namesAccepted: NewCondition = conflict
    ? { type: 'NamesAccepted', status: 'False', ...conflict }
    : { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
  const conditions = [namesAccepted, establishment(spec, old.conditions ?? [], conflict !== undefined)]
  const approval = approvalCondition(spec.group, metaOf(definition).annotations ?? {})
  const structure = violations(spec)
  const status: DefinitionStatus = {
    ...old,
    acceptedNames: names,
    conditions: [...conditions, ...(approval ? [approval] : []), ...structure].reduce<readonly Condition[]>(
      (all, condition) => withCondition(all, condition, now),
      structure.length > 0 ? (old.conditions ?? []) : withoutViolations(old.conditions ?? []),
    ),
  }
  return isSame(status, old) ? definition : withStatus(definition, status)
}

const NON_STRUCTURAL = 'NonStructuralSchema'

const violations = (spec: DefinitionSpec): NewCondition[] => {
  const errors = unstructuredParts(spec)
  return errors.length === 0
    ? []
    : [{ type: NON_STRUCTURAL, status: 'True', reason: 'Violations', message: printFieldErrors(errors) }]
}

const withoutViolations = (conditions: readonly Condition[]): readonly Condition[] =>
  conditions.some(({ type }) => type === NON_STRUCTURAL)
    ? conditions.filter(({ type }) => type !== NON_STRUCTURAL)
    : conditions

/** Once established, a definition stays so, whatever becomes of its names. */
function establishment(
  { conversion }: DefinitionSpec,
  conditions: readonly Condition[],
  hasConflict: boolean,
): NewCondition {
  const old = conditions.find(({ type }) => type === 'Established')
  if (old?.status === 'True' || (old && hasConflict)) {
    return { type: 'Established', status: old.status, reason: old.reason ?? '', message: old.message ?? '' }
  }
  if (hasConflict) {
    return { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' }
  }
  if (!isUsableCa(conversion?.webhook?.clientConfig?.caBundle ?? '')) {
    const message = 'The conversion webhook CABundle is invalid'
    return { type: 'Established', status: 'False', reason: 'InvalidCABundle', message }
  }
  const message = 'the initial names have been accepted'
  return { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message }
}

const isSame = (a: DefinitionStatus, b: DefinitionStatus): boolean =>
  equalValues(a as unknown as Value, b as unknown as Value)
