import { describe, expect, test } from 'vitest'
import { ALWAYS_DENY } from '../../auth/authorizer.js'
import { createMetrics } from '../../base/metrics.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import { attributesFor, refusalOf } from '../attributes.suite.js'
import { validatingAdmissionPolicy } from './validating.js'

const rule = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], scope: '*' }
const selectors = { namespaceSelector: {}, objectSelector: {}, matchPolicy: 'Equivalent' }

const named = (kind: string, name: string, spec: ValueObject): ApiObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name, resourceVersion: '1' },
  spec,
})

const policy = (spec: ValueObject, name = 'p'): ApiObject =>
  named('ValidatingAdmissionPolicy', name, {
    failurePolicy: 'Fail',
    matchConstraints: { ...selectors, resourceRules: [rule] },
    ...spec,
  })

const binding = (spec: ValueObject = {}): ApiObject =>
  named('ValidatingAdmissionPolicyBinding', 'b', { policyName: 'p', validationActions: ['Deny'], ...spec })

const stored = new Map<string, ApiObject>()

const pluginWith = (policies: readonly ApiObject[], bindings: readonly ApiObject[], metrics = createMetrics()) =>
  validatingAdmissionPolicy({
    metrics,
    validatingPolicies: { generation: 1, policies: () => policies, bindings: () => bindings, isComplete: true },
    authorizer: () => ALWAYS_DENY,
    findKind: () => undefined,
    findNamespace: () => ({ labels: { env: 'test' } }),
    objects: { find: async ({ kind }) => stored.get(kind), all: async () => [] },
  })

const configMap: ApiObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { size: '3' } }

const refusal = async (spec: ValueObject, of: ValueObject = {}): Promise<string> =>
  (await refusalOf(pluginWith([policy(spec)], [binding(of)]), attributesFor('configmaps', { object: configMap })))
    .split('denied request: ')
    .at(-1)!

const NO = { validations: [{ expression: 'false', message: 'no' }] }

