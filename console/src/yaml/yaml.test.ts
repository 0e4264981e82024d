import { expect, test } from 'vitest'
import { schemaOf } from '../api/openapi.js'
import { parseFieldPath, resolveConflictPath } from './field-path.js'
import { decide, merge3 } from './merge3.js'
import { ownedFields, ownersByLine } from './owners.js'
import { validate } from './validate.js'
import { encodeYaml, lineOf, readYaml, withoutManagedFields, withValue } from './yaml-document.js'

test.each([
  ['spec.cargo[0].name', ['spec', 'cargo', 0, 'name']],
  ['metadata.labels[a.b/c]', ['metadata', 'labels', 'a.b/c']],
  ['spec.notes["x y"]', ['spec', 'notes', 'x y']],
  ['', []],
])('the field of a cause: %s', (text, path) => {
  expect(parseFieldPath(text)).toEqual(path)
})

test('the line of a path, or of the nearest part that is there', () => {
  const document = readYaml('spec:\n  cargo:\n  - name: coal\n  - name: lamps\n')
  expect(lineOf(document, ['spec', 'cargo', 1, 'name'])).toBe(3)
  expect(lineOf(document, ['spec', 'ship'])).toBe(0)
})

test('an error of syntax has its line', () => {
  expect(readYaml('a: 1\nb: [1').error).toMatchObject({ line: expect.any(Number), message: expect.any(String) })
})

test('numbers beyond 2^53 keep their digits', () => {
  const text = 'spec:\n  serial: 9223372036854775807\n'
  expect(encodeYaml(withValue(readYaml(text).value, ['spec', 'ship'], 'Fram'))).toContain('9223372036854775807')
})

test('managedFields are left out, and nothing else', () => {
  expect(withoutManagedFields('metadata:\n  managedFields:\n  - manager: a\n  name: x\n')).toBe(
    'metadata:\n  name: x\n',
  )
})

test('managers own lines: members, items by key, values of sets', () => {
  const text = 'spec:\n  cargo:\n  - name: coal\n    tons: 2\n  ship: Fram\n  tags:\n  - a\n  - b\n'
  const document = readYaml(text)
  const entries = [
    {
      manager: 'kubectl',
      operation: 'Apply' as const,
      fieldsV1: { 'f:spec': { 'f:ship': {}, 'f:cargo': { 'k:{"name":"coal"}': { '.': {}, 'f:tons': {} } } } },
    },
    {
      manager: 'bosun',
      operation: 'Update' as const,
      fieldsV1: { 'f:spec': { 'f:ship': {}, 'f:tags': { 'v:"b"': {} } } },
    },
  ]
  const lines = ownersByLine(document, ownedFields(entries, document.value))
  const names = [...lines].map(([line, managers]) => [line, managers.map(({ name }) => name)])
  expect(new Map(names as [number, string[]][])).toEqual(
    new Map([
      [4, ['kubectl', 'bosun']],
      [2, ['kubectl']],
      [3, ['kubectl']],
      [7, ['bosun']],
    ]),
  )
})

test('a merge names the fields that the other side changed, without those that every write changes', () => {
  const base = { metadata: { name: 'a', resourceVersion: '1' }, spec: { crew: { hands: 1, captain: 'x' } } }
  const theirs = { metadata: { name: 'a', resourceVersion: '2' }, spec: { crew: { hands: 2, captain: 'x' } } }
  const { value, taken } = merge3(base, base, theirs)
  expect(value).toEqual(theirs)
  expect(taken).toEqual([['spec', 'crew', 'hands']])
})

test('a list that is owned as a whole owns all of its lines', () => {
  const document = readYaml('spec:\n  cargo:\n  - name: coal\n    tons: 2\n  ship: Fram\n')
  const entries = [{ manager: 'a', operation: 'Update' as const, fieldsV1: { 'f:spec': { 'f:cargo': {} } } }]
  expect([...ownersByLine(document, ownedFields(entries, document.value)).keys()]).toEqual([1, 2, 3])
})

test('the fields of conflicts are found by the keys of their items', () => {
  const { value } = readYaml('spec:\n  cargo:\n  - name: lamps\n  - name: coal\n    tons: 2\n')
  expect(resolveConflictPath('.spec.cargo[name="coal"].tons', value)).toEqual(['spec', 'cargo', 1, 'tons'])
})

test('a merge takes what one side changed, and asks about what both did', () => {
  const base = { a: 1, b: 1, c: 1, d: 1 }
  const merged = merge3(base, { a: 2, b: 1, c: 2 }, { a: 1, b: 3, c: 3, d: 1 })
  expect(merged.value).toEqual({ a: 2, b: 3, c: 3 })
  expect(merged.conflicts.map(({ path }) => path)).toEqual([['c']])
  expect(merged.taken).toEqual([['b']])
  expect(decide(merged, new Set([0]))).toEqual({ a: 2, b: 3, c: 2 })
})

const schema = schemaOf(
  {
    Voyage: {
      type: 'object',
      'x-kubernetes-group-version-kind': [{ group: 'sea', version: 'v1', kind: 'Voyage' }],
      properties: { spec: { $ref: '#/components/schemas/Spec', description: 'Planned.' } },
    },
    Spec: {
      type: 'object',
      description: 'Any.',
      required: ['ship'],
      properties: {
        ship: { type: 'string', minLength: 1 },
        knots: { type: 'integer', maximum: 40 },
        sails: { type: 'string', enum: ['full', 'none'] },
        port: { 'x-kubernetes-int-or-string': true },
        notes: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
  },
  'sea',
  'v1',
  'Voyage',
)!

test.each([
  ['spec: {ship: Fram, knots: 3, port: 80, notes: {a: b}}', []],
  ['spec: {}', [['spec'], 'needs the field ship']],
  ['spec: {ship: 1}', [['spec', 'ship'], 'must be a string, not an integer']],
  ['spec: {ship: a, knots: 41}', [['spec', 'knots'], 'must be 40 or less']],
  ['spec: {ship: a, sails: half}', [['spec', 'sails'], 'must be one of "full", "none"']],
  ['spec: {ship: a, knotts: 1}', [['spec', 'knotts'], 'unknown field knotts']],
  ['spec: {ship: a, port: [1]}', [['spec', 'port'], 'must be an integer or string, not a list']],
  ['spec: {ship: a, notes: {a: 1}}', [['spec', 'notes', 'a'], 'must be a string, not an integer']],
])('%s', (text, expected) => {
  const problems = validate(readYaml(text).value!, schema).flatMap(({ path, message }) => [path, message])
  expect(problems).toEqual(expected)
})

test('a description beside a reference wins', () => {
  expect(schema.resolve(schema.root.properties!['spec']!).description).toBe('Planned.')
})
