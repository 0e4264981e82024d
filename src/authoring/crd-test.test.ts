import { expect, test } from 'vitest'
import { testDefinitions } from './crd-test.js'
import { documentsIn, widgetDefinition } from './text-documents.suite.js'

const SPEC = {
  type: 'object',
  required: ['size'],
  properties: { size: { type: 'integer', maximum: 9 }, mode: { type: 'string', enum: ['A', 'B'], default: 'A' } },
  'x-kubernetes-validations': [
    { rule: 'self.size != 7', message: 'seven is taken' },
    { rule: 'self.size >= oldSelf.size', message: 'it may only grow' },
  ],
}
const CRD = widgetDefinition({ v1: SPEC, v2: { type: 'object', properties: { size: { type: 'integer' } } } })

const object = (spec: object): object => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'a' },
  spec,
})

async function run(...cases: object[]) {
  const suite = JSON.stringify({ apiVersion: 'binnacle.dev/v1', kind: 'DefinitionTest', cases })
  const { findings, ...rest } = await testDefinitions(documentsIn(`${CRD}\n---\n${suite}`))
  return { ...rest, found: findings.map(({ rule, message }) => `${rule}: ${message}`) }
}

test('cases that hold are silent, and break checks', async () => {
  const { found, cases, failed, coverage } = await run(
    { name: 'small', object: object({ size: 1 }), expect: { accepted: true, becomes: { spec: { mode: 'A' } } } },
    { name: 'missing', object: object({}), expect: { refused: 'spec.size: Required value' } },
    { name: 'large', object: object({ size: 10 }), expect: { refused: true } },
    { name: 'mode', object: object({ size: 1, mode: 'C' }), expect: { refused: ['Unsupported value', '"A"'] } },
    { name: 'seven', object: object({ size: 7 }), expect: { refused: 'seven is taken' } },
    { name: 'grow', object: object({ size: 3 }), old: object({ size: 4 }), expect: { refused: 'it may only grow' } },
    {
      name: 'v2',
      object: object({ size: 3 }),
      expect: { accepted: true, converted: [{ apiVersion: 'example.com/v2', spec: { size: 3, mode: null } }] },
    },
  )
  expect({ found, cases, failed, coverage }).toEqual({
    found: [],
    cases: 7,
    failed: 0,
    coverage: { broken: 5, checks: 5 },
  })
})

test('checks that no case breaks are named', async () => {
  const { found } = await run({ name: 'small', object: object({ size: 1 }), expect: { accepted: true } })
  expect(found).toEqual([
    'never-broken: no case breaks required spec.size',
    'never-broken: no case breaks the rule self.size != 7 of spec',
    'never-broken: no case breaks the rule self.size >= oldSelf.size of spec',
    'never-broken: no case breaks the enum of spec.mode',
    'never-broken: no case breaks maximum of spec.size',
  ])
})

test.each<[string, object, string]>([
  [
    'it is refused',
    { object: object({}), expect: { accepted: true } },
    'it was refused: Widget.example.com "a" is invalid: [spec.size: Required value',
  ],
  ['it is accepted', { object: object({ size: 1 }), expect: { refused: 'x' } }, 'it was accepted'],
  [
    'the message differs',
    { object: object({ size: 7 }), expect: { refused: 'eight' } },
    'the message does not contain "eight"',
  ],
  [
    'the default differs',
    { object: object({ size: 1 }), expect: { accepted: true, becomes: { spec: { mode: 'B' } } } },
    'spec.mode is "A" and not "B"',
  ],
  [
    'a warning is missing',
    { object: object({ size: 1 }), expect: { accepted: true, warnings: ['unknown field'] } },
    'no warning contains "unknown field"',
  ],
  [
    'a warning was not expected',
    { object: object({ size: 1, x: 1 }), expect: { accepted: true, warnings: [] } },
    'there was another warning: unknown field "spec.x"',
  ],
  [
    'there is no definition',
    { object: { apiVersion: 'v9', kind: 'X' }, expect: { accepted: true } },
    'there is no definition of v9 X among the files',
  ],
])('a case fails if %s', async (_, testCase, message) => {
  const { found, failed } = await run({ name: 'c', ...testCase })
  expect(failed).toBe(1)
  expect(found.filter(text => text.startsWith('case-failed'))).toEqual([expect.stringContaining(message)])
})

test.each<[object, string]>([
  [{ name: 'x' }, 'a case has an object'],
  [{ object: {}, expects: {} }, 'there is no field expects here; there are name, object, old, user, expect'],
  [{ object: {}, expect: {} }, 'a case expects accepted: true, or refused with a part of the message'],
])('a wrong case is a finding: %j', async (testCase, message) => {
  expect((await run(testCase)).found).toContain(`wrong-case: ${message}`)
})
