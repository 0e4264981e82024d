import { describe, expect, test } from 'vitest'
import { decodeCbor } from '../codec/cbor/decode.js'
import { noteKind, widgetKind } from '../kinds/fake-kinds.suite.js'
import type { Kind } from '../kinds/kind.js'
import { type VersionedKind } from '../kinds/kind.js'
import { notFound } from '../meta/errors/status.js'
import { type ApiObject } from '../meta/object/api-object.js'
import type { Value } from '../meta/values/value.js'
import type { ListPiece, PieceForm } from '../objects/object-store.js'
import { type ObjectView, viewValue } from '../objects/object-view.js'
import { encodeStored, storedHead } from '../objects/stored-object.js'
import type { KeepItems, KeptItems, ListResult, Result } from '../verbs/result.js'
import { KEPT_BYTES } from './encode-list-pieces.js'
import { encodeResult, encodeStatus } from './encode-result.js'
import { encodeValue } from './encode-value.js'
import { type OutputFormat, PLAIN_JSON } from './output-format.js'

const NOW = Date.parse('2030-01-01T00:00:00Z')
const V1 = 'meta.k8s.io/v1'
const BETA = 'meta.k8s.io/v1beta1'
const TABLE: OutputFormat = { ...PLAIN_JSON, as: { kind: 'Table', apiVersion: V1 } }
const METADATA: OutputFormat = { ...PLAIN_JSON, as: { kind: 'PartialObjectMetadata', apiVersion: V1 } }
const METADATA_LIST: OutputFormat = { ...PLAIN_JSON, as: { kind: 'PartialObjectMetadataList', apiVersion: V1 } }

const served = (kind: Kind): VersionedKind => ({ kind, version: kind.versions[0]! })
const WIDGETS = served(widgetKind())
const NOTES = served(noteKind())

const objectOf = ({ kind }: VersionedKind, name: string): ApiObject => ({
  apiVersion: kind.storedAs,
  kind: kind.names.kind,
  metadata: { name, labels: { l: 'x' }, resourceVersion: '7' },
  spec: { color: 'red' },
})

/** A view with stored bytes; if it is `opaque`, its value must not be read. */
function stored(of: VersionedKind, name: string, opaque = false): ObjectView {
  const object = objectOf(of, name)
  return {
    entry: { key: `/x/${name}`, value: encodeStored(object), revision: 7 },
    head: storedHead(object.apiVersion, object.kind),
    value() {
      if (opaque) throw new Error('the value must not be read')
      return object
    },
  }
}

const objectAnswer = (of: VersionedKind, object: ObjectView): Result => ({
  type: 'object',
  status: 200,
  versioned: of,
  object,
})

const listAnswer = (of: VersionedKind, pages: readonly ObjectView[][], more: Partial<ListResult> = {}): ListResult => ({
  type: 'list',
  status: 200,
  versioned: of,
  revision: 9,
  pages: (async function* () {
    yield* pages
  })(),
  ...more,
})

async function bytesOf(answer: Result, form: OutputFormat, query = ''): Promise<Buffer> {
  const { body } = encodeResult(answer, form, new URLSearchParams(query), NOW)
  if (Buffer.isBuffer(body)) return body
  const pieces: Buffer[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces)
}

const textOf = async (answer: Result, form: OutputFormat = PLAIN_JSON, query = ''): Promise<string> =>
  (await bytesOf(answer, form, query)).toString()

const jsonOf = async (answer: Result, form: OutputFormat = PLAIN_JSON, query = '') =>
  JSON.parse(await textOf(answer, form, query))

