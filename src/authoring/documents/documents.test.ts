import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { locateField, locateLine } from './document.js'
import { readDocuments } from './read-documents.js'
import { splitDocuments } from './split-documents.js'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-documents-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const POD = 'apiVersion: v1\nkind: Pod\n'
const at = ({ line, column, text }: { line: number; column: number; text: string }): string =>
  `${line}:${column} ${text}`

test('documents are divided at lines with ---, and parts without content are left out', () => {
  const parts = splitDocuments(Buffer.from('# only a comment\n---\na: 1\n---   \nb: "---"\n--- {c: 3}\n---\n'))
  expect(parts.map(({ bytes, firstLine }) => [firstLine, bytes.toString()])).toEqual([
    [1, '---\na: 1\n'],
    [3, '---   \nb: "---"\n'],
    [5, '--- {c: 3}\n'],
  ])
})

test('fields are found in the file, with dots in keys, in lists, and the nearest where a field is missing', () => {
  const path = file(
    'fields.yaml',
    `---\n${POD}metadata:\n  labels:\n    a.b/c: x\nspec:\n  containers:\n  - name: a\n  - image: b\n`,
  )
  const [document] = readDocuments([path]).documents
  expect(at(locateField(document!, 'metadata.labels[a.b/c]'))).toBe('6:5     a.b/c: x')
  expect(at(locateField(document!, 'metadata.labels.a.b/c'))).toBe('6:5     a.b/c: x')
  expect(at(locateField(document!, 'spec.containers[1].image'))).toBe('10:5   - image: b')
  expect(at(locateField(document!, 'spec.containers[1].name'))).toBe('10:5   - image: b')
  expect(at(locateField(document!, ''))).toBe('2:1 apiVersion: v1')
  expect(at(locateLine(document!, 7))).toBe('7:1 spec:')
})

test('a schema that all versions share is found in the first version', () => {
  const definition =
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  versions:\n  - name: v1\n    schema:\n      openAPIV3Schema:\n        properties:\n          spec: {type: x}\n'
  const [document] = readDocuments([file('crd.yaml', definition)]).documents
  expect(at(locateField(document!, 'spec.validation.openAPIV3Schema.properties[spec].type'))).toBe(
    '9:18           spec: {type: x}',
  )
})

test('the items of a List are documents, with their positions', () => {
  const path = file(
    'list.yaml',
    `apiVersion: v1\nkind: List\nitems:\n- ${POD.replaceAll('\n', '\n  ')}metadata: {name: a}\n- ${POD.replaceAll('\n', '\n  ')}metadata: {name: b}\n`,
  )
  const { documents } = readDocuments([path])
  expect(documents.map(({ value }) => (value['metadata'] as { name: string }).name)).toEqual(['a', 'b'])
  expect(at(locateField(documents[1]!, 'metadata.name'))).toBe('9:14   metadata: {name: b}')
})

test('a folder is read with its sub-folders; links in circles end, and what is no object of an API is counted', () => {
  const root = mkdtempSync(join(folder, 'tree-'))
  mkdirSync(join(root, 'sub'))
  writeFileSync(join(root, 'sub', 'a.yml'), POD)
  writeFileSync(join(root, 'b.json'), '{"apiVersion": "v1", "kind": "Pod"}')
  writeFileSync(join(root, 'values.yaml'), 'replicas: 3\n')
  writeFileSync(join(root, 'readme.md'), '# no manifest\n')
  symlinkSync(root, join(root, 'sub', 'loop'))
  symlinkSync('self.yaml', join(root, 'self.yaml'))
  const { documents, files, others, findings } = readDocuments([root])
  expect(documents.map(({ file: name, mediaType }) => [name.slice(root.length), mediaType])).toEqual([
    ['/b.json', 'application/json'],
    ['/sub/a.yml', 'application/yaml'],
  ])
  expect({ files, others, findings }).toEqual({ files: 3, others: 1, findings: [] })
})

test.each([
  ['half a document', `${POD}spec: {a: [1,\n`, 3, /^this is not YAML: /],
  ['no YAML at all', 'a: b: c\n', 1, /^this is not YAML: mapping values are not allowed/],
  ['a second document that is broken', `${POD}---\nkind: "x\n`, 5, /^this is not YAML: /],
  ['no kind', '---\n# which?\napiVersion: v1\n', 3, /needs apiVersion and kind, and this document has only apiVersion/],
  ['a list', '- 1\n', 1, /this document is not an object/],
])('%s is a finding with its line', (name, content, line, message) => {
  const { findings } = readDocuments([file(`${name}.yaml`, content)])
  expect(findings.map(({ at: { line: its }, severity }) => [its, severity])).toEqual([[line, 'error']])
  expect(findings[0]!.message).toMatch(message)
})

test('a template of Helm is recognized, and what it was rendered from is kept', () => {
  const path = file('template.yaml', `${POD}metadata:\n  name: {{ .Values.name }}-{{ x\n`)
  expect(readDocuments([path]).findings[0]!.hint).toMatch(/render it first \(helm template/)
  const rendered = file('rendered.yaml', `---\n# Source: app/templates/pod.yaml\n${POD}`)
  expect(readDocuments([rendered]).documents[0]!.template).toBe('app/templates/pod.yaml')
})

test('a file that is too large is not read', () => {
  const path = file('large.yaml', '')
  truncateSync(path, 100 * 1024 * 1024)
  expect(readDocuments([path]).findings[0]!.message).toBe(
    'the file has 100 MiB, and files of more than 64 MiB are not read',
  )
})

test.each([
  ['missing.yaml', /^there is no file or folder .*missing\.yaml$/],
  ['loop.yaml', /is a symbolic link that leads back to itself$/],
])('%s is a wrong argument', (name, message) => {
  if (name === 'loop.yaml') symlinkSync(name, join(folder, name))
  expect(() => readDocuments([join(folder, name)])).toThrow(message)
})
