// What a write does to a CertificateSigningRequest: once made it asks for the same thing for ever, its approval is given
// under one path and everything else of its status under another.

import { ensureObject, has, keepFrom, objectAt, objectsAt, stringAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import type { TypeTable } from '../types/type-table.js'
import {
  type BuiltinStrategy,
  clearStatus,
  inTurn,
  keepGeneration,
  keepSpec,
  keepStatus,
  type PrepareForUpdate,
} from './common/strategies.js'

const conditionsOf = (request: ValueObject): readonly ValueObject[] =>
  objectsAt(objectAt(request, 'status'), 'conditions')

/** A condition that does not say since when is as old as the one like it, or new. */
const timeConditions: PrepareForUpdate = (request, old, { now }) => {
  for (const condition of conditionsOf(request)) {
    if (!has(condition, 'lastUpdateTime')) condition['lastUpdateTime'] = now
    if (has(condition, 'lastTransitionTime')) continue
    const before = conditionsOf(old).find(
      each =>
        stringAt(each, 'type') === stringAt(condition, 'type') &&
        stringAt(each, 'status') === stringAt(condition, 'status'),
    )
    condition['lastTransitionTime'] = stringAt(before ?? {}, 'lastTransitionTime') || now
  }
}

/** Decisions stay as they are; those that come or go are found when the object is checked. */
const keepDecisions: PrepareForUpdate = (request, old) => {
  for (const type of ['Approved', 'Denied']) {
    const [now, before] = [request, old].map(object =>
      conditionsOf(object).filter(each => stringAt(each, 'type') === type),
    )
    if (now!.length !== before!.length) continue
    now!.forEach((condition, i) => Object.assign(condition, before![i]))
  }
}

/** Only the conditions. */
const keepRestOfStatus: PrepareForUpdate = (request, old) => {
  const status = ensureObject(request, 'status')
  keepFrom(status, objectAt(old, 'status'), 'certificate')
}

export const signingRequests = (table: TypeTable): BuiltinStrategy => ({
  prepareForCreate: clearStatus(table, 'certificates/v1.CertificateSigningRequestStatus'),
  prepareForUpdate: inTurn(keepGeneration, keepSpec, keepStatus),
  prepareForStatusUpdate: inTurn(keepGeneration, keepSpec, keepDecisions, timeConditions),
  prepareForSubresourceUpdate: { approval: inTurn(keepGeneration, keepSpec, keepRestOfStatus, timeConditions) },
})
