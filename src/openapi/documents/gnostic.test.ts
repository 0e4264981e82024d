import { expect, it } from 'vitest'
import {
  newReader,
  type Reader,
  readBool,
  readDouble,
  readInt64,
  readMessage,
  readString,
  readTag,
} from '../../codec/protobuf/wire.js'
import { encodeV2, encodeV3 } from './gnostic.js'

/** The expected fields of a message, by number. */
type Fields = {
  readonly [number: number]: Fields | typeof readString | typeof readBool | typeof readInt64 | typeof readDouble
}

function readFields(reader: Reader, expected: Fields): [number, unknown][] {
  const fields: [number, unknown][] = []
  while (reader.at < reader.end) {
    const { field } = readTag(reader, 'Document')
    const what = expected[field]
    if (what === undefined) throw new Error(`unexpected field ${field}`)
    fields.push([field, typeof what === 'function' ? what(reader) : readFields(readMessage(reader), what)])
  }
  return fields
}

const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

it('a document of version 3 has its schemas, references and extensions', () => {
  const bytes = encodeV3(
    bytesOf({
      openapi: '3.0.0',
      components: {
        schemas: {
          A: {
            type: 'object',
            properties: { b: { $ref: '#/components/schemas/B' }, n: { type: 'integer', minimum: 1.5, default: 2 } },
            'x-kubernetes-map-type': 'atomic',
          },
        },
      },
    }),
  )
  const any = { 2: readString }
  const leaf = { 13: readDouble, 25: readString, 33: { 1: readDouble } }
  const property = { 1: readString, 2: { 1: leaf, 2: { 1: readString } } }
  const schema = { 25: readString, 31: { 1: property }, 36: { 1: readString, 2: any } }
  const fields = { 1: readString, 5: { 1: { 1: { 1: readString, 2: { 1: schema } } } } }
  const properties = [
    [
      1,
      [
        [1, 'b'],
        [2, [[2, [[1, '#/components/schemas/B']]]]],
      ],
    ],
    [
      1,
      [
        [1, 'n'],
        [
          2,
          [
            [
              1,
              [
                [25, 'integer'],
                [13, 1.5],
                [33, [[1, 2]]],
              ],
            ],
          ],
        ],
      ],
    ],
  ]
  const extension = [
    [1, 'x-kubernetes-map-type'],
    [2, [[2, 'atomic\n']]],
  ]
  const own = [
    [25, 'object'],
    [31, properties],
    [36, extension],
  ]
  expect(readFields(newReader(bytes), fields)).toEqual([
    [1, '3.0.0'],
    [
      5,
      [
        [
          1,
          [
            [
              1,
              [
                [1, 'A'],
                [2, [[1, own]]],
              ],
            ],
          ],
        ],
      ],
    ],
  ])
})

it('a document of version 2 has its parameters by location', () => {
  const item = {
    patch: {
      operationId: 'patchA',
      parameters: [{ name: 'body', in: 'body', required: true, schema: { $ref: '#/d/A' } }],
    },
    parameters: [{ $ref: '#/parameters/p' }, { name: 'name', in: 'path', required: true, type: 'string' }],
  }
  const bytes = encodeV2(bytesOf({ swagger: '2.0', paths: { '/a': item } }))
  const body = { 2: readString, 3: readString, 4: readBool, 5: { 1: readString } }
  const path = { 1: readBool, 2: readString, 4: readString, 5: readString }
  const parameter = { 1: { 1: body, 2: { 4: path } }, 2: { 1: readString } }
  const fields = {
    1: readString,
    8: { 2: { 1: readString, 2: { 8: { 5: readString, 8: parameter }, 9: parameter } } },
  }
  const sent = [
    [2, 'body'],
    [3, 'body'],
    [4, true],
    [5, [[1, '#/d/A']]],
  ]
  const named = [
    [4, 'name'],
    [2, 'path'],
    [1, true],
    [5, 'string'],
  ]
  const printed = [
    [
      8,
      [
        [5, 'patchA'],
        [8, [[1, [[1, sent]]]]],
      ],
    ],
    [9, [[2, [[1, '#/parameters/p']]]]],
    [9, [[1, [[2, [[4, named]]]]]]],
  ]
  expect(readFields(newReader(bytes), fields)).toEqual([
    [1, '2.0'],
    [
      8,
      [
        [
          2,
          [
            [1, '/a'],
            [2, printed],
          ],
        ],
      ],
    ],
  ])
})

it.each([
  ['YAML', 5],
  ['JSON', 9_000],
])('an example is %s if it is nested %i deep', (form, depth) => {
  const example = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  const bytes = encodeV3(
    Buffer.from(`{"openapi":"3.0.0","components":{"schemas":{"A":{"type":"object","example":${example}}}}}`),
  )
  expect(bytes.includes(example)).toBe(form === 'JSON')
  // Indented, it would be as long as the square of its depth.
  expect(bytes.length).toBeLessThan(2 * example.length + 1_000)
})
