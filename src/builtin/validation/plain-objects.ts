// Leases.
import { type FieldError, fieldInvalid } from '../../meta/errors/field-errors.js'
import { has, numberAt, objectAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { checkNotNegative } from '../common/field-checks.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'

function checkLeaseSpec(lease: ValueObject): FieldError[] {
  const spec = objectAt(lease, 'spec')
  const errors: FieldError[] = []
  if (has(spec, 'leaseDurationSeconds') && numberAt(spec, 'leaseDurationSeconds') <= 0) {
    errors.push(
      fieldInvalid('spec.leaseDurationSeconds', numberAt(spec, 'leaseDurationSeconds'), 'must be greater than 0'),
    )
  }
  return [...errors, ...checkNotNegative(numberAt(spec, 'leaseTransitions'), 'spec.leaseTransitions')]
}

export const leaseValidation: Validation = {
  create: lease => [...checkMeta(lease, { namespaced: true, knownFinalizers: false }), ...checkLeaseSpec(lease)],
  update: (lease, old) => [...checkMetaUpdate(lease, old), ...checkLeaseSpec(lease)],
}
