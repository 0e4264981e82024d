// Lease: a client holds something until a time, and renews it.
import { childPath, fieldInvalid } from '../../meta/errors/field-errors.js'
import { has, numberOrNone, objectAt, stringAt } from '../../meta/values/access.js'
import { defineKind } from '../common/define-kind.js'
import { anyFinalizerUpdate, metadata } from '../common/metadata.js'
import { check, field, notNegative, type Rule } from '../common/rules.js'
import { inTurn, keepGeneration, type PrepareForUpdate } from '../common/strategies.js'
import { ageOf, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'

/** Fields of coordinated leader election, which is off by default in kube-apiserver. */
const ELECTION_FIELDS = ['strategy', 'preferredHolder']

const dropNewElectionFields: PrepareForUpdate = (lease, old) => {
  for (const name of ELECTION_FIELDS) {
    if (!has(objectAt(old, 'spec'), name) && has(lease, 'spec')) delete objectAt(lease, 'spec')[name]
  }
}

const duration = check((spec, path) => {
  const seconds = numberOrNone(spec, 'leaseDurationSeconds')
  if (seconds === undefined || seconds > 0) return []
  return [fieldInvalid(childPath(path, 'leaseDurationSeconds'), seconds, 'must be greater than 0')]
})

const specRules: readonly Rule[] = [duration, notNegative('leaseTransitions')]

export const lease = defineKind('coordination.k8s.io/v1', 'Lease', {
  strategy: {
    prepareForCreate: object => {
      for (const name of ELECTION_FIELDS) delete objectAt(object, 'spec')[name]
    },
    prepareForUpdate: inTurn(keepGeneration, dropNewElectionFields),
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
  },
  validation: validationRules({
    create: [metadata({ namespaced: true, knownFinalizers: false }), field('spec', specRules)],
    update: [anyFinalizerUpdate, field('spec', specRules)],
  }),
  table: (object, now) => [nameOf(object), stringAt(objectAt(object, 'spec'), 'holderIdentity'), ageOf(object, now)],
})
