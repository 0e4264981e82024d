// Kubernetes' protobuf format: four magic bytes and an envelope with the kind of the message; watch events are frames,
// each with its length before it.

import type { InternedParts } from '../../codec/json.js'
import {
  BYTES,
  newReader,
  newWriter,
  type Reader,
  readBytes,
  readMessage,
  readString,
  readTag,
  skipField,
  writeBytes,
  writeMessage,
  writeString,
  writeTag,
  writeVarint,
  written,
} from '../../codec/protobuf.js'
import { normalApiVersion } from '../../meta/group-version.js'
import { getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import type { Types } from '../type.js'
import { decodeMessage, encodeMessage, ProtobufError } from './message.js'

export interface Envelope {
  readonly apiVersion: string
  readonly kind: string
  readonly raw: Uint8Array
  readonly contentEncoding: string
  readonly contentType: string
}

const MAGIC = Buffer.from('k8s\0', 'latin1')

/** Whether bytes begin as an envelope does. */
export const isEnvelope = (bytes: Uint8Array): boolean => MAGIC.equals(bytes.subarray(0, MAGIC.length))

/** Opens an envelope. Throws a ProtobufError with Kubernetes' messages. */
export function openEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length === 0) throw new ProtobufError('empty data')
  if (!isEnvelope(bytes)) {
    throw new ProtobufError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]')
  }
  if (bytes.length === MAGIC.length) throw new ProtobufError('empty body')
  const reader = newReader(bytes.subarray(MAGIC.length))
  const envelope = {
    apiVersion: '',
    kind: '',
    raw: new Uint8Array() as Uint8Array,
    contentEncoding: '',
    contentType: '',
  }
  while (reader.at < reader.end) {
    const { field, wire } = readTag(reader, 'Unknown')
    if (wire !== BYTES || field > 4) {
      if (field <= 4) throw new ProtobufError(`proto: wrong wireType = ${wire} for field ${UNKNOWN_FIELDS[field - 1]}`)
      skipField(reader, wire)
    } else if (field === 1) readTypeMeta(readMessage(reader), envelope)
    else if (field === 2) envelope.raw = readBytes(reader)
    else if (field === 3) envelope.contentEncoding = readString(reader)
    else envelope.contentType = readString(reader)
  }
  return envelope
}

const UNKNOWN_FIELDS = ['TypeMeta', 'Raw', 'ContentEncoding', 'ContentType']

function readTypeMeta(reader: Reader, into: { apiVersion: string; kind: string }): void {
  while (reader.at < reader.end) {
    const { field, wire } = readTag(reader, 'TypeMeta')
    if (field === 1 && wire === BYTES) into.apiVersion = readString(reader)
    else if (field === 2 && wire === BYTES) into.kind = readString(reader)
    else skipField(reader, wire)
  }
}

export function sealEnvelope(apiVersion: string, kind: string, message: Uint8Array): Buffer {
  const { before, after } = envelopeAround(apiVersion, kind, message.length)
  return Buffer.concat([before, message, after])
}

/** What stands before and after a message of that length. */
export function envelopeAround(apiVersion: string, kind: string, length: number): { before: Buffer; after: Buffer } {
  const after = newWriter(8)
  writeString(after, '')
  writeTag(after, 4, BYTES)
  writeString(after, '')
  writeTag(after, 3, BYTES)
  const before = newWriter(apiVersion.length + kind.length + 64)
  writeVarint(before, length)
  writeTag(before, 2, BYTES)
  writeMessage(before, () => {
    writeString(before, kind)
    writeTag(before, 2, BYTES)
    writeString(before, apiVersion)
    writeTag(before, 1, BYTES)
  })
  writeTag(before, 1, BYTES)
  return { before: Buffer.concat([MAGIC, written(before)]), after: Buffer.from(written(after)) }
}

/** An object, list or Status by its apiVersion and kind; undefined if that kind has no protobuf encoding. */
export function encodeObject(types: Types, object: ValueObject, parts?: InternedParts): Buffer | undefined {
  const apiVersion = textOf(object, 'apiVersion')
  const kind = textOf(object, 'kind')
  const type = types.ofKind(apiVersion, kind)
  return type === undefined ? undefined : sealEnvelope(apiVersion, kind, encodeMessage(type, object, parts))
}

/** The plain value in an envelope, with the apiVersion and kind of the envelope, or the given ones if it has none. */
export function decodeObject(
  types: Types,
  envelope: Envelope,
  defaults: { readonly apiVersion: string; readonly kind: string } = { apiVersion: '', kind: '' },
  parts?: InternedParts,
): ValueObject {
  const apiVersion = normalApiVersion(envelope.apiVersion) || defaults.apiVersion
  const kind = envelope.kind || defaults.kind
  const type = types.ofKind(apiVersion, kind) ?? (EVERYWHERE.has(kind) ? types.ofKind('v1', kind) : undefined)
  if (type === undefined) throw new ProtobufError(`no kind "${kind}" is registered for version "${apiVersion}"`)
  const value = decodeMessage(type, envelope.raw, parts)
  return { kind, apiVersion, ...(isObject(value) ? value : {}) }
}

/** Kinds of every group and version: clients send them with the apiVersion of their group. The table has them in v1. */
const EVERYWHERE: ReadonlySet<string> = new Set([
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'Status',
  'UpdateOptions',
])

// ---- watch

/** A watch event around an object that is already in its envelope, as one frame of the stream. */
export function encodeWatchFrame(type: string, sealed: Uint8Array): Buffer {
  const writer = newWriter(sealed.length + type.length + 64)
  writeMessage(writer, () => {
    writeBytes(writer, sealed)
    writeTag(writer, 1, BYTES)
  })
  writeTag(writer, 2, BYTES)
  writeString(writer, type)
  writeTag(writer, 1, BYTES)
  const event = written(writer)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(event.length)
  return Buffer.concat([length, event])
}

export interface WatchFrame {
  readonly type: string
  /** The envelope of the object. */
  readonly object: Uint8Array
}

/** The events in a part of a stream, and the rest: a frame that is not complete yet. */
export function decodeWatchFrames(bytes: Uint8Array): { readonly events: WatchFrame[]; readonly rest: Uint8Array } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const events: WatchFrame[] = []
  let at = 0
  while (buffer.length - at >= 4) {
    const length = buffer.readUInt32BE(at)
    if (buffer.length - at - 4 < length) break
    events.push(decodeWatchEvent(buffer.subarray(at + 4, at + 4 + length)))
    at += 4 + length
  }
  return { events, rest: buffer.subarray(at) }
}

function decodeWatchEvent(bytes: Uint8Array): WatchFrame {
  const reader = newReader(bytes)
  let type = ''
  let object: Uint8Array = new Uint8Array()
  while (reader.at < reader.end) {
    const { field, wire } = readTag(reader, 'WatchEvent')
    if (field === 1 && wire === BYTES) type = readString(reader)
    else if (field === 2 && wire === BYTES) {
      const raw = readMessage(reader)
      while (raw.at < raw.end) {
        const tag = readTag(raw, 'RawExtension')
        if (tag.field === 1 && tag.wire === BYTES) object = readBytes(raw)
        else skipField(raw, tag.wire)
      }
    } else skipField(reader, wire)
  }
  return { type, object }
}

function textOf(object: ValueObject, key: string): string {
  const value: Value | undefined = getOwn(object, key)
  return typeof value === 'string' ? value : ''
}
