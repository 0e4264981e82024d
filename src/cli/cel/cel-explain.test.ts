import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { explain } from './cel-explain.js'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-explain-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, content: unknown): string {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const definition = (rule: string, more: object = {}) => ({
  kind: 'CustomResourceDefinition',
  spec: {
    names: { kind: 'Widget' },
    versions: ['v1', 'v2'].map(name => ({
      name,
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              'x-kubernetes-validations': [{ rule, ...more }],
              properties: { size: { type: 'integer' }, names: { type: 'array', items: { type: 'string' } } },
            },
          },
        },
      },
    })),
  },
})

test('a cheap rule is shown with its parts and its share of the limits', () => {
  const { text, ok } = explain(['explain', file('cheap.yaml', definition('self.size < 10')), '--version=v2'])
  expect(ok).toBe(true)
  expect(text).toBe(`Widget v2: 1 validation rule

spec: self.size < 10
  costs up to 3: less than 1% of the limit of 10,000,000 for a rule

  3  self.size < 10
  2    self.size

All rules together cost up to 3: less than 1% of the limit of 100,000,000 for a schema.
`)
})

test('an expensive rule is reported, with the bounds that would make it cheap enough', () => {
  const crd = file('expensive.json', definition('self.names.all(n, self.names.exists(o, o == n))'))
  const { text, ok } = explain(['explain', crd, '--version', 'v1'])
  expect(ok).toBe(false)
  expect(text).toContain('more than 1,000 × the limit of 10,000,000 for a rule')
  expect(text).toMatch(/brings it under the limit:\n {4}spec\.names: maxItems: \d+/)
})

test('a rule that does not compile is shown where it is wrong', () => {
  const { text, ok } = explain(['explain', file('wrong.yaml', definition('self.sise < 10'))])
  expect(ok).toBe(false)
  expect(text).toContain(
    "  WRONG: compilation failed: ERROR: <input>:1:5: undefined field 'sise'\n   | self.sise < 10\n   | ....^",
  )
})

test('for an object, each rule is shown with its result, message and cost', () => {
  const crd = file('crd.yaml', definition('self.size < 10', { message: 'too large' }))
  const small = explain(['explain', crd, '--version=v1', '--object', file('small.yaml', 'spec: {size: 3}')])
  expect(small.ok).toBe(true)
  expect(small.text).toContain('On the object:\n  holds    spec: self.size < 10   (cost 3)\n')
  const large = explain(['explain', crd, '--version=v1', '--object', file('large.yaml', 'spec: {size: 30}')])
  expect(large.ok).toBe(false)
  expect(large.text).toContain('  FAILS    spec: self.size < 10   (cost 3)\n           too large\n')
})

test('transition rules are skipped without an old object', () => {
  const crd = file('transition.yaml', definition('self.size >= oldSelf.size'))
  const args = ['explain', crd, '--version=v1', '--object', file('new.yaml', 'spec: {size: 3}')]
  expect(explain(args).text).toContain('skipped  spec')
  const old = explain([...args, '--old-object', file('old.yaml', 'spec: {size: 4}')])
  expect(old.text).toContain('  FAILS    spec: self.size >= oldSelf.size   (cost 5)')
})

test('a plain schema is accepted, and a rule of the command line replaces its own', () => {
  const schema = file('schema.yaml', 'type: object\nproperties: {a: {type: integer}}')
  expect(explain(['explain', schema]).text).toBe(`${schema}: no validation rules\n`)
  expect(explain(['explain', schema, '--rule', 'self.a > 1']).text).toContain('(root): self.a > 1\n  costs up to 3')
})

test.each([
  [[], 'cel needs a command: binnacle cel explain FILE'],
  [['explian'], 'there is no command cel explian: binnacle cel explain FILE'],
  [['explain'], 'there is no file to explain: binnacle cel explain FILE'],
  [['explain', '/nowhere.yaml'], 'there is no file /nowhere.yaml'],
  [['explain', 'x', '--objekt=y'], 'there is no flag --objekt: did you mean --object?'],
])('a wrong command line is reported in one line: %j', (args, message) => {
  expect(() => explain(args)).toThrow(message)
})

test('a file that is neither a definition nor a schema is refused', () => {
  expect(() => explain(['explain', file('pod.yaml', 'kind: Pod')])).toThrow(/holds neither a CustomResourceDefinition/)
  expect(() => explain(['explain', file('broken.yaml', '{a: [')])).toThrow(/is neither YAML nor JSON/)
})
