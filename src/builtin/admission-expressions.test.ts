// Expressions of admission that are evaluated often read JSON where it is, and find there what they found through views.
import { describe, expect, test } from 'vitest'
import { compile, type Evaluation, toPlain } from '../cel/index.js'
import { decodeJson } from '../codec/json/decode.js'
import { celValueOf } from '../types/cel-types.js'
import { admissionEnvironment } from './admission-expressions.js'

const EXPRESSIONS = [
  "has(object.metadata.labels) && 'app' in object.metadata.labels",
  "object.metadata.name.startsWith('a') || object.metadata.name.endsWith('b') || object.metadata.name.contains('x')",
  '!has(object.spec) || object.spec.replicas <= 5',
  'object.spec.replicas + 1 > 3 && object.spec.replicas * 2 == 6',
  "object.spec.list.all(c, c.image.startsWith('r/'))",
  'object.spec.list.exists(c, c == object.spec.list[0])',
  'object.spec.list.map(c, c.image) == ["r/a", "r/b"]',
  'object.spec.list.map(c, c)[0].image',
  'object.spec.list.filter(c, has(c.port)).size()',
  'object.spec.list.exists_one(c, c.port == 1)',
  'object.metadata.labels.all(k, object.metadata.labels[k] != "")',
  'object.metadata.labels.exists(k, k == "constructor")',
  "object.metadata.labels['app'] == 'web'",
  "'toString' in object.metadata.labels || has(object.metadata.labels.constructor)",
  "'r/a' in object.spec.list.map(c, c.image)",
  'size(object.spec.list) + size(object.metadata.name)',
  'size(object.metadata.labels)',
  'object.spec.list[1].port',
  'object.spec.list[object.spec.index]',
  'object.spec.nothing == null',
  'object.spec.share < 2.5 && object.spec.share > 1',
  'object.spec.whole == 2',
  'object.spec.large > 5',
  'object.spec.paused || object.spec.replicas > 100',
  'object.spec.replicas == oldObject.spec.replicas',
  'oldObject == null || object.spec == oldObject.spec',
  "object.spec.paused ? object.metadata.name : 'none'",
  'object.spec.list.all(a, object.spec.list.exists(b, a.image == b.image))',
  "request.operation == 'CREATE' && request.userInfo.username != 'x' && !request.dryRun",
  "request.userInfo.groups.exists(g, g == 'devs') && 'devs' in request.userInfo.groups",
  "request.options.fieldManager == 'me'",
  'type(object.spec.replicas) == int',
  'string(object.spec.replicas) + object.metadata.name',
  'dyn(object).metadata.name',
  "object.metadata.?labels.?app.orValue('none') == 'web'",
  'object.spec.replicas < params.most',
]

const OBJECTS = [
  `{"metadata":{"name":"abc","labels":{"app":"web","constructor":"x"}},"spec":{"replicas":3,"paused":true,"index":1,
    "list":[{"image":"r/a","port":1},{"image":"r/b"}],"nothing":null,"share":1.5,"whole":2.0,"large":9007199254740993}}`,
  `{"metadata":{"name":"","labels":{}},"spec":{"replicas":3,"paused":false,"list":[],"whole":2}}`,
  `{"metadata":{"name":5,"labels":["app"]},"spec":{"replicas":"3","paused":1,"list":{"a":{"image":"r/x"}},"share":2}}`,
  `{"metadata":{"name":"é𝒳x","labels":{"__proto__":"y","app":null}},"spec":{"list":"text","replicas":1.5,"index":"a"}}`,
  `{"metadata":null}`,
  `{}`,
]

const REQUEST = `{"operation":"CREATE","dryRun":false,"options":{"fieldManager":"me"},
  "userInfo":{"username":"alice","groups":["devs","system:authenticated"]}}`

const json = (text: string) => celValueOf(decodeJson(Buffer.from(text)).value)
const shown = ({ value, error, cost }: Evaluation): string =>
  `${error ? `error: ${error.message}` : JSON.stringify(toPlain(value!), (_, v: unknown) => (typeof v === 'bigint' ? `${v}` : v))} at ${cost}`

describe('an expression that is evaluated often', () => {
  test.each(EXPRESSIONS)('%s', expression => {
    const environment = admissionEnvironment({ params: true, authorizer: true })
    const compiled = compile(expression, environment)
    if (!compiled.ok) throw new Error(compiled.message)
    const request = json(REQUEST)
    const params = json('{"most":10}')
    for (const [i, text] of OBJECTS.entries()) {
      const object = json(text)
      const oldObject = i % 2 ? null : json(OBJECTS[0]!)
      const variables = { object, oldObject, request, params, namespaceObject: null }
      const once = compile(expression, environment)
      const first = once.ok ? shown(once.program.evaluate(variables)) : ''
      // Code is generated after a hundred evaluations.
      for (let n = 0; n < 150; n++) compiled.program.evaluate(variables)
      expect(`${text}: ${shown(compiled.program.evaluate(variables))}`).toBe(`${text}: ${first}`)
    }
  })
})
