import { describe, expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { applyDefaults, validationOf } from '../written-objects.suite.js'

/** The errors of a new object, with its defaults. */
const errorsOf = (apiVersion: string, kind: string, object: ValueObject): string[] =>
  validationOf(apiVersion, kind, false)
    .create(applyDefaults(apiVersion, kind, { metadata: { name: 'x' }, ...object }))
    .map(printFieldError)

describe('a webhook', () => {
  const GROUP = 'admissionregistration.k8s.io/v1'
  const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }
  const webhook = (fields: ValueObject): string[] => {
    const good = {
      name: 'a.example.com',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      clientConfig: { url: 'https://a' },
    }
    return errorsOf(GROUP, 'ValidatingWebhookConfiguration', { webhooks: [{ ...good, ...fields }] })
  }

  test('that says the least it must', () => {
    expect(webhook({ rules: [rule] })).toEqual([])
  })

  test.each<[ValueObject, string]>([
    [{ name: 'a.b' }, 'should be a domain with at least three segments separated by dots'],
    [{ admissionReviewVersions: ['v7'] }, 'must include at least one of v1, v1beta1'],
    [{ clientConfig: { url: 'http://a' } }, "'https' is the only allowed URL scheme"],
    [{ rules: [{ ...rule, apiVersions: ['v1', '*'] }] }, "if '*' is present, must not specify other API versions"],
    [{ rules: [{ ...rule, resources: ['*/*', 'pods'] }] }, "if '*/*' is present, must not specify other resources"],
    [
      { rules: [{ ...rule, resources: ['*/status', 'pods/status'] }] },
      "if '*/status' is present, must not specify pods/status",
    ],
    [
      { matchConditions: [{ name: 'a', expression: ' ' }] },
      'webhooks[0].matchConditions[0].expression: Required value',
    ],
  ])('with %j', (fields, error) => {
    expect(webhook(fields)).toEqual([expect.stringContaining(error)])
  })
})
