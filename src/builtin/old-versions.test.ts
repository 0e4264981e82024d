import { expect, test } from 'vitest'
import type { ApiObject } from '../meta/object/api-object.js'
import { builtinTypes } from '../types/type-table.js'
import { oldVersions } from './old-versions.js'

test('each kind has a type in the version in which it is read', () => {
  const missing = [...oldVersions()].flatMap(([old, kinds]) =>
    [...kinds].flatMap(([kind, { apiVersion }]) => (builtinTypes().ofKind(apiVersion, kind) ? [] : `${old} ${kind}`)),
  )
  expect(missing).toEqual([])
})

const KEY = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match'

test.each([
  [undefined, undefined],
  [{}, { matchExpressions: [{ key: KEY, operator: 'Exists' }] }],
  [{ matchExpressions: [{ key: KEY, operator: 'DoesNotExist' }] }, {}],
  [
    {
      matchLabels: { a: 'b' },
      matchExpressions: [
        { key: 'c', operator: 'Exists' },
        { key: KEY, operator: 'Exists' },
      ],
    },
    { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] },
  ],
])('the selector %j of a budget in v1beta1 is %j in v1', (selector, expected) => {
  const { convert } = oldVersions().get('policy/v1beta1')!.get('PodDisruptionBudget')!
  const spec = selector === undefined ? {} : { selector }
  const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'a' }, spec }
  expect(convert!(budget)).toEqual({ ...budget, spec: expected === undefined ? {} : { selector: expected } })
})

test('webhooks in v1beta1 have the defaults of that version, where they say nothing', () => {
  const { convert } = oldVersions().get('admissionregistration.k8s.io/v1beta1')!.get('ValidatingWebhookConfiguration')!
  const configuration = (webhook: object) =>
    ({ apiVersion: '', kind: '', metadata: { name: 'a' }, webhooks: [webhook] }) as unknown as ApiObject
  const defaults = {
    admissionReviewVersions: ['v1beta1'],
    failurePolicy: 'Ignore',
    matchPolicy: 'Exact',
    sideEffects: 'Unknown',
    timeoutSeconds: 30,
  }
  expect(convert!(configuration({ name: 'w', sideEffects: null }))).toEqual(configuration({ ...defaults, name: 'w' }))
  const given = { name: 'w', failurePolicy: 'Fail', sideEffects: 'None', timeoutSeconds: 5 }
  expect(convert!(configuration(given))).toEqual(configuration({ ...defaults, ...given }))
})
