import { expect, test } from 'vitest'
import type { ValueObject } from '../meta/values/value.js'
import { planChanges } from './plan.js'
import { documentsIn, widgetDefinition } from './text-documents.suite.js'

const spec = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more })

async function plan(before: string, after: string, stored?: readonly object[]): Promise<string[]> {
  const old = JSON.parse(before) as ValueObject
  const { findings } = await planChanges({
    documents: documentsIn(after),
    oldOf: async () => old,
    ...(stored && { objectsOf: async () => stored as readonly ValueObject[] }),
  })
  return findings.map(
    ({ rule, message, object }) => `${rule}: ${rule === 'stored-object' ? `${object}: ` : ''}${message}`,
  )
}

const change = (a: object, b: object): Promise<string[]> =>
  plan(widgetDefinition({ v1: a }), widgetDefinition({ v1: b }))

const text = { type: 'string' }

test.each<[string, object, object, string[]]>([
  ['nothing', spec({ a: text }), spec({ a: text }), []],
  ['a new field', spec({}), spec({ a: text }), ['compatible: spec.a is new']],
  [
    'a field that is gone',
    spec({ a: text }),
    spec({}),
    ['breaks-readers: spec.a is gone', 'breaks-writers: spec.a is gone', 'breaks-stored: spec.a is gone'],
  ],
  [
    'another type',
    spec({ a: text }),
    spec({ a: { type: 'integer' } }),
    ['writers', 'readers', 'stored'].map(who => `breaks-${who}: spec.a was string and is integer`),
  ],
  [
    'a required field',
    spec({ a: text }),
    spec({ a: text }, { required: ['a'] }),
    ['breaks-writers: spec.a is required', 'breaks-stored: spec.a is required'],
  ],
  [
    'a required field with a default',
    spec({ a: text }),
    spec({ a: { ...text, default: 'x' } }, { required: ['a'] }),
    ['compatible: spec.a is required and has a default', 'compatible: spec.a has the default "x"'],
  ],
  [
    'values of an enum',
    spec({ a: { ...text, enum: ['A', 'B'] } }),
    spec({ a: { ...text, enum: ['B', 'C'] } }),
    ['breaks-writers: spec.a must not be "A" any more', 'breaks-readers: spec.a may be "C"'],
  ],
  [
    'bounds',
    spec({ a: { type: 'integer', minimum: 1, maximum: 5 } }),
    spec({ a: { type: 'integer', minimum: 2, maximum: 9 } }),
    ['compatible: maximum of spec.a is 9', 'breaks-writers: minimum of spec.a is 2'],
  ],
  [
    'rules',
    spec({ a: { type: 'integer' } }, { 'x-kubernetes-validations': [{ rule: 'self.a > 1' }] }),
    spec({ a: { type: 'integer' } }, { 'x-kubernetes-validations': [{ rule: 'self.a > 2' }] }),
    ['breaks-writers: spec has the rule self.a > 2', 'compatible: spec no longer has the rule self.a > 1'],
  ],
  [
    'a rule that costs more, because a list has lost its bound',
    spec(
      { a: { type: 'array', maxItems: 3, items: { type: 'integer' } } },
      { 'x-kubernetes-validations': [{ rule: 'self.a.all(x, x > 1)' }] },
    ),
    spec(
      { a: { type: 'array', items: { type: 'integer' } } },
      { 'x-kubernetes-validations': [{ rule: 'self.a.all(x, x > 1)' }] },
    ),
    [
      'compatible: spec.a has no maxItems any more',
      expect.stringMatching(
        /^compatible: the rule self\.a\.all\(x, x > 1\) of spec may cost \d+; it was \d+$/,
      ) as string,
    ],
  ],
])('plans %s', async (_, a, b, expected) => {
  expect(await change(a, b)).toEqual(expected)
})

test('a removed version, another storage version and a conversion that is missing', async () => {
  const before = widgetDefinition({ v1: spec({ a: text }), v2: spec({ a: text }) })
  expect(await plan(before, widgetDefinition({ v2: spec({ a: text }) }))).toEqual([
    'FieldValueInvalid: status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
  ])
  expect(await plan(before, widgetDefinition({ v2: spec({ a: text }), v1: spec({ a: text, b: text }) }))).toEqual([
    'breaks-stored: the storage version was v1 and is v2',
    'compatible: spec.b is new',
    'breaks-stored: version v1 has spec.b, and the storage version v2 has not',
  ])
})

test('stored objects that would lose fields or be refused are named', async () => {
  const before = widgetDefinition({ v1: spec({ a: text, b: text }) })
  const after = widgetDefinition({ v1: spec({ a: { ...text, maxLength: 2 } }) })
  const object = (name: string, its: object): object => ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name, namespace: 'x', resourceVersion: '5', uid: 'u' },
    spec: its,
  })
  const found = await plan(before, after, [object('fine', { a: 'x' }), object('long', { a: 'xyz', b: 'y' })])
  expect(found.filter(each => each.startsWith('stored-object'))).toEqual([
    'stored-object: Widget x/long: spec.b is dropped',
    'stored-object: Widget x/long: spec.a: Too long: may not be more than 2 bytes',
  ])
})