describe('a policy', () => {
  test('refuses what does not meet its expressions', async () => {
    expect(await refusal({ validations: [{ expression: 'int(object.data.size) < 3' }] })).toBe(
      'failed expression: int(object.data.size) < 3',
    )
    expect(await refusal({ validations: [{ expression: 'int(object.data.size) < 4' }] })).toBe('')
  })

  test('evaluates a variable once, and only when it is read', async () => {
    const variables = [
      { name: 'size', expression: 'int(object.data.size)' },
      { name: 'broken', expression: 'object.data.none' },
    ]
    const validations = [{ expression: 'variables.size == 0', messageExpression: '"size " + string(variables.size)' }]
    expect(await refusal({ variables, validations })).toBe('size 3')
    expect(await refusal({ variables, validations: [{ expression: 'variables.broken == ""' }] })).toContain(
      'composited variable "broken" fails to evaluate: no such key: none',
    )
  })

  test('has an error, and not a full stack, if very many variables refer to each other', async () => {
    const chain = (length: number) => ({
      variables: Array.from({ length }, (_, i) => ({
        name: `v${i}`,
        expression: i === 0 ? '1' : `variables.v${i - 1} + 1`,
      })),
      validations: [{ expression: `variables.v${length - 1} == ${length}`, message: 'wrong' }],
    })
    expect(await refusal(chain(200))).toBe('')
    expect(await refusal(chain(5000))).toContain('more than 250 variables refer to each other')
  })

  test('lets others have a turn while its expressions are evaluated', async () => {
    const expression = '[1, 2, 3, 4, 5, 6, 7, 8, 9].all(a, [1, 2, 3, 4, 5, 6, 7, 8, 9].all(b, a + b > 0))'.replace(
      'a + b > 0',
      '[1, 2, 3, 4, 5, 6, 7, 8, 9].all(c, [1, 2, 3, 4, 5, 6, 7, 8, 9].all(d, a + b + c + d > 0))',
    )
    const policies = [policy({ validations: Array.from({ length: 120 }, () => ({ expression })) })]
    let turns = 0
    const count = (): void => {
      turns++
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    await pluginWith(policies, [binding()]).validate!(attributesFor('configmaps', { object: configMap }))
    clearImmediate(next)
    expect(turns).toBeGreaterThan(0)
  })

  test('asks the authorizer', async () => {
    const expression = "authorizer.group('').resource('pods').check('get').allowed()"
    expect(await refusal({ validations: [{ expression, message: 'no access' }] })).toBe('no access')
  })

  test('ignores its failures if it says so', async () => {
    const validations = [{ expression: 'object.data.none == ""' }]
    expect(await refusal({ validations })).toContain('no such key: none')
    expect(await refusal({ validations, failurePolicy: 'Ignore' })).toBe('')
  })

  test('applies where its binding does', async () => {
    expect(await refusal(NO)).toBe('no')
    const matchResources = { ...selectors, namespaceSelector: { matchLabels: { env: 'other' } } }
    expect(await refusal(NO, { matchResources })).toBe('')
    expect(await refusal(NO, { policyName: 'q' })).toBe('')
  })

  test('without the kind of its parameters refuses everything', async () => {
    const paramKind = { apiVersion: 'example.com/v1', kind: 'Limit' }
    expect(await refusal({ ...NO, paramKind })).toBe(
      "failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'",
    )
  })

  test('cannot ask the authorizer for an annotation or a message', async () => {
    const valueExpression = "authorizer.group('').resource('pods').check('get').reason()"
    expect(await refusal({ auditAnnotations: [{ key: 'k', valueExpression }] })).toBe(
      `expression '${valueExpression}' resulted in error: no such attribute(s): authorizer`,
    )
    const variables = [{ name: 'why', expression: valueExpression }]
    const validations = [{ expression: 'variables.why == "x"', messageExpression: '"because " + variables.why' }]
    expect(await refusal({ variables, validations })).toBe('failed expression: variables.why == "x"')
  })

  test('warns and annotates as its binding says', async () => {
    const attributes = attributesFor('configmaps', { object: configMap })
    const plugin = pluginWith([policy(NO)], [binding({ validationActions: ['Warn', 'Audit'] })])
    expect(await refusalOf(plugin, attributes)).toBe('')
    expect([...attributes.request.annotations.values()]).toEqual([
      '[{"message":"no","policy":"p","binding":"b","expressionIndex":0,"validationActions":["Warn","Audit"]}]',
    ])
  })
})

test('counts expressions by what followed from them', async () => {
  const metrics = createMetrics()
  const failing = policy({ validations: [{ expression: 'object.none == 1' }], failurePolicy: 'Ignore' }, 'f')
  const mixed = policy({
    validations: [{ expression: 'true' }, { expression: 'false' }, { expression: 'object.x == 1' }],
  })
  const bindings = [binding({ validationActions: ['Warn', 'Audit'] }), binding({ policyName: 'f' })]
  await refusalOf(pluginWith([mixed, failing], bindings, metrics), attributesFor('configmaps', { object: configMap }))
  const counts = (await metrics.print()).split('\n').filter(line => /^apiserver_validating.*check_total/.test(line))
  expect(counts.map(line => line.replace('apiserver_validating_admission_policy_check_total', '')).toSorted()).toEqual([
    '{enforcement_action="allow",error_type="invalid_error",policy="f",policy_binding="b"} 1',
    '{enforcement_action="allow",error_type="no_error",policy="p",policy_binding="b"} 1',
    '{enforcement_action="audit",error_type="invalid_error",policy="p",policy_binding="b"} 2',
    '{enforcement_action="warn",error_type="invalid_error",policy="p",policy_binding="b"} 2',
  ])
})

test('a request that no rule matches is answered at once', () => {
  const policies = Array.from({ length: 100 }, (_, i) => policy(NO, `p${i}`))
  const bindings = policies.map((_, i) => binding({ policyName: `p${i}` }))
  const plugin = pluginWith(policies, bindings)
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }
  expect(plugin.validate!(attributesFor('secrets', { object: secret }))).toBeUndefined()
})
