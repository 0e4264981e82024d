// Rules that are evaluated often read JSON where it is, and find there what they found through views.
import { describe, expect, test } from 'vitest'
import { compile, printType } from '../../cel/index.js'
import { decodeJson } from '../../codec/json/decode.js'
import type { Value } from '../../meta/values/value.js'
import { celReader, declareTypes } from '../../types/cel-types.js'
import { builtinTypes } from '../../types/type-table.js'
import { parseSchema } from '../structure/structural.js'
import { partType } from '../structure/structural-type.js'
import { ruleEnvironment } from './compile-rules.js'

const object = (properties: Value): Value => ({ type: 'object', properties })
const list = (items: Value, more = {}): Value => ({ type: 'array', items, ...more })
const STRING = { type: 'string' }
const INT = { type: 'integer' }

const SCHEMA = object({
  name: STRING,
  count: INT,
  on: { type: 'boolean' },
  share: { type: 'number' },
  either: { 'x-kubernetes-int-or-string': true },
  wait: { type: 'string', format: 'duration' },
  data: { type: 'string', format: 'byte' },
  'a-b': STRING,
  namespace: STRING,
  constructor: STRING,
  ports: list(object({ name: STRING, port: INT, tls: object({ mode: STRING }), hosts: list(STRING) })),
  tags: list(STRING, { 'x-kubernetes-list-type': 'set' }),
  labels: { type: 'object', additionalProperties: STRING },
  rows: list({ type: 'object', additionalProperties: list({ type: 'integer', nullable: true }) }),
})

const RULES = [
  "self.name == 'x' || self.count > 1",
  'self.count + 1 < 10 && self.on',
  'has(self.count) && has(self.name) && !has(self.on)',
  'self.share < 2.5',
  'type(self.either) == int ? self.either > 1 : self.either == "a"',
  'self.wait < duration("1h") && has(self.data)',
  'size(self.data) > 0',
  "self.a__dash__b == 'x' && self.namespace == 'y'",
  "has(self.constructor) || self.__namespace__ == 'y'",
  "self.ports.all(p, p.port > 0 && (has(p.tls) ? p.tls.mode != '' : true))",
  'self.ports.all(a, self.ports.exists_one(b, a.name == b.name))',
  "self.ports.filter(p, p.name.startsWith('a')).size() == 1",
  "self.ports.filter(p, p.port > 1).map(p, p.name) == ['b']",
  'self.ports.exists(p, p.hosts[0] in self.tags)',
  'self.ports == self.ports && self.ports[0] == self.ports[0]',
  "self.tags.size() == 2 && self.tags.exists(t, t == 'a')",
  "self.labels.all(k, k.size() > 0 && self.labels[k] != '')",
  "self.labels['a'] == 'b' && 'a' in self.labels && has(self.labels.a) && !has(self.labels.valueOf)",
  'self.labels.size() == 1 && self.labels == self.labels',
  'self.rows.all(r, r.all(k, r[k].all(n, n > 0)))',
  'self.rows.exists(r, has(r.a) && r.a[0] == 1)',
  'self == oldSelf && self.count >= oldSelf.count',
]

const OBJECTS = [
  `{"name":"x","count":2,"share":1.5,"either":3,"wait":"10m","data":"AAAA","a-b":"x","namespace":"y",
    "ports":[{"name":"a","port":1,"hosts":["a"]},{"name":"b","port":2,"tls":{"mode":"m"}}],
    "tags":["a","b"],"labels":{"a":"b"},"rows":[{"a":[1]},{"b":[2,3]}]}`,
  '{"on":true,"count":9007199254740993,"either":"a","constructor":"c","ports":[],"tags":[],"labels":{},"rows":[]}',
  '{"count":1.5,"name":null,"on":null,"share":3,"wait":"soon","ports":[null],"labels":{"a":null},"rows":[{"a":[null]}]}',
  '{"name":1,"count":"1","on":"true","data":"?","ports":{},"tags":[1],"labels":[],"rows":[{"a":1}]}',
  '{"ports":[{"name":"a","port":1.0,"tls":[]},{"name":"a"}],"labels":{"__proto__":"x","":""},"rows":[[]]}',
  '{}',
]

describe('rules over JSON', () => {
  const { root, objectTypes } = declareTypes(partType(builtinTypes(), parseSchema(SCHEMA)), { isResource: false })!
  const environment = ruleEnvironment(root, objectTypes, false)
  const read = celReader(root)

  test.each(RULES)('%s', rule => {
    const compiled = compile(rule, environment)
    if (!compiled.ok) throw new Error(compiled.message)
    expect(printType(compiled.program.type)).toBe('bool')
    for (const text of OBJECTS) {
      const { program } = compile(rule, environment) as typeof compiled
      const json = decodeJson(Buffer.from(text)).value
      const evaluate = () => {
        const { work: _, ...outcome } = program.evaluate({ self: read(json), oldSelf: read(json) })
        return outcome
      }
      const first = evaluate()
      for (let i = 0; i < 150; i++) expect(evaluate()).toEqual(first)
    }
  })
})