describe('one object', () => {
  test('is copied from the store without parsing', async () => {
    const text = await textOf(objectAnswer(WIDGETS, stored(WIDGETS, 'a', true)))
    expect(text).toBe(
      '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"resourceVersion":"7","name":"a","labels":{"l":"x"}},"spec":{"color":"red"}}\n',
    )
  })

  test('without stored bytes is encoded from its value', async () => {
    expect(await jsonOf(objectAnswer(WIDGETS, viewValue(objectOf(WIDGETS, 'a'))))).toEqual(objectOf(WIDGETS, 'a'))
  })

  test('is indented on request, without a newline at its end', async () => {
    const text = await textOf(objectAnswer(WIDGETS, stored(WIDGETS, 'a')), { ...PLAIN_JSON, pretty: true })
    expect(text).toBe(JSON.stringify(objectOf(WIDGETS, 'a'), null, 2))
  })

  test('is encoded in other encodings', async () => {
    const answer = objectAnswer(WIDGETS, stored(WIDGETS, 'a'))
    expect(await textOf(answer, { ...PLAIN_JSON, encoding: 'yaml' })).toContain('kind: Widget\nmetadata:\n')
    const cbor = await bytesOf(answer, { ...PLAIN_JSON, encoding: 'cbor' })
    expect(decodeCbor(cbor).value).toEqual(objectOf(WIDGETS, 'a'))
  })

  test.each([
    ['YAML', { ...PLAIN_JSON, encoding: 'yaml' as const }],
    ['indented JSON', { ...PLAIN_JSON, pretty: true }],
  ])('that is deep comes in pieces in %s', async (_, form) => {
    // Each of the 60,000 lines is indented by 18,000 characters: 1 GB.
    let deep: Value = Array<Value>(60_000).fill(1)
    for (let i = 0; i < 9_000; i++) deep = { a: deep }
    const object = { ...objectOf(WIDGETS, 'a'), spec: deep }
    const { body } = encodeResult(objectAnswer(WIDGETS, viewValue(object)), form, new URLSearchParams(), NOW)
    let length = 0
    for await (const piece of body as AsyncIterable<Buffer>) {
      expect(piece.length).toBeLessThan(256 * 1024)
      length += piece.length
      if (length > 4 * 1024 * 1024) break
    }
    expect(length).toBeGreaterThan(4 * 1024 * 1024)
  })

  test('as a Table has one row', async () => {
    const answer = objectAnswer(WIDGETS, stored(WIDGETS, 'a'))
    expect(await jsonOf(answer, TABLE)).toEqual({
      kind: 'Table',
      apiVersion: V1,
      metadata: { resourceVersion: '7' },
      columnDefinitions: WIDGETS.version.columns,
      rows: [
        {
          cells: ['a', 'red'],
          object: {
            kind: 'PartialObjectMetadata',
            apiVersion: V1,
            metadata: { name: 'a', resourceVersion: '7', labels: { l: 'x' } },
          },
        },
      ],
    })
    const beta: OutputFormat = { ...TABLE, as: { kind: 'Table', apiVersion: BETA } }
    expect(await jsonOf(answer, beta)).toMatchObject({ apiVersion: BETA, rows: [{ object: { apiVersion: BETA } }] })
  })

  test.each([
    ['None', null],
    ['Object', objectOf(WIDGETS, 'a')],
  ])('in a row with includeObject=%s', async (include, object) => {
    const answer = objectAnswer(WIDGETS, stored(WIDGETS, 'a'))
    expect((await jsonOf(answer, TABLE, `includeObject=${include}`)).rows[0].object).toEqual(object)
  })

  test('in a row is refused for an unknown includeObject', async () => {
    const answer = objectAnswer(WIDGETS, stored(WIDGETS, 'a'))
    await expect(textOf(answer, TABLE, 'includeObject=All')).rejects.toThrow('Unable to convert to Table as requested')
    expect(await jsonOf(answer, PLAIN_JSON, 'includeObject=All')).toMatchObject({ kind: 'Widget' })
  })

  test('may be PartialObjectMetadata, but not its list', async () => {
    const answer = objectAnswer(WIDGETS, stored(WIDGETS, 'a'))
    expect(await jsonOf(answer, METADATA)).toEqual({
      kind: 'PartialObjectMetadata',
      apiVersion: V1,
      metadata: { name: 'a', resourceVersion: '7', labels: { l: 'x' } },
    })
    await expect(textOf(answer, METADATA_LIST)).rejects.toThrow('content is not a list')
    await expect(textOf(objectAnswer(NOTES, stored(NOTES, 'a')), METADATA_LIST)).rejects.toThrow(
      'you requested PartialObjectMetadataList, but the requested object is not a list (*core.Note)',
    )
  })

  test('that is a Scale has its own columns', async () => {
    const object = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' }, spec: { replicas: 3 } }
    const answer: Result = { type: 'scale', status: 200, object }
    expect(await jsonOf(answer)).toEqual(object)
    expect((await jsonOf(answer, TABLE)).rows[0].cells).toEqual(['a', 3, 0, '<unknown>'])
  })
})

