import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { readStoredMetadata } from './stored-metadata.js'
import { encodeStored, storedHead } from './stored-object.js'

const HEAD = storedHead('v1', 'Thing')

test('finds the labels among any other metadata', () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom('ü', '\u{1f600}', '\u2028', '"', '\\', '{"labels":{"a":"b"}}', ']}', '\\"'),
  )
  const labels = fc.dictionary(text, text, { noNullPrototype: true })
  const other = fc.jsonValue({ maxDepth: 3 })
  const metadata = fc.record(
    {
      annotations: labels,
      labels,
      deletionTimestamp: text,
      managedFields: other,
      name: text,
      generation: fc.integer(),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  fc.assert(
    fc.property(metadata, other, (meta, spec) => {
      const wellFormed = JSON.parse(JSON.stringify(meta)) as typeof meta
      const bytes = encodeStored({ apiVersion: 'v1', kind: 'Thing', metadata: wellFormed, spec } as never)
      expect(readStoredMetadata(bytes, HEAD.length)).toEqual({
        labels: wellFormed.labels ?? {},
        isTerminating: wellFormed.deletionTimestamp !== undefined,
      })
    }),
  )
})

test.each(['', '"name"', '"name":"a', '"labels":{"a":"b"', 'x', '"name":"a",', '"name":"a"x'])(
  'metadata that end too early or are no JSON are not read: %s',
  text => expect(readStoredMetadata(Buffer.concat([HEAD, Buffer.from(text)]), HEAD.length)).toBeUndefined(),
)
