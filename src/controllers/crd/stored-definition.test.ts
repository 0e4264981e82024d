import { describe, expect, test, vi } from 'vitest'
import { specOf, versionsOf } from '../../crd/definition.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import { decodeStored, encodeStored } from '../../objects/stored-object.js'
import { createSchemaMemory } from './schema-memory.js'
import { readDefinition, storedSchemasOf } from './stored-definition.js'

const definition = (...schemas: (ValueObject | undefined)[]): ApiObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com', annotations: { note: '{"schema":{"openAPIV3Schema":{"type":"object"}}}' } },
  spec: {
    group: 'example.com',
    versions: schemas.map(
      (openAPIV3Schema, i): ValueObject =>
        openAPIV3Schema
          ? { name: `v${i}`, schema: { openAPIV3Schema }, served: true }
          : { name: `v${i}`, served: true },
    ),
  },
})
const entryOf = (object: ApiObject) => ({ key: '/x', revision: 7, value: encodeStored(object) })

describe('a stored definition', () => {
  const misleading: ValueObject = {
    type: 'object',
    description: 'ends here: \\"}}}, or { not',
    properties: {
      schema: { type: 'object', properties: { openAPIV3Schema: { type: 'string', default: '{"' } } },
      deep: { default: { schema: { openAPIV3Schema: { type: 'object' } } } },
    },
    maximum: 9007199254740993n,
  }

  test.each<[string, ApiObject]>([
    ['no version', definition()],
    ['no schema', definition(undefined)],
    ['several versions', definition({ type: 'object' }, undefined, misleading, {})],
  ])('with %s reads as any other', (_, object) => {
    const entry = entryOf(object)
    expect(readDefinition(entry)).toEqual(decodeStored(entry))
  })

  test('decodes a schema when it is read, and not before', () => {
    const entry = entryOf(definition({ type: 'object' }, misleading))
    const read = readDefinition(entry)
    // Bytes that have become invalid matter only when the schema is read.
    entry.value.fill('x', entry.value.lastIndexOf('"schema":{"openAPIV3Schema":') + 28)
    expect(specOf(read).group).toBe('example.com')
    expect(versionsOf(read)[0]!.schema?.openAPIV3Schema).toEqual({ type: 'object' })
    expect(() => versionsOf(read)[1]!.schema?.openAPIV3Schema).toThrow(/invalid character/)
  })

  test('that is laid out in another way reads as any other', () => {
    const text = JSON.stringify(definition({ type: 'object' }, misleading.properties as ValueObject), undefined, 1)
    const entry = { key: '/x', revision: 7, value: Buffer.from(text) }
    expect(readDefinition(entry)).toEqual(decodeStored(entry))
  })

  test('whose schemas are compressed reads as before', async () => {
    const entry = entryOf(definition({ type: 'object' }, misleading))
    const read = readDefinition(entry)
    const before = decodeStored({ ...entry, value: Buffer.from(entry.value) })
    for (const schema of storedSchemasOf(read)) await schema.compress()
    entry.value.fill('x') // the bytes are not used anymore
    expect(read).toEqual(before)
    expect(versionsOf(read)[0]!.schema!.written).toEqual(Buffer.from('{"type":"object"}'))
  })
})

describe('the memory of schemas', () => {
  const schema = (size: number) => ({ bytes: Buffer.alloc(size), size, compress: vi.fn(async () => {}) })

  test('compresses the oldest when there are too many bytes', async () => {
    const memory = createSchemaMemory(100)
    const [first, second, third] = [schema(40), schema(40), schema(40)]
    memory.keep('a', [first])
    memory.keep('b', [second])
    expect(first.compress).not.toHaveBeenCalled()
    memory.keep('c', [third])
    await vi.waitFor(() => expect(first.compress).toHaveBeenCalled())
    expect(second.compress).not.toHaveBeenCalled()
    expect(third.compress).not.toHaveBeenCalled()
  })

  test('does not count what was replaced or forgotten', () => {
    const memory = createSchemaMemory(100)
    const all = [schema(60), schema(60), schema(60)]
    memory.keep('a', [all[0]!])
    memory.keep('a', [all[1]!])
    memory.forget('a')
    memory.keep('b', [all[2]!])
    for (const each of all) expect(each.compress).not.toHaveBeenCalled()
  })
})