describe('a list in pieces', () => {
  /** What the pieces of a list must be together: the encoding of the whole value. */
  const whole = async (list: () => ListResult, encoding: OutputFormat['encoding'], as?: OutputFormat['as']) =>
    encodeValue(await jsonOf(list(), { ...PLAIN_JSON, as }), { encoding, pretty: false })

  const configMap = (name: string, data: string): ObjectView =>
    viewValue({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { text: data, empty: '' } })
  const MAPS = {
    kind: { ...NOTES.kind, names: { ...NOTES.kind.names, listKind: 'ConfigMapList' } },
    version: NOTES.version,
  }

  test.each(['yaml', 'cbor'] as const)('is the same as the whole in %s', async encoding => {
    const text = 'a\n\n  items: []\nb: "c"'
    const lists = [
      () => listAnswer(WIDGETS, [[stored(WIDGETS, 'a')], [], [stored(WIDGETS, 'b'), configMap(text, text)]]),
      () => listAnswer(WIDGETS, [[]]),
      () => listAnswer(NOTES, [[stored(NOTES, 'a')]], { continueToken: 'next', remaining: 2 }),
    ]
    for (const list of lists) {
      for (const { as } of [PLAIN_JSON, TABLE, METADATA_LIST]) {
        const pieces = await bytesOf(list(), { ...PLAIN_JSON, encoding, as })
        expect(pieces.toString('latin1')).toBe((await whole(list, encoding, as)).toString('latin1'))
      }
    }
  })

  test('is the same as the whole in protobuf', async () => {
    const list = () => listAnswer(MAPS, [[configMap('a', 'x'.repeat(300)), configMap('b', '')], [configMap('c', 'y')]])
    const pieces = await bytesOf(list(), { ...PLAIN_JSON, encoding: 'protobuf' })
    expect(pieces.toString('latin1')).toBe((await whole(list, 'protobuf')).toString('latin1'))
    const empty = () => listAnswer(MAPS, [])
    expect(await bytesOf(empty(), { ...PLAIN_JSON, encoding: 'protobuf' })).toEqual(await whole(empty, 'protobuf'))
  })

  test.each(['cbor', 'protobuf'] as const)(
    'is read twice in %s if it is long, and keeps its first items only',
    async encoding => {
      const page = Array.from({ length: 8 }, (_, i) => configMap(`m${i}`, 'x'.repeat(KEPT_BYTES / 4)))
      let [read, values] = [0, 0]
      const counted = page.map(view => ({ ...view, value: () => (values++, view.value()) }))
      const pages: ListResult['pages'] = {
        async *[Symbol.asyncIterator]() {
          read++
          yield counted
        },
      }
      const pieces = await bytesOf(listAnswer(MAPS, [], { pages }), { ...PLAIN_JSON, encoding })
      expect(pieces.equals(await whole(() => listAnswer(MAPS, [page]), encoding))).toBe(true)
      // CBOR needs the number of the later items only, protobuf their length.
      expect([read, values]).toEqual([2, encoding === 'cbor' ? 8 : 12])
    },
  )

  test('ends with an error if the second reading differs from the first', async () => {
    let size = KEPT_BYTES
    const pages: ListResult['pages'] = {
      async *[Symbol.asyncIterator]() {
        yield [configMap('a', 'x'.repeat(KEPT_BYTES)), configMap('b', 'x'.repeat(size--))]
      },
    }
    const answer = listAnswer(MAPS, [], { pages })
    await expect(bytesOf(answer, { ...PLAIN_JSON, encoding: 'protobuf' })).rejects.toThrow('has changed')
  })
})

