// Lease: a client holds something until a time, and renews it.
import { childPath, fieldInvalid } from '../../meta/errors/field-errors.js'
import { numberOrNone, objectAt, stringAt } from '../../meta/values/access.js'
import { defineKind } from '../common/define-kind.js'
import { anyFinalizerUpdate, metadata } from '../common/metadata.js'
import { check, field, notNegative, type Rule } from '../common/rules.js'
import { keepGeneration } from '../common/strategies.js'
import { ageOf, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'

const duration = check((spec, path) => {
  const seconds = numberOrNone(spec, 'leaseDurationSeconds')
  if (seconds === undefined || seconds > 0) return []
  return [fieldInvalid(childPath(path, 'leaseDurationSeconds'), seconds, 'must be greater than 0')]
})

const specRules: readonly Rule[] = [duration, notNegative('leaseTransitions')]

export const lease = defineKind('coordination.k8s.io/v1', 'Lease', {
  strategy: {
    prepareForUpdate: keepGeneration,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
  },
  validation: validationRules({
    create: [metadata({ namespaced: true, knownFinalizers: false }), field('spec', specRules)],
    update: [anyFinalizerUpdate, field('spec', specRules)],
  }),
  table: (object, now) => [nameOf(object), stringAt(objectAt(object, 'spec'), 'holderIdentity'), ageOf(object, now)],
})
