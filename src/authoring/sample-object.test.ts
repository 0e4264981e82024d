import { expect, test } from 'vitest'
import { typeOfSchema } from './cel-setting.js'
import { sampleObject } from './sample-object.js'

const sample = (spec: object, optional = false) =>
  sampleObject(typeOfSchema({ type: 'object', properties: { spec } } as never), { optional })['spec']

test.each([
  [{ type: 'string' }, 'example'],
  [{ type: 'string', format: 'date-time' }, '2025-01-01T00:00:00Z'],
  [{ type: 'string', minLength: 9 }, 'exampleee'],
  [{ type: 'string', maxLength: 3 }, 'exa'],
  [{ type: 'string', pattern: '^[0-9]+$' }, '1'],
  [{ type: 'string', pattern: '^\\d+(Ki|Mi|Gi)$' }, '10Gi'],
  [{ type: 'string', enum: ['b', 'a'] }, 'b'],
  [{ type: 'integer', default: 7 }, 7],
  [{ type: 'integer', minimum: 5, exclusiveMinimum: true }, 6],
  [{ type: 'integer', maximum: -3 }, -3],
  [{ type: 'integer', minimum: 7, multipleOf: 5 }, 10],
  [{ type: 'boolean' }, false],
  [{ 'x-kubernetes-int-or-string': true }, 80],
  [{ type: 'array', minItems: 2, items: { type: 'boolean' } }, [false, false]],
  [{ type: 'array', items: { type: 'boolean' } }, []],
  [{ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, {}],
])('%j gives %j', (schema, value) => {
  expect(sample(schema)).toEqual(value)
})

const nested = {
  type: 'object',
  required: ['a'],
  properties: {
    a: { type: 'string' },
    b: { type: 'integer' },
    c: { type: 'object', additionalProperties: { type: 'string' } },
  },
}

test('required fields, or all', () => {
  expect(sample(nested)).toEqual({ a: 'example' })
  expect(sample(nested, true)).toEqual({ a: 'example', b: 1, c: { key: 'example' } })
})

test('the size of a sample is bounded', () => {
  const properties = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`p${i}`, nested]))
  let schema: object = { type: 'object', properties }
  for (let i = 0; i < 2; i++)
    schema = { type: 'object', properties: Object.fromEntries(Array.from({ length: 10 }, (_, j) => [`q${j}`, schema])) }
  expect(JSON.stringify(sample(schema, true)).length).toBeLessThan(200_000)
})
