// The events of a watch as bytes. An event is encoded once for all watchers that want it in the same format; the bytes
// are kept for a while, for those that have not read it yet.

import { encodeCbor } from '../codec/cbor.js'
import { encodeJson, encodeString } from '../codec/json.js'
import type { KindVersion } from '../kinds/kind.js'
import { type VersionedKind } from '../kinds/kind.js'
import type { Status } from '../meta/errors/status.js'
import { type ApiObject } from '../meta/object/api-object.js'
import type { IncludeObject } from '../meta/table.js'
import type { ValueObject } from '../meta/values/value.js'
import type { ObjectView } from '../objects/object-view.js'
import { headOfEvent, splice } from '../objects/splice.js'
import type { Entry, Revision } from '../storage/store.js'
import { encodeWatchFrame } from '../types/protobuf.js'
import { bookmarkObject, type EventType } from '../verbs/watch.js'
import { encodeProtobuf, statusValue } from './encode-value.js'
import type { OutputFormat } from './output-format.js'
import { rowOf, tableHead, transformObject } from './table.js'

export interface EventEncoder {
  /** `source` is what all watchers of the event share. */
  event(type: EventType, shown: ObjectView, source: object | undefined): Buffer
  bookmark(revision: Revision, initial: boolean): Buffer
  error(status: Status): Buffer
}

/** The encoders of all watches of a server. Watches of one version in one format share what they encode. */
export interface EventEncoders {
  create(served: VersionedKind, form: OutputFormat, include: IncludeObject): EventEncoder
}

export function createEventEncoders(now: () => number): EventEncoders {
  const encoded = createEncodedEvents()
  const shared = new WeakMap<KindVersion, Map<string, SharedEncoder>>()
  let nextSlot = 0

  function encoderFor(served: VersionedKind, form: OutputFormat, include: IncludeObject): SharedEncoder {
    const { encoding, as } = form
    const name = as ? `${encoding} ${as.kind} ${as.apiVersion} ${include}` : encoding
    let encoders = shared.get(served.version)
    if (!encoders) shared.set(served.version, (encoders = new Map()))
    let encoder = encoders.get(name)
    if (!encoder) {
      encoder = createSharedEncoder(served, form, include, nextSlot)
      nextSlot += SLOTS
      encoders.set(name, encoder)
    }
    return encoder
  }

  return {
    create: (served, form, include) => createEventEncoder(form, encoderFor(served, form, include), encoded, now),
  }
}

/** An encoder for one watch: the first event of a Table has the columns, the others have not. */
function createEventEncoder(
  form: OutputFormat,
  encoder: SharedEncoder,
  encoded: EncodedEvents,
  now: () => number,
): EventEncoder {
  const isTable = form.as?.kind === 'Table'
  let first = isTable
  return {
    event(type, shown, source) {
      const withColumns = first
      first = false
      const slot = encoder.slots[type] + (withColumns ? 1 : 0)
      if (source === undefined) return encoder.encode(type, shown, withColumns, now)
      const known = encoded.get(source, slot)
      if (known) return known
      const bytes = encoder.encode(type, shown, withColumns, now)
      encoded.set(source, slot, bytes)
      return bytes
    },
    bookmark(revision, initial) {
      const withColumns = first
      first = false
      return encoder.bookmark(revision, initial, withColumns, now)
    },
    error: status => frame(form, 'ERROR', statusValue(status)),
  }
}

/** The bytes of events, by the slot of their format and type. */
interface EncodedEvents {
  get(source: object, slot: number): Buffer | undefined
  set(source: object, slot: number, bytes: Buffer): void
}

/** So many bytes are kept, and as many of the events before them. */
const KEPT_BYTES = 2 * 1024 * 1024

