// The conditions of a definition: one of each type, in the order in which they were first met.
import { type ApiObject } from '../meta/object/api-object.js'
import { printTime } from '../meta/values/time.js'
import type { Value } from '../meta/values/value.js'
import { type Condition, type DefinitionStatus, statusOf } from './definition.js'

export type NewCondition = Pick<Condition, 'type' | 'status' | 'observedGeneration'> & {
  readonly reason: string
  readonly message: string
}

/** The conditions with another one set; the time is that of the last change of its status. */
export function withCondition(
  conditions: readonly Condition[] | null | undefined,
  { type, status, reason, message, observedGeneration }: NewCondition,
  now: number,
): readonly Condition[] {
  const all = conditions ?? []
  const old = all.find(each => each.type === type)
  const lastTransitionTime = old?.status === status && old.lastTransitionTime ? old.lastTransitionTime : printTime(now)
  const set: Condition = {
    type,
    status,
    lastTransitionTime,
    reason,
    message,
    ...(observedGeneration !== undefined && { observedGeneration }),
  }
  return old ? all.map(each => (each === old ? set : each)) : [...all, set]
}

export const withStatus = (definition: ApiObject, status: DefinitionStatus): ApiObject => ({
  ...definition,
  status: {
    conditions: (status.conditions ?? null) as unknown as Value,
    acceptedNames: status.acceptedNames as unknown as Value,
    storedVersions: (status.storedVersions ?? null) as unknown as Value,
  },
})

export const setCondition = (definition: ApiObject, condition: NewCondition, now: number): ApiObject => {
  const status = statusOf(definition)
  return withStatus(definition, { ...status, conditions: withCondition(status.conditions, condition, now) })
}
