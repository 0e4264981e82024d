import { expect, test } from 'vitest'
import { documentsIn, widget, widgetDefinition } from './text-documents.suite.js'
import { validateDocuments } from './validate.js'

const SIZE = {
  type: 'object',
  required: ['size'],
  properties: { size: { type: 'integer', maximum: 9, description: 'How large. More.' }, color: { type: 'string' } },
  'x-kubernetes-validations': [{ rule: 'self.size != 7', message: 'seven is taken' }],
}
const CRD = widgetDefinition({ v1: SIZE })

const found = async (text: string, more: Partial<Parameters<typeof validateDocuments>[0]> = {}) => {
  const { findings } = await validateDocuments({ documents: documentsIn(text), ...more })
  return findings.map(({ severity, rule, message, hint }) =>
    hint === undefined ? [severity, rule, message] : [severity, rule, message, hint],
  )
}

test('an object is checked by a definition that stands after it', async () => {
  expect(await found(`${widget({ size: 10 })}\n---\n${CRD}`)).toEqual([
    [
      'error',
      'FieldValueInvalid',
      'spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9',
      'spec.size is an integer of at most 9; How large.',
    ],
  ])
})

test('a broken rule is named, and so is a field that is like an unknown one', async () => {
  expect(await found(`${CRD}\n---\n${widget({ size: 7, colour: 'x' })}`)).toEqual([
    ['error', 'FieldValueInvalid', 'spec: Invalid value: seven is taken', 'the rule is self.size != 7'],
    ['warning', 'unknown-field', 'unknown field "spec.colour"', 'did you mean "color"?'],
  ])
})

test('strict field validation makes errors of unknown and duplicate fields', async () => {
  const twice = 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec:\n  size: 1\n  size: 2\n  b: 1\n'
  expect(await found(`${CRD}\n---\n${twice}`, { options: { fieldValidation: 'Strict' } })).toEqual([
    ['error', 'duplicate-field', 'line 7: key "size" already set in map'],
    ['error', 'unknown-field', 'unknown field "spec.b"'],
  ])
})

test('with the old object it is an update: unchanged values may stay invalid, changed ones may not', async () => {
  const old = documentsIn(widget({ size: 20, color: 'red' }))
  expect(await found(`${CRD}\n---\n${widget({ size: 20, color: 'blue' })}`, { old })).toEqual([])
  expect(await found(`${CRD}\n---\n${widget({ size: 21, color: 'red' })}`, { old })).toHaveLength(1)
})

test('a definition is updated, too: its scope must not change', async () => {
  const cluster = widgetDefinition({ v1: SIZE }, { scope: 'Cluster' })
  expect(await found(cluster, { old: documentsIn(CRD) })).toEqual([
    ['error', 'FieldValueInvalid', 'spec.scope: Invalid value: "Cluster": field is immutable'],
  ])
})

test('policies among the files are applied', async () => {
  const policy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: small}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [widgets]}]
  validations: [{expression: 'object.spec.size < 3 || request.userInfo.username == "boss"', message: too large}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: small}
spec: {policyName: small, validationActions: [Deny]}
`
  const text = `${CRD}\n---\n${widget({ size: 4 })}\n---${policy}`
  const [[severity, rule, message] = []] = await found(text)
  expect([severity, rule]).toEqual(['error', 'Invalid'])
  expect(message).toContain("ValidatingAdmissionPolicy 'small' with binding 'small' denied request: too large")
  const boss = { name: 'boss', uid: '', groups: [], extra: {} }
  expect(await found(text, { options: { user: boss } })).toEqual([])
})

test('built-in kinds are checked, and kinds without a definition are errors unless they are to be left out', async () => {
  expect(await found('{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: []}}')).toEqual([
    ['error', 'FieldValueRequired', 'spec.ports: Required value'],
  ])
  expect(await found(widget({}))).toEqual([
    [
      'error',
      'unknown-kind',
      'no matches for kind "Widget" in version "example.com/v1"',
      'give its definition with --crds, or leave such documents out with --ignore-unknown-kinds',
    ],
  ])
  expect(await found(widget({}), { options: { ignoreUnknownKinds: true } })).toEqual([])
  expect(await found(widget({}, { name: 'a' }, 'v2'), { known: documentsIn(CRD) })).toEqual([
    [
      'error',
      'unknown-kind',
      'no matches for kind "Widget" in version "example.com/v2"',
      'Widget is served in example.com/v1',
    ],
  ])
})

test('a definition whose names are taken is accepted, and defines nothing', async () => {
  const other = CRD.replaceAll('widgets', 'gadgets')
  expect(await found(`${CRD}\n---\n${other}`)).toEqual([
    ['error', 'names-not-accepted', '"WidgetList" is already in use'],
  ])
})

test('a schema that is not structural is refused, at its field', async () => {
  const wrong = widgetDefinition({ v1: { type: 'object', properties: { a: { anyOf: [{ type: 'string' }] } } } })
  const { findings } = await validateDocuments({ documents: documentsIn(wrong) })
  expect(findings.length).toBeGreaterThan(0)
  expect(findings[0]!.field).toContain('properties[spec].properties[a]')
})
