import { describe, expect, test } from 'vitest'
import { specOf, versionsOf } from '../../crd/definition.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import { decodeStored, encodeStored } from '../../objects/stored-object.js'
import { readDefinition } from './stored-definition.js'

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
})
