// MutatingAdmissionPolicyBinding: where a policy applies, and with which parameters.
import { objectAt, objectOrNone, setDefault } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { defineKind, type KindParts } from '../common/define-kind.js'
import { deprecatedMutation, mutatingOperations } from './matching.js'
import { policyBinding } from './policy-binding.js'

const KIND = 'MutatingAdmissionPolicyBinding'
const group = 'admissionregistration.k8s.io'

const binding = (deprecationWarning?: string): KindParts =>
  policyBinding([mutatingOperations('matchResources')], deprecationWarning)

const alpha = binding(deprecatedMutation('v1alpha1', KIND))

export const mutatingAdmissionPolicyBindings = [
  defineKind(`${group}/v1`, KIND, binding()),
  defineKind(`${group}/v1beta1`, KIND, binding(deprecatedMutation('v1beta1', KIND))),
  defineKind(`${group}/v1alpha1`, KIND, { ...alpha, defaults: defaultAlpha }),
]

/** The first version has a default that the later ones do not have. */
function defaultAlpha(object: ValueObject, now: number): void {
  alpha.defaults?.(object, now)
  const ref = objectOrNone(objectAt(object, 'spec'), 'paramRef')
  if (ref !== undefined) setDefault(ref, 'parameterNotFoundAction', 'Deny', false)
}
