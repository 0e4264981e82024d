import { expect, test } from 'vitest'
import { LINT_RULES, lintDefinitions } from './lint.js'
import { documentsIn, widgetDefinition } from './text-documents.suite.js'

const NOTES = LINT_RULES.filter(({ severity }) => severity === 'note').map(({ name }) => name)

/** The findings of a definition whose spec has these properties, without notes. */
async function lint(properties: object, more: object = {}, ignored: readonly string[] = NOTES): Promise<string[]> {
  const text = widgetDefinition({ v1: { type: 'object', properties, ...more } })
  const { findings } = await lintDefinitions(documentsIn(text), { ignored })
  return findings.map(({ rule, message }) => `${rule}: ${message}`)
}

const rule = (text: string): object => ({ 'x-kubernetes-validations': [{ rule: text, message: 'm' }] })

test.each<[string, object, object, string[]]>([
  ['nothing', { size: { type: 'integer' } }, {}, []],
  [
    'a list that has no type',
    { a: { type: 'array', items: { type: 'string' } } },
    {},
    ['list-type-missing: spec.a has no x-kubernetes-list-type'],
  ],
  [
    'an unbounded string that a rule reads',
    { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string', maxLength: 5 } },
    rule('self.a != self.c'),
    ['unbounded-in-rule: a rule of spec reads spec.a, which has no maxLength'],
  ],
  [
    'a rule that costs much',
    {
      a: {
        type: 'array',
        maxItems: 400,
        'x-kubernetes-list-type': 'atomic',
        items: { type: 'string', maxLength: 100 },
      },
    },
    rule('self.a.all(x, self.a.exists(y, x == y))'),
    ['costly-rule: the rule may cost 74% of what one rule may cost'],
  ],
  [
    'a default below an optional object',
    { o: { type: 'object', properties: { a: { type: 'integer', default: 1 } } } },
    {},
    ['default-needs-parent: the default of spec.o.a is not set where spec.o is left out'],
  ],
  [
    'a pattern without anchors',
    { a: { type: 'string', pattern: '[a-z]+' }, b: { type: 'string', pattern: '^[a-z]+$' } },
    {},
    ['pattern-not-anchored: the pattern of spec.a holds for every text that contains a match'],
  ],
  ['a float', { a: { type: 'number' } }, {}, ['float: spec.a is a float']],
  [
    'names that are not camelCase',
    { snake_case: { type: 'integer' } },
    {},
    ['field-name: spec.snake_case is not camelCase'],
  ],
])('finds %s', async (_, properties, more, expected) => {
  expect(await lint(properties, more)).toEqual(expected)
})

/** A definition with changes to its only version, or to its spec. */
async function lintVersion(change: object, spec: object = {}): Promise<string[]> {
  const definition = JSON.parse(widgetDefinition({ v1: { type: 'object' } }, spec)) as { spec: { versions: object[] } }
  Object.assign(definition.spec.versions[0]!, change)
  const { findings } = await lintDefinitions(documentsIn(JSON.stringify(definition)), { ignored: NOTES })
  return findings.map(({ rule: name, message, at }) => `${name}: ${message} @${at.line}`)
}

const schemaOf = (properties: object): object => ({ schema: { openAPIV3Schema: { type: 'object', properties } } })

test('a status needs its subresource, and conditions by type', async () => {
  const status = {
    type: 'object',
    properties: { conditions: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'atomic' } },
  }
  expect(await lintVersion(schemaOf({ status }))).toEqual([
    'status-without-subresource: version v1 has a status and no status subresource @1',
    'conditions: status.conditions is not a list by type, so that two controllers overwrite the conditions of each other @1',
  ])
})

test('columns must lead to fields of their type', async () => {
  const columns = [
    { name: 'A', type: 'string', jsonPath: '.spec.a' },
    { name: 'B', type: 'string', jsonPath: '.spec.b' },
    { name: 'C', type: 'integer', jsonPath: '.spec.a' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ]
  const schema = schemaOf({ spec: { type: 'object', properties: { a: { type: 'string' } } } })
  expect(await lintVersion({ ...schema, additionalPrinterColumns: columns })).toEqual([
    'column-without-field: the column B shows .spec.b, which the schema does not have @1',
    'column-without-field: the column C is of type integer and shows .spec.a, which is of type string: it stays empty @1',
  ])
})

test('names of built-in resources are found, also short ones', async () => {
  const names = { plural: 'widgets', kind: 'Widget', shortNames: ['po'] }
  expect(await lintVersion({}, { names })).toEqual([
    'name-of-builtin: po is also a name of a built-in resource of v1 @1',
  ])
})

test('findings are silenced by a comment or an annotation', async () => {
  const text = (comment: string, annotations = ''): string => `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
  annotations: {${annotations}}
spec:
  group: example.com
  scope: Cluster
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          a: {type: number, format: double} ${comment}
          b: {type: number, format: double}
`
  const fields = async (given: string): Promise<string[]> =>
    (await lintDefinitions(documentsIn(given), { ignored: NOTES })).findings.map(
      ({ field }) => field.split('.').at(-1)!,
    )
  expect(await fields(text(''))).toEqual(['a', 'b'])
  expect(await fields(text('# binnacle-ignore: float'))).toEqual(['b'])
  expect(await fields(text('# binnacle-ignore: field-name'))).toEqual(['a', 'b'])
  expect(await fields(text('', 'binnacle.dev/lint-ignore: float'))).toEqual([])
  const path = 'spec.versions[0].schema.openAPIV3Schema.properties.b'
  expect(await fields(text('', `"binnacle.dev/lint-ignore": "${path}:float"`))).toEqual(['a'])
})

test('what the server refuses is a finding, and such a definition is not looked at further', async () => {
  const { findings, definitions } = await lintDefinitions(
    documentsIn(widgetDefinition({ v1: { type: 'number', items: {} } })),
  )
  expect(definitions).toBe(1)
  expect(findings.map(({ rule: name }) => name)).toContain('FieldValueRequired')
})

test('every rule has a reason and a name of its own', () => {
  expect(new Set(LINT_RULES.map(({ name }) => name)).size).toBe(LINT_RULES.length)
  for (const { reason } of LINT_RULES) expect(reason).toMatch(/^[A-Zk].*\.$/)
})