describe('a list', () => {
  test('of custom objects has an empty continue, and items with apiVersion and kind', async () => {
    const list = listAnswer(WIDGETS, [[stored(WIDGETS, 'a', true)], [], [stored(WIDGETS, 'b', true)]])
    expect(await jsonOf(list)).toEqual({
      kind: 'WidgetList',
      apiVersion: 'example.com/v1',
      metadata: { continue: '', resourceVersion: '9' },
      items: [objectOf(WIDGETS, 'a'), objectOf(WIDGETS, 'b')],
    })
  })

  test('of built-in objects omits both', async () => {
    const { kind: _, apiVersion: __, ...bare } = objectOf(NOTES, 'a')
    const list = listAnswer(NOTES, [[stored(NOTES, 'a', true), viewValue(objectOf(NOTES, 'a'))]])
    expect(await jsonOf(list)).toEqual({
      kind: 'NoteList',
      apiVersion: 'v1',
      metadata: { resourceVersion: '9' },
      items: [bare, bare],
    })
  })

  test.each([WIDGETS, NOTES])('has its continue token', async of => {
    const list = listAnswer(of, [[stored(of, 'a')]], { continueToken: 'next', remaining: 2 })
    const metadata = { resourceVersion: '9', continue: 'next', remainingItemCount: 2 }
    expect((await jsonOf(list)).metadata).toEqual(metadata)
    const table = listAnswer(of, [[stored(of, 'a')]], { continueToken: 'next', remaining: 2 })
    expect((await jsonOf(table, TABLE)).metadata).toEqual(metadata)
  })

  test('that is empty has an empty list of items, or null as metadata', async () => {
    expect(await textOf(listAnswer(NOTES, []))).toBe(
      '{"kind":"NoteList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]}\n',
    )
    expect((await jsonOf(listAnswer(WIDGETS, [[]]), TABLE)).rows).toEqual([])
    expect((await jsonOf(listAnswer(WIDGETS, [[]]), METADATA_LIST)).items).toBeNull()
    const plain = { ...WIDGETS, kind: { ...WIDGETS.kind, traits: { ...WIDGETS.kind.traits, nullEmptyRows: true } } }
    expect((await jsonOf(listAnswer(plain, [[]]), TABLE)).rows).toBeNull()
  })

  test('of metadata, or as a Table', async () => {
    const items = [[stored(WIDGETS, 'a')], [stored(WIDGETS, 'b')]]
    const metadata = await jsonOf(listAnswer(WIDGETS, items), METADATA_LIST)
    expect(metadata).toMatchObject({ kind: 'PartialObjectMetadataList', metadata: { resourceVersion: '9' } })
    expect(metadata.items).toMatchObject([{ kind: 'PartialObjectMetadata', metadata: { name: 'a' } }, {}])
    const table = await jsonOf(listAnswer(WIDGETS, items), TABLE, 'includeObject=None')
    expect(table.rows).toEqual([
      { cells: ['a', 'red'], object: null },
      { cells: ['b', 'red'], object: null },
    ])
  })

  test('is not one object', async () => {
    expect(() => encodeResult(listAnswer(WIDGETS, []), METADATA, new URLSearchParams(), NOW)).toThrow(
      'you requested PartialObjectMetadata, but the requested object is a list (*unstructured.UnstructuredList)',
    )
  })

  test('is the same in every encoding', async () => {
    const list = () => listAnswer(NOTES, [[stored(NOTES, 'a')], [stored(NOTES, 'b')]])
    const value = await jsonOf(list())
    expect(decodeCbor(await bytesOf(list(), { ...PLAIN_JSON, encoding: 'cbor' })).value).toEqual(value)
    const pretty = await textOf(list(), { ...PLAIN_JSON, pretty: true })
    expect(JSON.parse(pretty).items).toHaveLength(2)
    expect(pretty).toBe(JSON.stringify(JSON.parse(pretty), null, 2))
    expect(await textOf(listAnswer(NOTES, []), { ...PLAIN_JSON, pretty: true })).toMatch(/"items": \[\]\n}$/)
  })

  test('is encoded in pieces of limited size', async () => {
    const large = viewValue({ ...objectOf(WIDGETS, 'a'), spec: { text: 'x'.repeat(100_000) } })
    const { body } = encodeResult(listAnswer(WIDGETS, [[large, large, large]]), PLAIN_JSON, new URLSearchParams(), NOW)
    const sizes: number[] = []
    for await (const piece of body as AsyncIterable<Buffer>) sizes.push(piece.length)
    expect(sizes.length).toBeGreaterThanOrEqual(3)
    expect(Math.max(...sizes)).toBeLessThan(110_000)
  })
})

