import { expect, test } from 'vitest'
import { ALWAYS_ALLOW, createAuthorizer } from '../../auth/authorizer.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { attributesFor } from '../attributes.suite.js'
import { requestedResource } from './admission-request.js'
import { matchConditions } from './match-conditions.js'
import { admissionVariables } from './variables.js'

const pod: ApiObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', labels: { app: 'x' } },
  spec: { priority: 3 },
}

function evaluate(
  expressions: readonly string[],
  { failurePolicy = 'Fail', object = pod, authorizer = ALWAYS_ALLOW } = {},
) {
  const attributes = attributesFor('pods', { object })
  const conditions = expressions.map((expression, i) => ({ name: `c${i}`, expression }))
  const variables = admissionVariables(attributes, requestedResource(attributes), attributes, authorizer)
  return matchConditions(conditions, failurePolicy).evaluate(variables)
}

test.each([
  'object.metadata.name == "a"',
  'object.metadata.labels["app"] == "x" && object.spec.priority > 2',
  'oldObject == null',
  'request.operation == "CREATE" && request.resource.resource == "pods" && request.kind.kind == "Pod"',
  'request.namespace == "x" && request.userInfo.username == "alice"',
  '!has(request.subResource)',
  'request.options.kind == "CreateOptions"',
  'authorizer.group("apps").resource("deployments").namespace("x").check("create").allowed()',
  'authorizer.requestResource.check("create").allowed()',
  'authorizer.path("/healthz").check("get").allowed()',
  'authorizer.serviceAccount("x", "robot").group("").resource("pods").check("get").reason() == ""',
])('%s', expression => {
  expect(evaluate([expression])).toEqual({ matches: true })
})

test('the authorizer is asked about the user, or about the service account', () => {
  const asked: unknown[] = []
  const authorizer = createAuthorizer((user, attributes) => {
    asked.push([user.name, attributes])
    return { allowed: false, reason: 'no' }
  })
  const checks = [
    'authorizer.requestResource.check("update").allowed()',
    'authorizer.serviceAccount("x", "robot").path("/x").check("get").reason() == "no"',
  ]
  expect(evaluate(checks, { authorizer })).toEqual({ matches: false, condition: 'c0', errors: 0 })
  expect(asked).toEqual([
    [
      'alice',
      {
        verb: 'update',
        group: '',
        version: '*',
        resource: 'pods',
        subresource: '',
        namespace: 'x',
        name: 'a',
        fieldSelector: '',
        labelSelector: '',
      },
    ],
    ['system:serviceaccount:x:robot', { verb: 'get', path: '/x' }],
  ])
})

test('a false condition counts more than errors', () => {
  expect(evaluate(['object.nothing == 1', 'false'])).toEqual({ matches: false, condition: 'c1', errors: 1 })
})

test('errors refuse, or do not match, by the failure policy', () => {
  const failing = ['object.nothing == 1', 'true']
  expect(evaluate(failing)).toEqual({
    matches: undefined,
    error: "expression 'object.nothing == 1' resulted in error: no such key: nothing",
    errors: 1,
  })
  expect(evaluate(failing, { failurePolicy: 'Ignore' })).toEqual({ matches: false, errors: 1 })
})

test('costs are limited', () => {
  const heavy = '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]'
  const nested = `${heavy}.all(a, ${heavy}.all(b, ${heavy}.all(c, ${heavy}.all(d, ${heavy}.all(e, a + b + c + d + e > 0)))))`
  expect(evaluate([nested])).toMatchObject({
    error: expect.stringContaining('operation cancelled: actual cost limit exceeded'),
  })
  const check = 'authorizer.group("").resource("pods").check("get").allowed()'
  const two = `${check} && ${check}`
  expect(evaluate([two, two, two, two])).toEqual({
    matches: undefined,
    error: 'validation failed due to running out of cost budget, no further validation rules will be run',
    errors: 0,
  })
})