function createEncodedEvents(): EncodedEvents {
  type Encoded = WeakMap<object, Map<number, Buffer>>
  let young: Encoded = new WeakMap()
  let old: Encoded = young
  let youngBytes = 0
  /** The last ones asked for: an event is sent to one watcher after the other. */
  let latest: { readonly source: object; readonly slot: number; readonly bytes: Buffer } | undefined
  return {
    get(source, slot) {
      if (latest && latest.source === source && latest.slot === slot) return latest.bytes
      const bytes = young.get(source)?.get(slot) ?? old.get(source)?.get(slot)
      if (bytes) latest = { source, slot, bytes }
      return bytes
    },
    set(source, slot, bytes) {
      if (youngBytes > KEPT_BYTES) {
        old = young
        young = new WeakMap()
        youngBytes = 0
      }
      let slots = young.get(source)
      if (!slots) young.set(source, (slots = new Map()))
      slots.set(slot, bytes)
      youngBytes += bytes.length
      latest = { source, slot, bytes }
    },
  }
}

interface SharedEncoder {
  readonly slots: Readonly<Record<EventType, number>>
  encode(type: EventType, shown: ObjectView, withColumns: boolean, now: () => number): Buffer
  bookmark(revision: Revision, initial: boolean, withColumns: boolean, now: () => number): Buffer
}

/** Two for each type of event: with and without the columns of a Table. */
const SLOTS = 6

function createSharedEncoder(
  served: VersionedKind,
  form: OutputFormat,
  include: IncludeObject,
  firstSlot: number,
): SharedEncoder {
  const slots = { ADDED: firstSlot, MODIFIED: firstSlot + 2, DELETED: firstSlot + 4 }
  const copy = form.encoding === 'json' && !form.as ? createCopier() : undefined
  let latest: { readonly name: string; readonly bytes: Buffer } | undefined
  return {
    slots,
    encode(type, shown, withColumns, now) {
      if (copy && shown.entry) return copy(type, shown.entry, shown.head)
      return frame(form, type, show(served, form, include, shown.value(), withColumns, now))
    },
    // Watches that wait for the same get the same bookmark.
    bookmark(revision, initial, withColumns, now) {
      const name = `${revision} ${initial} ${withColumns}`
      if (latest?.name === name) return latest.bytes
      const object = bookmarkObject(served, revision, initial)
      // The annotation for the end of the initial events is in the object of the row, so that the row must have one.
      const shown = show(served, form, include === 'None' ? 'Metadata' : include, object, withColumns, now)
      latest = { name, bytes: frame(form, 'BOOKMARK', shown) }
      return latest.bytes
    },
  }
}

function show(
  served: VersionedKind,
  { as }: OutputFormat,
  include: IncludeObject,
  object: ApiObject,
  withColumns: boolean,
  now: () => number,
): ValueObject {
  // An event is no list, so that it is sent as it is.
  if (!as || as.kind === 'PartialObjectMetadataList') return object
  if (as.kind !== 'Table' || withColumns) return transformObject(object, as, served.version, include, now())
  const { resourceVersion } = object.metadata
  const metadata = typeof resourceVersion === 'string' ? { resourceVersion } : {}
  return { ...tableHead(as, null, metadata), rows: [rowOf(object, as, served.version, include, now())] }
}

const CLOSING = Buffer.from('}\n')

/** Puts the stored bytes of an object into an event without parsing them. */
function createCopier(): (type: EventType, entry: Entry, head: Buffer) => Buffer {
  // All objects of a version begin with the same bytes.
  let head: Buffer | undefined
  let openings: Partial<Record<EventType, Buffer>> = {}
  return (type, entry, itsHead) => {
    if (itsHead !== head) {
      head = itsHead
      openings = {}
    }
    openings[type] ??= headOfEvent(type, head)
    return splice(entry, head, openings[type], CLOSING)
  }
}

/** One event in the framing of the encoding's stream. */
function frame({ encoding }: OutputFormat, type: string, object: ValueObject): Buffer {
  switch (encoding) {
    case 'json':
      return Buffer.from(`{"type":${encodeString(type)},"object":${encodeJson(object)}}\n`)
    case 'cbor':
      return encodeCbor({ type, object })
    case 'protobuf':
      return encodeWatchFrame(type, encodeProtobuf(object))
    case 'yaml':
      throw new TypeError('a watch has no form in YAML')
  }
}
