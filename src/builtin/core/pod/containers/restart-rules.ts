// When a container is started again: after it has ended, and after its resources have changed.
import {
  asTypedText,
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  indexPath,
} from '../../../../meta/errors/field-errors.js'
import { has, objectsAt, stringAt } from '../../../../meta/values/access.js'
import type { ValueObject } from '../../../../meta/values/value.js'
import { checkOneOf } from '../../../common/field-checks.js'
import { check, each, ifSet, maxItems, oneOf, optional, type Rule, required, when } from '../../../common/rules.js'

const MAX_RULES = 20
const MAX_EXIT_CODES = 255

/** The restart policy of one container, with exceptions by exit code. */
export const restartPolicyRules: readonly Rule[] = [
  when(
    container => !has(container, 'restartPolicy') && objectsAt(container, 'restartPolicyRules').length > 0,
    [required('restartPolicy', 'must specify restartPolicy when restart rules are used')],
  ),
  ifSet('restartPolicy', [oneOf('restartPolicy', ['Always', 'Never', 'OnFailure'])]),
  maxItems('restartPolicyRules', MAX_RULES),
  each('restartPolicyRules', [
    oneOf('action', ['Restart', 'RestartAllContainers']),
    when(rule => !has(rule, 'exitCodes'), [required('exitCodes', 'must be specified')]),
    optional('exitCodes', [oneOf('operator', ['In', 'NotIn']), maxItems('values', MAX_EXIT_CODES)]),
  ]),
]

/** An init container that has to end is not started again. */
export const noRestartOnResize = check((policy, path) =>
  stringAt(policy, 'restartPolicy') === RESTART
    ? [
        fieldInvalid(
          childPath(path, 'restartPolicy'),
          RESTART,
          "must not be set to 'RestartContainer' for non-sidecar initContainers",
        ),
      ]
    : [],
)

export const restartsInitContainers = (spec: ValueObject): boolean =>
  objectsAt(spec, 'initContainers').some(
    container =>
      stringAt(container, 'restartPolicy') !== 'Always' &&
      objectsAt(container, 'resizePolicy').some(policy => stringAt(policy, 'restartPolicy') === RESTART),
  )

const RESTART = 'RestartContainer'
const RESOURCES = ['cpu', 'memory']
const POLICIES = ['NotRequired', RESTART]

/** kube-apiserver's errors name the list, not the item, except for a repeated resource. */
export function checkResizePolicy(container: ValueObject, podRestartPolicy: string, path: string): FieldError[] {
  const at = childPath(path, 'resizePolicy')
  const seen = new Set<string>()
  return objectsAt(container, 'resizePolicy').flatMap((policy, i) => {
    const [resource, restart] = [stringAt(policy, 'resourceName'), stringAt(policy, 'restartPolicy')]
    const errors = seen.has(resource) ? [fieldDuplicate(indexPath(at, i), asTypedText(resource))] : []
    seen.add(resource)
    errors.push(
      ...checkOneOf(resource, RESOURCES, at, { required: true }),
      ...checkOneOf(restart, POLICIES, at, { required: true }),
    )
    if (podRestartPolicy === 'Never' && restart !== 'NotRequired') {
      errors.push(fieldInvalid(at, asTypedText(restart), "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
    }
    return errors
  })
}
