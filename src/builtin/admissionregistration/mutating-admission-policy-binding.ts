// MutatingAdmissionPolicyBinding: where a policy applies, and with which parameters.
import { defineKind } from '../common/define-kind.js'
import { mutatingOperations } from './matching.js'
import { policyBinding } from './policy-binding.js'

export const mutatingAdmissionPolicyBinding = defineKind(
  'admissionregistration.k8s.io/v1',
  'MutatingAdmissionPolicyBinding',
  policyBinding([mutatingOperations('matchResources')]),
)
