import { describe, expect, test } from 'vitest'
import { decodeCbor } from '../codec/cbor/decode.js'
import { splitCborSequence } from '../codec/cbor/sequence.js'
import { widgetKind } from '../kinds/fake-kinds.suite.js'
import { type VersionedKind } from '../kinds/kind.js'
import { expired } from '../meta/errors/status.js'
import type { IncludeObject } from '../meta/table.js'
import { type ObjectView, viewValue } from '../objects/object-view.js'
import { encodeStored, storedHead } from '../objects/stored-object.js'
import { decodeWatchFrames, openEnvelope } from '../types/protobuf/envelope.js'
import { createEventEncoders } from './encode-watch.js'
import { type OutputFormat, PLAIN_JSON } from './output-format.js'

const kind = widgetKind()
const WIDGETS: VersionedKind = { kind, version: kind.versions[0]! }
const OBJECT = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'a', resourceVersion: '7' },
  spec: { color: 'red' },
}
const TABLE: OutputFormat = { ...PLAIN_JSON, as: { kind: 'Table', apiVersion: 'meta.k8s.io/v1' } }

const HEAD = storedHead('example.com/v1', 'Widget')
const encoders = createEventEncoders(() => 0)

const stored = (value: () => typeof OBJECT = () => OBJECT): ObjectView => ({
  entry: { key: '/a', value: encodeStored(OBJECT), revision: 7 },
  head: HEAD,
  value,
})

const encoderOf = (form: OutputFormat, include: IncludeObject = 'Metadata') => encoders.create(WIDGETS, form, include)

const json = (bytes: Buffer) => JSON.parse(bytes.toString())

describe('events as JSON', () => {
  test('are lines, copied from the store', () => {
    const opaque = stored(() => {
      throw new Error('the value must not be read')
    })
    const bytes = encoderOf(PLAIN_JSON).event('MODIFIED', opaque, undefined)
    expect(bytes.toString().endsWith('}}\n')).toBe(true)
    expect(json(bytes)).toEqual({ type: 'MODIFIED', object: OBJECT })
  })

  test('of objects without stored bytes are encoded from their value', () => {
    const bytes = encoderOf(PLAIN_JSON).event('ADDED', viewValue(OBJECT), undefined)
    expect(json(bytes)).toEqual({ type: 'ADDED', object: OBJECT })
  })

  test('are encoded once for all watchers of the same format', () => {
    const source = {}
    const [one, two] = [encoderOf(PLAIN_JSON), encoderOf(PLAIN_JSON)]
    const added = one.event('ADDED', stored(), source)
    expect(two.event('ADDED', stored(), source)).toBe(added)
    // An event may be ADDED for one watcher and MODIFIED for another.
    expect(json(two.event('MODIFIED', stored(), source)).type).toBe('MODIFIED')
    expect(encoderOf(TABLE).event('ADDED', stored(), source)).not.toBe(added)
    expect(two.event('ADDED', stored(), {})).not.toBe(added)
  })

  test('are bookmarks and errors too', () => {
    const encoder = encoderOf(PLAIN_JSON)
    expect(json(encoder.bookmark(9, false))).toEqual({
      type: 'BOOKMARK',
      object: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { resourceVersion: '9' } },
    })
    expect(encoderOf(PLAIN_JSON).bookmark(9, false)).toBe(encoder.bookmark(9, false))
    expect(json(encoder.bookmark(9, true)).object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' })
    expect(json(encoder.error(expired('too old').status))).toMatchObject({ type: 'ERROR', object: { code: 410 } })
  })
})

describe('events as Tables', () => {
  test('have the columns only once', () => {
    const source = {}
    const encoder = encoderOf(TABLE)
    const first = json(encoder.event('ADDED', stored(), source)).object
    expect(first.columnDefinitions).toHaveLength(2)
    const second = json(encoder.event('ADDED', stored(), source)).object
    expect(second).toMatchObject({ columnDefinitions: null, rows: [{ cells: ['a', 'red'] }] })
    expect(second.metadata).toEqual({ resourceVersion: '7' })
    expect(json(encoderOf(TABLE).event('ADDED', stored(), source)).object.columnDefinitions).toHaveLength(2)
  })

  test('have the annotation for the end of the initial events in their row, even without includeObject', () => {
    const encoder = encoderOf(TABLE, 'None')
    const { type, object } = json(encoder.bookmark(9, true))
    expect(type).toBe('BOOKMARK')
    expect(object).toMatchObject({
      kind: 'Table',
      rows: [{ cells: ['', null], object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } } }],
    })
    expect(json(encoder.event('ADDED', stored(), undefined)).object.rows[0].object).toBeNull()
    expect(json(encoder.error(expired('too old').status)).object.kind).toBe('Status')
  })
})

test('events of metadata', () => {
  const form: OutputFormat = { ...PLAIN_JSON, as: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1beta1' } }
  expect(json(encoderOf(form).event('ADDED', stored(), undefined)).object).toEqual({
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1beta1',
    metadata: { name: 'a', resourceVersion: '7' },
  })
})

test('no event is a list', () => {
  const form: OutputFormat = { ...PLAIN_JSON, as: { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' } }
  expect(json(encoderOf(form).event('ADDED', stored(), undefined)).object).toEqual(OBJECT)
})

test('events as CBOR follow one another', () => {
  const encoder = encoderOf({ ...PLAIN_JSON, encoding: 'cbor' })
  const bytes = Buffer.concat([encoder.event('ADDED', stored(), undefined), encoder.bookmark(9, false)])
  const events = splitCborSequence(bytes).frames.map(frame => decodeCbor(frame).value)
  expect(events).toMatchObject([{ type: 'ADDED', object: OBJECT }, { type: 'BOOKMARK' }])
})

test('events as protobuf are frames around envelopes', () => {
  const encoder = encoderOf({
    encoding: 'protobuf',
    as: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' },
    pretty: false,
  })
  const bytes = Buffer.concat([encoder.event('ADDED', stored(), undefined), encoder.error(expired('too old').status)])
  const { events, rest } = decodeWatchFrames(bytes)
  expect(rest).toHaveLength(0)
  expect(events.map(({ type, object }) => [type, openEnvelope(object).kind])).toEqual([
    ['ADDED', 'PartialObjectMetadata'],
    ['ERROR', 'Status'],
  ])
})
