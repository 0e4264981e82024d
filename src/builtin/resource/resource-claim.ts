// ResourceClaim: a claim to devices.
import { has, objectAt, objectsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { statusApart } from '../common/build-kind.js'
import { defineKind } from '../common/define-kind.js'
import { earlierVersion } from '../common/earlier-version.js'
import { asGoStruct } from '../common/go-struct.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check } from '../common/rules.js'
import { inTurn, statusAlone } from '../common/strategies.js'
import { ageOf, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { checkClaimSpec, defaultClaimSpec, immutableSpec } from './claim-spec.js'
import { claimStatus, dropDeallocated } from './claim-status.js'
import { CLAIM, defaultClaimSpecV1beta1, withV1beta1 } from './v1beta1.js'

function stateCell(claim: ValueObject): string {
  const status = objectAt(claim, 'status')
  const isTerminating = has(objectAt(claim, 'metadata'), 'deletionTimestamp')
  const states = isTerminating ? ['deleted'] : []
  if (has(status, 'allocation')) states.push('allocated')
  else if (!isTerminating) states.push('pending')
  if (has(status, 'allocation') && objectsAt(status, 'reservedFor').length > 0) states.push('reserved')
  return states.join(',')
}

const resourceClaim = defineKind('resource.k8s.io/v1', 'ResourceClaim', {
  defaults: claim => defaultClaimSpec(objectAt(claim, 'spec')),
  strategy: statusApart('resource.k8s.io/v1', 'ResourceClaim', {
    prepareForStatusUpdate: inTurn(statusAlone, dropDeallocated),
    returnsDeletedObject: true,
    subresourcesWithoutTable: ['status'],
  }),
  statusReset: ['metadata'],
  validation: validationRules({
    create: [metadata({ namespaced: true }), check(claim => checkClaimSpec(objectAt(claim, 'spec'), 'spec'))],
    update: [
      metadata({ namespaced: true }),
      metadataUpdate,
      immutableSpec(spec => asGoStruct('resource/v1.ResourceClaimSpec', spec)),
    ],
    status: [metadataUpdate, claimStatus],
  }),
  table: (claim, now) => [nameOf(claim), stateCell(claim), ageOf(claim, now)],
})

export const resourceClaims = withV1beta1(
  resourceClaim,
  earlierVersion(resourceClaim, 'v1beta2', { since: 36 }),
  CLAIM,
  { defaults: claim => defaultClaimSpecV1beta1(objectAt(claim, 'spec')) },
)
