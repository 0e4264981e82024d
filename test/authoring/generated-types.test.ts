// Generated types compile, accept right objects and refuse wrong ones, and fit CustomObjectsApi.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { acceptDefinitions } from '../../src/authoring/definitions.js'
import { jsonSchemasOf } from '../../src/authoring/json-schema.js'
import { documentsIn, widgetDefinition } from '../../src/authoring/text-documents.suite.js'
import { printTypeScript } from '../../src/authoring/type-script.js'

const SPEC = {
  type: 'object',
  description: 'What is wanted. */ evil()',
  required: ['mode'],
  properties: {
    mode: { type: 'string', enum: ['Fast', "It's safe"] },
    port: { 'x-kubernetes-int-or-string': true },
    'odd-name': { type: 'boolean', description: 'First line.\nSecond line.' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    parts: { type: 'array', items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } },
    gone: { type: 'integer', nullable: true },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    source: {
      type: 'object',
      properties: { git: { type: 'string' }, oci: { type: 'object', properties: { url: { type: 'string' } } } },
      oneOf: [{ required: ['git'] }, { required: ['oci'] }],
    },
  },
}

const definitions = async () => {
  const { accepted, findings } = await acceptDefinitions(documentsIn(widgetDefinition({ v1: SPEC })))
  expect(findings).toEqual([])
  return accepted.map(({ definition }) => definition)
}

const USE = `
import { CustomObjectsApi, KubeConfig } from '@kubernetes/client-node'
import { type Widget, widgetClient } from './crds.js'

const widgets = widgetClient(new KubeConfig().makeApiClient(CustomObjectsApi), 'default')
export const created: Promise<Widget> = widgets.create({ metadata: { name: 'a' }, spec: { mode: 'Fast', port: 'http' } })
export const full: Widget['spec'] = { mode: "It's safe", port: 80, 'odd-name': true, labels: { a: 'b' }, parts: [{ name: 'x' }], gone: null, free: { any: 1 }, source: { git: 'x' } }
// @ts-expect-error: not a value of the enum
export const wrongEnum: Widget['spec'] = { mode: 'Slow' }
// @ts-expect-error: mode is required
export const missing: Widget['spec'] = { port: 1 }
// @ts-expect-error: one of them, not both
export const both: Widget['spec'] = { mode: 'Fast', source: { git: 'x', oci: { url: 'y' } } }
// @ts-expect-error: unknown field
export const unknown: Widget['spec'] = { mode: 'Fast', x: 1 }
`

test('TypeScript types compile and mean what the schema says', async () => {
  const root = fileURLToPath(new URL('../../', import.meta.url))
  // Inside the repository, so that the compiler finds @kubernetes/client-node.
  const folder = mkdtempSync(join(root, 'test/authoring/.types-'))
  try {
    writeFileSync(join(folder, 'crds.ts'), printTypeScript(await definitions()))
    writeFileSync(join(folder, 'use.ts'), USE)
    const options = [
      '--noEmit',
      '--ignoreConfig',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--types',
      'node',
    ]
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const { stdout, status } = spawnSync(process.execPath, [compiler, ...options, join(folder, 'use.ts')], {
      encoding: 'utf8',
    })
    expect(stdout).toBe('')
    expect(status).toBe(0)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

interface Nested {
  readonly properties: Readonly<Record<string, Nested>>
  readonly oneOf?: readonly object[]
}

test('JSON Schema has constants, closed objects and nullable types', async () => {
  const [file] = jsonSchemasOf((await definitions())[0]!)
  expect(file!.name).toBe('widget-example.com-v1.json')
  expect(file!.modeline).toBe('# yaml-language-server: $schema=widget-example.com-v1.json')
  const { properties, additionalProperties, required } = file!.schema as unknown as {
    properties: Record<string, Nested>
    additionalProperties: boolean
    required: string[]
  }
  expect(additionalProperties).toBe(false)
  expect(required).toEqual(['apiVersion', 'kind', 'metadata'])
  expect(properties['kind']).toEqual({ type: 'string', const: 'Widget' })
  expect(properties['spec']!.properties['port']).toEqual({ type: ['integer', 'string'] })
  expect(properties['spec']!.properties['gone']).toEqual({ type: ['integer', 'null'] })
  expect(properties['spec']!.properties['free']).toEqual({ type: 'object' })
  expect(properties['spec']!.properties['source']!.oneOf).toEqual([{ required: ['git'] }, { required: ['oci'] }])
})
