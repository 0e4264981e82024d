// The events of a watch as bytes. An event is encoded once for all watchers that want it in the same form: what was
// made is kept by the event itself, and goes when it goes.

import { encodeCbor } from '../codec/cbor.js'
import { encodeJson, encodeString } from '../codec/json.js'
import type { KindVersion } from '../kinds/kind.js'
import { type VersionedKind } from '../kinds/kind.js'
import type { Status } from '../meta/errors/status.js'
import { type ApiObject } from '../meta/object/api-object.js'
import type { IncludeObject } from '../meta/table.js'
import type { ValueObject } from '../meta/values/value.js'
import { headOf, type ObjectView } from '../objects/object-view.js'
import type { Entry, Revision } from '../storage/store.js'
import { encodeWatchFrame } from '../types/protobuf.js'
import { bookmarkObject, type EventType } from '../verbs/watch.js'
import { encodeProtobuf, statusValue } from './encode-value.js'
import type { Form } from './output-format.js'
import { headOfEvent, splice } from './splice.js'
import { rowOf, tableHead, transformObject } from './table.js'

export interface EventEncoder {
  /** `source` is what all watchers of the event share. */
  event(type: EventType, shown: ObjectView, source: object | undefined): Buffer
  bookmark(revision: Revision, initial: boolean): Buffer
  error(status: Status): Buffer
}

/** An encoder for one watch: in a Table, what comes first differs from the rest. */
export function createEventEncoder(
  served: VersionedKind,
  form: Form,
  include: IncludeObject,
  now: () => number,
): EventEncoder {
  const encoder = encoderFor(served, form, include)
  const isTable = form.as?.kind === 'Table'
  let first = isTable
  return {
    event(type, shown, source) {
      const withColumns = first
      first = false
      const slot = encoder.slots[type] + (withColumns ? 1 : 0)
      if (source === undefined) return encoder.encode(type, shown, withColumns, now)
      let kept = encoded.get(source)
      if (!kept) {
        kept = new Map()
        encoded.set(source, kept)
      }
      let bytes = kept.get(slot)
      if (!bytes) {
        bytes = encoder.encode(type, shown, withColumns, now)
        kept.set(slot, bytes)
      }
      return bytes
    },
    bookmark(revision, initial) {
      const withColumns = first
      first = false
      return encoder.bookmark(bookmarkObject(served, revision, initial), withColumns, now)
    },
    error: status => frame(form, 'ERROR', statusValue(status)),
  }
}

/** By event, then by the slot of the form and type. */
const encoded = new WeakMap<object, Map<number, Buffer>>()

interface SharedEncoder {
  readonly slots: Readonly<Record<EventType, number>>
  encode(type: EventType, shown: ObjectView, withColumns: boolean, now: () => number): Buffer
  bookmark(object: ApiObject, withColumns: boolean, now: () => number): Buffer
}

/** What all watches of one version in one form have in common, the numbers of their slots above all. */
const shared = new WeakMap<KindVersion, Map<string, SharedEncoder>>()
let nextSlot = 0

function encoderFor(served: VersionedKind, form: Form, include: IncludeObject): SharedEncoder {
  const { encoding, as } = form
  const name = as ? `${encoding} ${as.kind} ${as.apiVersion} ${include}` : encoding
  let known = shared.get(served.version)
  if (!known) {
    known = new Map()
    shared.set(served.version, known)
  }
  let encoder = known.get(name)
  if (!encoder) {
    encoder = createSharedEncoder(served, form, include)
    known.set(name, encoder)
  }
  return encoder
}

function createSharedEncoder(served: VersionedKind, form: Form, include: IncludeObject): SharedEncoder {
  const slots = { ADDED: nextSlot, MODIFIED: nextSlot + 2, DELETED: nextSlot + 4 }
  nextSlot += 6
  const copy = form.encoding === 'json' && !form.as ? copier(served) : undefined
  return {
    slots,
    encode(type, shown, withColumns, now) {
      if (copy && shown.entry) return copy(type, shown.entry)
      return frame(form, type, show(served, form, include, shown.value(), withColumns, now))
    },
    // Whoever waits for the end of the initial events finds it in the object of the row.
    bookmark: (object, withColumns, now) =>
      frame(form, 'BOOKMARK', show(served, form, include === 'None' ? 'Metadata' : include, object, withColumns, now)),
  }
}

function show(
  served: VersionedKind,
  { as }: Form,
  include: IncludeObject,
  object: ApiObject,
  withColumns: boolean,
  now: () => number,
): ValueObject {
  // No event is a list: it is shown as it is.
  if (!as || as.kind === 'PartialObjectMetadataList') return object
  if (as.kind !== 'Table' || withColumns) return transformObject(object, as, served.version, include, now())
  const { resourceVersion } = object.metadata
  const metadata = typeof resourceVersion === 'string' ? { resourceVersion } : {}
  return { ...tableHead(as, null, metadata), rows: [rowOf(object, as, served.version, include, now())] }
}

const CLOSING = Buffer.from('}\n')

/** Puts the stored bytes of an object into an event without parsing them. */
function copier(served: VersionedKind): (type: EventType, entry: Entry) => Buffer {
  const head = headOf(served)
  const openings = {
    ADDED: headOfEvent('ADDED', served),
    MODIFIED: headOfEvent('MODIFIED', served),
    DELETED: headOfEvent('DELETED', served),
  }
  return (type, entry) => splice(entry, head, openings[type], CLOSING)
}

/** An event with its object, as the stream of the encoding has it. */
function frame({ encoding }: Form, type: string, object: ValueObject): Buffer {
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
