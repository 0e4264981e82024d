import { expect, test } from 'vitest'
import { createCelSession } from './cel-session.js'

const SCHEMA = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer' },
        parts: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
      },
    },
  },
}
const object = { spec: { size: 3, parts: [{ name: 'a' }] } }

test('an expression is evaluated on an object, with its type and cost', () => {
  const { evaluate } = createCelSession({ object, schema: SCHEMA })
  expect(evaluate('self.spec.parts.map(p, p.name + "!")')).toEqual({
    ok: true,
    value: ['a!'],
    type: 'list(string)',
    cost: expect.any(Number) as number,
  })
  expect(createCelSession({}).evaluate('1 + 2')).toMatchObject({ ok: true, value: 3, type: 'int' })
  expect(
    createCelSession({ object, old: { spec: { size: 2 } } }).evaluate('self.spec.size > oldSelf.spec.size'),
  ).toMatchObject({ value: true })
})

test('with a schema, a misspelt field is an error; without one, it is one of the evaluation', () => {
  const wrong = (schema?: typeof SCHEMA) => createCelSession({ object, schema }).evaluate('self.spec.sise')
  expect(wrong(SCHEMA)).toEqual({ ok: false, error: expect.stringContaining("undefined field 'sise'") as string })
  expect(wrong()).toEqual({ ok: false, error: 'no such key: sise' })
})

test.each([
  ['self.spec.', ['parts', 'size'], ''],
  ['1 < self.spec.si', ['size'], 'si'],
  ['self.spec.parts[0].', ['name'], ''],
  ['sel', ['self'], 'sel'],
  ['quant', ['quantity'], 'quant'],
])('%s is completed', (text, candidates, replaced) => {
  expect(createCelSession({ object, schema: SCHEMA }).complete(text)).toEqual([candidates, replaced])
  if (!text.startsWith('quant')) expect(createCelSession({ object }).complete(text)).toEqual([candidates, replaced])
})
