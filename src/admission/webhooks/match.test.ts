import { describe, expect, test } from 'vitest'
import { ALWAYS_ALLOW } from '../../auth/authorizer.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import type { Labels } from '../../meta/selectors/label-selectors.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { attributesFor, type TestRequest } from '../attributes.suite.js'
import { matchRules } from '../matching/match-resources.js'
import { isExempt, matchWebhook } from './match.js'
import { createWebhookSource, type Webhook, webhooksOf } from './source.js'

const RULE = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], scope: '*' }

function configuration(name: string, ...webhooks: ValueObject[]): ApiObject {
  const defaults = { failurePolicy: 'Fail', matchPolicy: 'Equivalent', sideEffects: 'None', timeoutSeconds: 10 }
  const complete = (members: ValueObject) => ({ name: 'a.example.com', ...defaults, rules: [RULE], ...members })
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks: webhooks.map(complete),
  }
}

const webhook = (members: ValueObject): Webhook => webhooksOf(configuration('c', members))[0]!
const withRule = (rule: Record<string, Value>): Webhook => webhook({ rules: [{ ...RULE, ...rule }] })

const pod = (labels: Labels = {}): ApiObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', labels } })
const env = (namespaces: Record<string, Labels> = { x: {} }) => ({
  authorizer: () => ALWAYS_ALLOW,
  findNamespace: (name: string) => (namespaces[name] ? { labels: namespaces[name] } : undefined),
})

const matches = async (each: Webhook, resource: string, tested: TestRequest, namespaces?: Record<string, Labels>) =>
  (await matchWebhook(env(namespaces), { item: each, byRules: undefined }, attributesFor(resource, tested))) !==
  undefined

describe('rules', () => {
  test.each<[Record<string, Value>, string, boolean]>([
    [{}, 'pods', true],
    [{ resources: ['pods'] }, 'pods', true],
    [{ resources: ['pods'] }, 'pods/status', false],
    [{ resources: ['pods/*'] }, 'pods', true],
    [{ resources: ['pods/status'] }, 'pods/status', true],
    [{ resources: ['*'] }, 'pods/status', false],
    [{ resources: ['*/status'] }, 'pods/status', true],
    [{ resources: ['*/*'] }, 'pods/status', true],
    [{ apiGroups: ['apps'] }, 'pods', false],
    [{ apiVersions: ['v2'] }, 'pods', false],
    [{ operations: ['UPDATE', 'DELETE'] }, 'pods', false],
    [{ operations: ['CREATE'] }, 'pods', true],
    [{ scope: 'Namespaced' }, 'pods', true],
    [{ scope: 'Cluster' }, 'pods', false],
  ])('%j of a create of %s: %s', (rule, resource, expected) => {
    expect(matchRules(withRule(rule).resources, attributesFor(resource, { object: pod() })) !== undefined).toBe(
      expected,
    )
  })

  test('a Namespace is a resource of the cluster scope', () => {
    const attributes = attributesFor('namespaces', {
      object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } },
      namespace: '',
    })
    expect(matchRules(withRule({ scope: 'Cluster' }).resources, attributes)).toBeDefined()
    expect(matchRules(withRule({ scope: 'Namespaced' }).resources, attributes)).toBeUndefined()
  })
})

describe('selectors', () => {
  const selecting = (field: string): Webhook => webhook({ [field]: { matchLabels: { a: '1' } } })

  test('the new or the old object must match', async () => {
    const each = selecting('objectSelector')
    expect(await matches(each, 'pods', { object: pod({ a: '1' }) })).toBe(true)
    expect(await matches(each, 'pods', { object: pod() })).toBe(false)
    expect(await matches(each, 'pods', { object: pod(), oldObject: pod({ a: '1' }) })).toBe(true)
  })

  test('the namespace must match', async () => {
    const each = selecting('namespaceSelector')
    expect(await matches(each, 'pods', { object: pod() }, { x: { a: '1' } })).toBe(true)
    expect(await matches(each, 'pods', { object: pod() }, { x: {} })).toBe(false)
    expect(await matches(each, 'nodes', { object: pod(), namespace: '' }, {})).toBe(true)
    await expect(matches(each, 'pods', { object: pod() }, {})).rejects.toThrow('namespaces "x" not found')
  })

  test('a new namespace is selected by its own labels, a deleted one by those of the stored one', async () => {
    const each = selecting('namespaceSelector')
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x', labels: { a: '1' } } }
    expect(await matches(each, 'namespaces', { object: namespace, namespace: '' }, {})).toBe(true)
    const deleted: TestRequest = { operation: 'DELETE', oldObject: namespace, namespace: '', name: 'x' }
    expect(await matches(each, 'namespaces', deleted, { x: {} })).toBe(false)
  })
})

test('conditions that fail refuse the request', async () => {
  const failing = webhook({ matchConditions: [{ name: 'a', expression: 'object.nothing == 1' }] })
  await expect(matches(failing, 'pods', { object: pod() })).rejects.toThrow(
    `pods "a" is forbidden: expression 'object.nothing == 1' resulted in error: no such key: nothing`,
  )
  const [ignoring] = webhooksOf(
    configuration('c', {
      failurePolicy: 'Ignore',
      matchConditions: [{ name: 'a', expression: 'object.nothing == 1' }],
    }),
  )
  expect(await matches(ignoring!, 'pods', { object: pod() })).toBe(false)
})

test('configurations of admission are exempt', () => {
  expect(isExempt({ group: 'admissionregistration.k8s.io', kind: 'ValidatingWebhookConfiguration' })).toBe(true)
  expect(isExempt({ group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' })).toBe(false)
})

test('webhooks of a resource come in the order of their configurations, and are found again after a change', () => {
  const all = new Map<string, readonly Webhook[]>()
  let generation = 0
  const put = (name: string, ...webhooks: ValueObject[]): void => {
    all.set(name, webhooksOf(configuration(name, ...webhooks)))
    generation++
  }
  const source = createWebhookSource({
    all: () => all.values(),
    isComplete: true,
    get generation() {
      return generation
    },
  })
  const found = () =>
    source(attributesFor('pods', { object: pod() })).map(({ item: { uid, index } }) => `${uid} ${index}`)
  expect(found()).toEqual([])
  put('b', {}, { name: 'other.example.com', rules: [{ ...RULE, resources: ['nodes'] }] }, {})
  put('a', {})
  expect(found()).toEqual(['a/a.example.com/0 0', 'b/a.example.com/0 1', 'b/a.example.com/1 3'])
  all.delete('b')
  generation++
  expect(found()).toEqual(['a/a.example.com/0 0'])
})
