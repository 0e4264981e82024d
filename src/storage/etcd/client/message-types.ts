// Messages in protobuf as gRPC frames, by tables of their fields. Fields that are not in a table are skipped when decoding.
import protobuf from 'protobufjs/light.js'
import { FRAME_HEADER_BYTES } from './frames.js'

/** A method: its path and the encoding of its messages. */
export interface Method<Request, Response> {
  readonly path: string
  /** The request as a gRPC frame: five bytes of header, then the message. */
  encode(request: Request): Buffer
  decode(message: Buffer): Response
}

/** Describes a method by its path and the names of its messages. */
export type DescribeMethod = <Request, Response>(
  path: string,
  request: string,
  response: string,
) => Method<Request, Response>

export function messageTypes(types: Readonly<Record<string, protobuf.IType>>): DescribeMethod {
  const root = protobuf.Root.fromJSON({ nested: { ...types } })
  setDefaults(root)
  return (path, request, response) => methodOf(root, path, request, response)
}

export type FieldSpec = [type: string, id: number, rule?: 'repeated']

export function message(fields: Record<string, FieldSpec>): protobuf.IType {
  const entries = Object.entries(fields).map(([name, [type, id, rule]]) => [name, { type, id, ...(rule && { rule }) }])
  return { fields: Object.fromEntries(entries) as Record<string, protobuf.IField> }
}

/** Fields that are absent decode as zero: 64-bit ones as the number 0, bytes as an empty Buffer. */
function setDefaults(root: protobuf.Root): void {
  const empty = Buffer.alloc(0)
  for (const type of root.nestedArray) {
    if (!(type instanceof protobuf.Type)) continue
    const prototype = type.ctor.prototype as Record<string, unknown>
    for (const field of type.fieldsArray) {
      field.resolve()
      if (field.repeated) continue
      if (field.type === 'int64') prototype[field.name] = 0
      else if (field.type === 'bytes') prototype[field.name] = empty
    }
  }
}

/** Requests are written here before they are copied to a buffer of their exact size. */
let scratch = new protobuf.BufferWriter()
const MAX_SCRATCH_BYTES = 64 * 1024

function methodOf<Request, Response>(
  root: protobuf.Root,
  path: string,
  request: string,
  response: string,
): Method<Request, Response> {
  const requestType = root.lookupType(request)
  const responseType = root.lookupType(response)
  return {
    path: `/${path}`,
    encode(value) {
      scratch.pos = 0
      if (scratch.states) scratch.states.length = 0
      // Five bytes for the frame header first, so that the message need not be copied to prepend one.
      requestType.encode(value as Record<string, unknown>, scratch.uint32(0).fixed32(0))
      const frame = scratch.finish() as Buffer
      frame.writeUInt32BE(frame.length - FRAME_HEADER_BYTES, 1)
      if (scratch.buf.length > MAX_SCRATCH_BYTES) scratch = new protobuf.BufferWriter()
      return frame
    },
    decode: bytes => responseType.decode(new NumberReader(bytes) as unknown as protobuf.Reader) as unknown as Response,
  }
}

/** Decodes int64 as numbers. By default protobufjs creates Long objects; changing that would affect the process. */
class NumberReader extends protobuf.BufferReader {
  // @ts-expect-error: declared to return a Long
  override int64(): number {
    let low = 0
    let byte: number
    // Numbers below 2^28 end within four bytes.
    for (let shift = 0; shift < 28; shift += 7) {
      byte = this.#next()
      low |= (byte & 127) << shift
      if (byte < 128) return low
    }
    let value = low
    let factor = 2 ** 28
    for (let i = 4; i < 9; i++) {
      byte = this.#next()
      value += (byte & 127) * factor
      if (byte < 128) return value
      factor *= 128
    }
    // Ten bytes: an id of a cluster from 2^63 on, or a negative number, of which etcd sends only -1.
    this.#next()
    return value === 2 ** 63 ? -1 : value
  }

  #next(): number {
    if (this.pos >= this.len) throw new RangeError('a number is cut off')
    return this.buf[this.pos++]!
  }
}
