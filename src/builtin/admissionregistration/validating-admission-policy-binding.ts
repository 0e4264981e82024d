// ValidatingAdmissionPolicyBinding: where a policy applies, with which parameters, and what a violation causes.

import {
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { stringsAt } from '../../meta/values/access.js'
import { repeatsOf } from '../../meta/values/list-keys.js'
import { defineKind, type KindDefinition } from '../common/define-kind.js'
import { earlierVersion } from '../common/earlier-version.js'
import { checkOneOf } from '../common/field-checks.js'
import { check } from '../common/rules.js'
import { policyBinding } from './policy-binding.js'

const ACTIONS = ['Audit', 'Deny', 'Warn']
const BOTH_DENY_AND_WARN =
  'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)'

function checkActions(actions: readonly string[]): FieldError[] {
  const path = 'spec.validationActions'
  if (actions.length === 0) return [fieldRequired(path, 'at least one validation action is required')]
  const repeats = repeatsOf(actions)
  return [
    ...actions.flatMap((action, i) => [
      ...checkOneOf(action, ACTIONS, indexPath(path, i)),
      ...(repeats.has(i) ? [fieldDuplicate(indexPath(path, i), action)] : []),
    ]),
    ...(actions.includes('Deny') && actions.includes('Warn')
      ? [fieldInvalid(path, [...actions], BOTH_DENY_AND_WARN)]
      : []),
  ]
}

const bindingInV1 = defineKind(
  'admissionregistration.k8s.io/v1',
  'ValidatingAdmissionPolicyBinding',
  policyBinding([check(spec => checkActions(stringsAt(spec, 'validationActions')))]),
)

/** v1beta1 is served while a release before v1.34 is emulated. */
export const validatingAdmissionPolicyBindings: readonly KindDefinition[] = [
  bindingInV1,
  earlierVersion(bindingInV1, 'v1beta1', { since: 31, use: 'v1' }),
]
