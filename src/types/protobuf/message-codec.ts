// One type of protobuf message, compiled: how its content is written and read.
import { type Reader, readTag, skipField, type Writer } from '../../codec/protobuf.js'
import type { Value } from '../../meta/values/value.js'

export interface MessageCodec {
  /** Writes the content of a message; null stands for one that is not set. */
  readonly write: (writer: Writer, value: Value) => void
  /** Reads a message to its end. `into` is what an earlier message of the same field gave. */
  readonly read: (reader: Reader, into: Value | undefined, depth: number) => Value
}

/** Calls `read` for each field of a message; a field for which it returns false is skipped. */
export function readFields(reader: Reader, message: string, read: (field: number, wire: number) => boolean): void {
  while (reader.at < reader.end) {
    const { field, wire } = readTag(reader, message)
    if (!read(field, wire)) skipField(reader, wire)
  }
}
