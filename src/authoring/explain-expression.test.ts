import { describe, expect, test } from 'vitest'
import { AuthorizerValue } from '../cel/index.js'
import { createCelSession } from './cel-session.js'
import { typeOfSchema } from './cel-setting.js'
import { explainExpression } from './explain-expression.js'
import type { ExplainedPart } from './explained-expression.js'

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        replicas: { type: 'integer' },
        hosts: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 20 } },
        free: { type: 'array', items: { type: 'string' } },
      },
    },
  },
}
const object = { spec: { replicas: 3, hosts: ['a.example', 'b.example', 'c.test'] } }
const type = typeOfSchema(schema)
const rule = (expression: string, more: object = {}) =>
  explainExpression({ environment: 'rule', expression, object, type, ...more })

const partsIn = (part: ExplainedPart): ExplainedPart[] => [part, ...part.children.flatMap(partsIn)]
const find = (tree: ExplainedPart | undefined, text: string) => partsIn(tree!).find(part => part.text === text)

test('a rule has a result, a type, its cost and that of its parts', () => {
  const { ok, value, type: resultType, cost, tree } = rule('self.spec.hosts.all(h, h.endsWith(".example"))')
  expect({ ok, value, resultType }).toEqual({ ok: true, value: false, resultType: 'bool' })
  expect(cost).toMatchObject({ limit: 1_000_000, estimateLimit: 10_000_000 })
  expect(cost!.actual).toBeGreaterThanOrEqual(cost!.estimate.min)
  expect(cost!.actual).toBeLessThanOrEqual(cost!.estimate.max!)
  expect(find(tree, 'self.spec.hosts')).toMatchObject({ type: 'list(string)', evaluations: 1, actual: 3 })
  expect(find(tree, 'h.endsWith(".example")')).toMatchObject({ repeated: true, evaluations: 3, value: 'true' })
})

test.each([
  'self.spec.replicas * 2 + self.spec.hosts.size()',
  'self.spec.hosts.filter(h, h.contains("example")).map(h, h + "!")',
  'has(self.spec.free) ? self.spec.free[0] : self.spec.hosts[1]',
  'self.spec.hosts.exists_one(h, h == "c.test") && self.spec.hosts.exists(h, h == "x")',
  '[1, 2, 3].transformList(i, v, v * i).sum() + self.spec.replicas',
  'self.spec.?free.optMap(f, f.size()).orValue(7)',
  'self.spec.hosts[7]',
])('the costs of %s are those of an ordinary evaluation', expression => {
  const { value, errors, cost, tree } = rule(expression)
  const session = createCelSession({ object, schema })
  const plain = session.evaluate(expression)
  if (plain.ok) expect({ value, cost: cost!.actual }).toEqual({ value: plain.value, cost: plain.cost })
  else expect(errors).toEqual([{ message: plain.error }])
  expect(tree!.actual).toBe(cost!.actual)
  for (const part of partsIn(tree!)) {
    const below = part.children.reduce((sum, { actual = 0 }) => sum + actual, 0)
    expect(part.actual ?? 0).toBeGreaterThanOrEqual(below)
  }
})

test('without a bound there is no largest cost', () => {
  expect(rule('self.spec.free.all(f, f.contains("a"))', { object: undefined }).cost).toEqual({
    actual: undefined,
    estimate: { min: expect.any(Number), max: expect.any(Number) },
    limit: 1_000_000,
    estimateLimit: 10_000_000,
  })
  const dynamic = explainExpression({
    environment: 'rule',
    expression: 'self.list.all(x, x.contains("a"))',
    object: {},
  })
  expect(dynamic.cost!.estimate).toEqual({ min: expect.any(Number) })
})

test('errors have their places', () => {
  expect(rule('self.spec.replicas >\n  "two"').errors).toEqual([
    { message: expect.stringContaining('found no matching overload'), offset: 19, line: 1, column: 20 },
  ])
  expect(rule('self.spec.nothing').errors![0]!.message).toContain("undefined field 'nothing'")
  expect(rule('1 +').ok).toBe(false)
  expect(rule('self.spec.replicas / 0').errors).toEqual([{ message: 'division by zero' }])
})

test('a rule may be on a part of the object, with the old value', () => {
  const at = { path: 'spec.hosts[1]', oldObject: { spec: { hosts: ['x', 'y'] } } }
  expect(rule('[self, oldSelf]', at)).toMatchObject({ value: ['b.example', 'y'], type: 'list(string)' })
})

test('what an expression may cost at most ends its evaluation', () => {
  const list = Array.from({ length: 2000 }, (_, i) => i)
  const explained = explainExpression({
    environment: 'policy',
    expression: 'object.list.all(a, object.list.all(b, a == b || true))',
    object: { list },
  })
  expect(explained.errors).toEqual([{ message: 'operation cancelled: actual cost limit exceeded' }])
  expect(explained.tree!.actual).toBeGreaterThan(1_000_000)
})

test('the parts of macros are what their author wrote', () => {
  const { tree } = rule(`optional.of(1)${'.optMap(x, x + 1)'.repeat(8)}.orValue(0)`)
  expect(partsIn(tree!).filter(({ text }) => text === 'x + 1')).toHaveLength(8)
})

test('the number of parts is bounded', () => {
  const { tree } = rule(`[${'self.spec.replicas + 1, '.repeat(400)}1]`)
  expect(partsIn(tree!).length).toBeLessThanOrEqual(500)
})

describe('an expression of a policy', () => {
  const authorizer = new AuthorizerValue({
    checkPath: () => ({ allowed: false, reason: '' }),
    checkResource: ({ resource }, verb) => ({ allowed: resource === 'pods' && verb === 'get', reason: '' }),
    serviceAccount: () => 'not here',
  })
  const policy = (expression: string) =>
    explainExpression({
      environment: 'policy',
      expression,
      object,
      oldObject: { spec: { replicas: 1 } },
      params: { max: 5 },
      request: { operation: 'UPDATE', userInfo: { username: 'alice', groups: ['devs'] } },
      namespaceObject: { metadata: { name: 'a', labels: { team: 'x' } } },
      variables: [
        { name: 'size', expression: 'object.spec.replicas' },
        { name: 'double', expression: 'variables.size * 2' },
      ],
      type,
      authorizer,
    })

  test.each([
    ['object.spec.replicas > oldObject.spec.replicas', true],
    ['variables.double + 1', 7],
    ['params.max', 5],
    ['request.userInfo.username + " " + request.operation', 'alice UPDATE'],
    ['namespaceObject.metadata.labels.team', 'x'],
    ['authorizer.group("").resource("pods").check("get").allowed()', true],
  ])('%s is %j', (expression, value) => {
    expect(policy(expression)).toMatchObject({ ok: true, value })
  })

  test('has an estimate by the schema of the object', () => {
    expect(policy('object.spec.hosts.all(h, h != "")').cost!.estimate.max).toBeLessThan(1000)
  })
})
