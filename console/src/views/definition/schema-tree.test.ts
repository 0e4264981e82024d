import { expect, test } from 'vitest'
import { constraintsOf, rowsOf, typeOf } from './schema-tree.js'

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', format: 'int32', minimum: 1 },
        ports: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
  },
}

test('the rows of a schema, as far as they are open', () => {
  const paths = (isOpen: (path: string, depth: number) => boolean) =>
    rowsOf(schema, isOpen).map(({ path, depth }) => `${depth} ${path}`)
  expect(paths(() => false)).toEqual(['0 spec'])
  expect(paths(() => true)).toEqual(['0 spec', '1 spec.size', '1 spec.ports', '2 spec.ports[].name', '1 spec.labels'])
  const [, size, ports] = rowsOf(schema, () => true)
  expect([size!.isRequired, ports!.isRequired, ports!.hasChildren]).toEqual([true, false, true])
})

test('types and constraints are short texts', () => {
  const { size, ports, labels } = schema.properties.spec.properties
  expect([size, ports, labels, { 'x-kubernetes-int-or-string': true }, {}].map(typeOf)).toEqual([
    'integer (int32)',
    '[]object',
    'map of string',
    'int or string',
    'any',
  ])
  expect(constraintsOf({ enum: ['a', 'b'], maxLength: 3, nullable: true, 'x-kubernetes-list-type': 'set' })).toEqual([
    'one of a, b',
    'maxLength 3',
    'list-type set',
    'nullable',
  ])
})
