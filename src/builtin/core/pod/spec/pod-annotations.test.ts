import { describe, expect, test } from 'vitest'
import { printFieldError } from '../../../../meta/errors/field-errors.js'
import type { ValueObject } from '../../../../meta/values/value.js'
import { checkAnnotatedFields, checkPodAnnotations, setAppArmorFields } from './pod-annotations.js'

const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/c'

const pod = (
  annotations: Record<string, string>,
  securityContext?: ValueObject,
  spec: ValueObject = {},
): ValueObject => ({
  metadata: { annotations },
  spec: { containers: [{ name: 'c', ...(securityContext && { securityContext }) }], ...spec },
})

describe('an annotation for AppArmor', () => {
  const setIn = (object: ValueObject): { context: unknown; warnings: string[] } => {
    const warnings: string[] = []
    setAppArmorFields(object, text => warnings.push(text))
    const [container] = (object['spec'] as { containers: ValueObject[] }).containers
    return { context: container!['securityContext'], warnings }
  }

  test('sets the field of its container, with a warning', () => {
    const { context, warnings } = setIn(pod({ [APP_ARMOR]: 'localhost/p' }))
    expect(context).toEqual({ appArmorProfile: { type: 'Localhost', localhostProfile: 'p' } })
    expect(warnings).toEqual([
      `metadata.annotations[${APP_ARMOR}]: deprecated since v1.30; use the "appArmorProfile" field instead`,
    ])
  })

  test('changes nothing if the field is set, or the pod says the same, or runs on Windows', () => {
    const profile = { appArmorProfile: { type: 'RuntimeDefault' } }
    const same = { context: undefined, warnings: [] }
    expect(setIn(pod({ [APP_ARMOR]: 'unconfined' }, profile))).toEqual({ context: profile, warnings: [] })
    expect(setIn(pod({ [APP_ARMOR]: 'runtime/default' }, undefined, { securityContext: profile }))).toEqual(same)
    expect(setIn(pod({ [APP_ARMOR]: 'runtime/default' }, undefined, { os: { name: 'windows' } }))).toEqual(same)
  })
})

test.each<[Record<string, string>, string]>([
  [{ 'kubernetes.io/config.mirror': 'x' }, 'must set spec.nodeName if mirror pod annotation is set'],
  [{ 'scheduler.alpha.kubernetes.io/tolerations': 'x' }, "invalid character 'x' looking for beginning of value"],
  [{ 'controller.kubernetes.io/pod-deletion-cost': 'x' }, 'must be a 32bit integer'],
  [{ 'seccomp.security.alpha.kubernetes.io/pod': 'localhost/../p' }, "must not contain '..'"],
  [{ 'container.seccomp.security.alpha.kubernetes.io/c': 'x' }, 'must be a valid seccomp profile'],
  [{ [APP_ARMOR]: 'x' }, 'invalid AppArmor profile name: "x"'],
  [{ [`${APP_ARMOR}d`]: 'unconfined' }, 'container not found'],
])('the annotation %j is refused', (annotations, why) => {
  const errors = checkPodAnnotations(pod(annotations), undefined, 'metadata.annotations')
  expect(errors.map(printFieldError)).toEqual([expect.stringContaining(why)])
})

test('annotations and fields must agree', () => {
  const annotations = { [APP_ARMOR]: 'unconfined', 'container.seccomp.security.alpha.kubernetes.io/c': 'localhost/a' }
  const context = {
    appArmorProfile: { type: 'RuntimeDefault' },
    seccompProfile: { type: 'Localhost', localhostProfile: 'b' },
  }
  expect(checkAnnotatedFields(pod(annotations, context), 'spec').map(printFieldError)).toEqual([
    'spec.containers[0].securityContext.seccompProfile.localhostProfile: Forbidden: seccomp profile in annotation and field must match',
    'spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match',
  ])
})