describe('a list of which the items are kept', () => {
  /** Nothing is read from the store. */
  const unread: ListResult['pages'] = {
    [Symbol.asyncIterator]() {
      throw new Error('the list must not be read')
    },
  }

  /** Gathers up to 16 MiB. */
  const keeper = (keep: (pieces: readonly ListPiece[]) => KeptItems, tooMany: () => unknown = () => {}): KeepItems =>
    Object.assign(keep, {
      gather(drop: () => void) {
        let left = 16 * 1024 * 1024
        const add = (bytes: number): void => {
          left -= bytes
          if (left >= 0) return
          drop()
          tooMany()
        }
        return { add, end: () => {} }
      },
    })

  test.each([TABLE, METADATA_LIST, { ...PLAIN_JSON, encoding: 'cbor' as const }])(
    'is encoded once in each format: %o',
    async form => {
      const items = [[stored(WIDGETS, 'a'), stored(WIDGETS, 'b')]]
      const expected = await bytesOf(listAnswer(WIDGETS, items), form)
      let pieces: readonly ListPiece[] = []
      const keep = keeper(all => ({ pieces: (pieces = all), addForm: () => {} }))
      await bytesOf(
        listAnswer(WIDGETS, [[stored(WIDGETS, 'a', true), stored(WIDGETS, 'b', true)]], { keep }),
        PLAIN_JSON,
      )
      const made: PieceForm[] = []
      const addForm: KeptItems['addForm'] = (piece, name, each) => {
        piece.forms = new Map([[name, each]])
        made.push(each)
      }
      for (let i = 0; i < 3; i++) {
        const answer = listAnswer(WIDGETS, [], { pages: unread, kept: { pieces, addForm } })
        expect((await bytesOf(answer, form)).equals(expected)).toBe(true)
      }
      expect(made).toHaveLength(1)
    },
  )

  test('is read where none are kept in the format', async () => {
    const kept = { pieces: [], addForm: () => {} }
    const list = listAnswer(WIDGETS, [[stored(WIDGETS, 'a')]], { kept })
    expect(await textOf(list, { ...PLAIN_JSON, encoding: 'yaml' })).toContain('name: a')
  })

  test('is kept as JSON by a request for a Table, unless it is too long', async () => {
    const items = [stored(WIDGETS, 'a')]
    const large = { ...stored(WIDGETS, 'b').entry!, value: encodeStored(largeWidget) }
    for (const [pages, isKept] of [
      [[items], true],
      [[items, Array.from({ length: 18 }, () => ({ ...items[0]!, entry: large }))], false],
    ] as const) {
      let count = 0
      let isTooLong = false
      const keep = keeper(
        pieces => ({ pieces, addForm: () => count++ }),
        () => (isTooLong = true),
      )
      const answer = listAnswer(WIDGETS, [], {
        keep,
        pages: { [Symbol.asyncIterator]: () => pages.values() as unknown as AsyncIterator<readonly ObjectView[]> },
      })
      expect((await jsonOf(answer, TABLE)).rows).toHaveLength(isKept ? 1 : 19)
      expect([count, isTooLong]).toEqual(isKept ? [1, false] : [0, true])
    }
  })
})

const largeWidget = { ...objectOf(WIDGETS, 'b'), spec: { text: 'x'.repeat(1024 * 1024) } }

describe('a Status', () => {
  const { status } = notFound({ group: '', resource: 'notes' }, 'a')

  test('is encoded in the requested encoding, and never converted', async () => {
    const answer: Result = { type: 'status', status: 200, body: status }
    expect(await jsonOf(answer, TABLE)).toMatchObject({ kind: 'Status', code: 404 })
    expect(encodeStatus(status, { ...PLAIN_JSON, encoding: 'yaml' }).body.toString()).toContain('reason: NotFound')
  })

  test('is indented JSON if no format was negotiated', () => {
    const { mediaType, body } = encodeStatus(status, undefined)
    expect([mediaType, body.toString()]).toEqual(['application/json', JSON.stringify(status, null, 2)])
  })

  test('as protobuf is what kube-apiserver sends', () => {
    const { body } = encodeStatus(notFound({ group: '', resource: 'configmaps' }, 'none').status, {
      ...PLAIN_JSON,
      encoding: 'protobuf',
    })
    expect(body.toString('base64')).toBe(
      'azhzAAoMCgJ2MRIGU3RhdHVzElUKBgoAEgAaABIHRmFpbHVyZRobY29uZmlnbWFwcyAibm9uZSIgbm90IGZvdW5kIghOb3RGb3VuZCoYCgRub25lEgAaCmNvbmZpZ21hcHMoADIAMJQDGgAiAA==',
    )
  })
})
