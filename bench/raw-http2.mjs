// As little of an HTTP/2 client as loads a server. Node's own client costs as much as the servers that are measured, and the
// load comes from the same processors: what the client takes, they cannot have. So requests are ready-made bytes with a
// number put in, all of one turn leave in one write, frames are counted where they arrive, and header fields that repeat
// are an index, as from the clients of other languages.
import { once } from 'node:events'
import { connect } from 'node:tls'

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const [DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE] = [0, 1, 3, 4, 6, 7, 8]
const [END_STREAM, ACK, END_HEADERS] = [1, 1, 4]
const FRAME_HEAD = 9
const WINDOW = 2 ** 31 - 1
/** Bytes that may arrive before the window is updated. */
const RENEWED_FROM = 64 * 1024 * 1024
const READ_SIZE = 64 * 1024
const NOTHING = Buffer.alloc(0)

/** A request in which each `{}` of the path and the body is a number. */
export function requestTemplate(headers, path, body) {
  const fields = Object.entries(headers)
  return { key: fields.join(), fields, path: textTemplate(path), body: body ? textTemplate(body) : undefined }
}

/** Opens a connection. The certificate is checked when there is an authority to check it by. */
export async function connectHttp2(url, ca) {
  const { hostname, port } = new URL(url)
  const streams = new Map()
  let next = 1
  let unacknowledged = 0
  let isClosed = false
  const read = frameReader(onFrame, onPayload)
  const socket = connect({
    host: hostname,
    port: Number(port),
    ALPNProtocols: ['h2'],
    ca,
    rejectUnauthorized: Boolean(ca),
    onread: { buffer: Buffer.allocUnsafeSlow(READ_SIZE), callback: receive },
  })
  const output = createOutput(socket)
  const fieldEncoder = createFieldEncoder()
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
    for (const { ended } of streams.values()) ended(new Error('the connection broke'))
  })
  await once(socket, 'secureConnect')
  socket.setNoDelay(true)
  const settings = Buffer.alloc(6)
  settings.writeUInt16BE(4, 0) // the window of each stream
  settings.writeUInt32BE(WINDOW, 2)
  output.write(PREFACE)
  output.write(frame(SETTINGS, 0, 0, settings))
  output.write(windowUpdate(WINDOW - 65_535))
  output.flush()

  function receive(size, bytes) {
    output.hold()
    read(bytes, size)
    output.flush()
    return true
  }

  /** What frames but those of data carry is small, and comes whole. */
  function onFrame(type, flags, stream, payload) {
    if (type === SETTINGS && !(flags & ACK)) output.write(frame(SETTINGS, ACK, 0))
    else if (type === PING && !(flags & ACK)) output.write(frame(PING, ACK, 0, payload))
    else if (type === RST_STREAM) finish(stream, new Error(`stream reset with ${payload.readUInt32BE(0)}`))
    else if (type === GOAWAY) {
      isClosed = true
      socket.end()
    } else if (type === HEADERS) streams.get(stream)?.begun?.()
    if (type <= HEADERS && flags & END_STREAM) finish(stream)
  }
  function onPayload(stream, bytes, from, to) {
    streams.get(stream)?.data(bytes, from, to)
    unacknowledged += to - from
    if (unacknowledged < RENEWED_FROM) return
    output.write(windowUpdate(unacknowledged))
    unacknowledged = 0
  }
  function finish(stream, error) {
    const listener = streams.get(stream)
    streams.delete(stream)
    listener?.ended(error)
  }

  return {
    /** The server has closed the connection, for example because it was not used for long. */
    get isClosed() {
      return isClosed
    },
    /**
     * Sends the request with this number. `listener` has `ended` and `data`, and `begun` if it likes. The bytes that `data` is
     * called with are overwritten afterwards.
     */
    request(template, number, listener) {
      const stream = next
      next += 2
      streams.set(stream, listener)
      const { path, body } = template
      const fields = fieldEncoder.encode(template)
      const block = fields.length + 1 + lengthSize(path.size) + path.size
      const bytes = output.reserve(2 * FRAME_HEAD + block + (body?.size ?? 0))
      let at = writeHead(bytes, output.at, block, HEADERS, body ? END_HEADERS : END_HEADERS | END_STREAM, stream)
      bytes[at++] = PATH
      at = writeLength(bytes, at, path.size)
      at = writeText(bytes, at, path, number)
      at += fields.copy(bytes, at)
      if (body) at = writeText(bytes, writeHead(bytes, at, body.size, DATA, END_STREAM, stream), body, number)
      output.wrote(at)
    },
    close() {
      streams.clear()
      socket.destroy()
    },
  }
}

// — what is sent

/** Gathers what is written in one turn, or until `flush`. */
function createOutput(socket) {
  let bytes = Buffer.allocUnsafeSlow(READ_SIZE)
  let at = 0
  let isScheduled = false
  function flush() {
    isScheduled = false
    if (at > 0) socket.write(Buffer.from(bytes.subarray(0, at)))
    at = 0
  }
  const output = {
    get at() {
      return at
    },
    /** The buffer, with room for so many bytes from `at` on. */
    reserve(size) {
      if (at + size > bytes.length) {
        flush()
        if (size > bytes.length) bytes = Buffer.allocUnsafeSlow(size)
      }
      return bytes
    },
    wrote(to) {
      at = to
      if (isScheduled) return
      isScheduled = true
      process.nextTick(flush)
    },
    write(part) {
      const buffer = output.reserve(part.length)
      output.wrote(at + part.copy(buffer, at))
    },
    /** Until `flush`. */
    hold() {
      isScheduled = true
    },
    flush,
  }
  return output
}

/** `:path` by its number in the table of HPACK, as a literal that is not remembered. */
const PATH = 0x04
const TABLE_SIZE = 4096
const FIELD_OVERHEAD = 32
const FIRST_OWN_INDEX = 62

/** Header fields that the server is asked to remember (HPACK): each is sent once as text, and then as its number. */
function createFieldEncoder() {
  const known = new Map()
  let tableSize = 0
  let encoded = new Map()

  function encodeField(field) {
    const [name, value] = field
    const index = known.get(field.join())
    // The newest has the lowest number.
    if (index !== undefined) return Buffer.from([0x80 | (FIRST_OWN_INDEX + known.size - 1 - index)])
    const size = name.length + value.length + FIELD_OVERHEAD
    const isKept = tableSize + size <= TABLE_SIZE && known.size < 60
    if (isKept) {
      known.set(field.join(), known.size)
      tableSize += size
      encoded = new Map()
    }
    return Buffer.concat([Buffer.from([isKept ? 0x40 : 0]), encodeText(name), encodeText(value)])
  }

  return {
    encode({ key, fields }) {
      const before = encoded.get(key)
      if (before) return before
      const bytes = Buffer.concat(fields.map(encodeField))
      // Only when all of them are known: a text that is to be remembered is sent once.
      if (fields.every(field => known.has(field.join()))) {
        encoded.set(key, Buffer.concat(fields.map(encodeField)))
      }
      return bytes
    },
  }
}

function encodeText(text) {
  const bytes = Buffer.from(text)
  const head = Buffer.alloc(lengthSize(bytes.length))
  writeLength(head, 0, bytes.length)
  return Buffer.concat([head, bytes])
}

/** A length as HPACK writes it, in up to three bytes. */
const lengthSize = length => (length < 127 ? 1 : length < 127 + 128 ? 2 : 3)
function writeLength(bytes, at, length) {
  if (length < 127) {
    bytes[at] = length
    return at + 1
  }
  bytes[at++] = 127
  let rest = length - 127
  for (; rest >= 128; rest >>>= 7) bytes[at++] = (rest & 127) | 128
  bytes[at] = rest
  return at + 1
}

const DIGITS = 7

/** The bytes between the places of the number. */
function textTemplate(text) {
  const parts = text.split('{}').map(part => Buffer.from(part))
  return { parts, size: parts.reduce((sum, { length }) => sum + length, DIGITS * (parts.length - 1)) }
}

function writeText(bytes, at, { parts }, number) {
  at += parts[0].copy(bytes, at)
  for (let i = 1; i < parts.length; i++) {
    for (let digit = DIGITS - 1, rest = number; digit >= 0; digit--, rest = Math.floor(rest / 10)) {
      bytes[at + digit] = 48 + (rest % 10)
    }
    at += DIGITS
    at += parts[i].copy(bytes, at)
  }
  return at
}

function writeHead(bytes, at, length, type, flags, stream) {
  bytes.writeUIntBE(length, at, 3)
  bytes[at + 3] = type
  bytes[at + 4] = flags
  bytes.writeUInt32BE(stream, at + 5)
  return at + FRAME_HEAD
}

function frame(type, flags, stream, payload = NOTHING) {
  const bytes = Buffer.allocUnsafe(FRAME_HEAD + payload.length)
  payload.copy(bytes, writeHead(bytes, 0, payload.length, type, flags, stream))
  return bytes
}

function windowUpdate(by) {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(by, 0)
  return frame(WINDOW_UPDATE, 0, 0, payload)
}

// — what comes

/** Cuts what arrives into frames where it is. */
function frameReader(onFrame, onPayload) {
  const head = Buffer.alloc(FRAME_HEAD)
  let headBytes = 0
  let left = 0
  let parts = []

  return (bytes, size) => {
    let at = 0
    while (at < size || (headBytes === FRAME_HEAD && left === 0)) {
      if (headBytes < FRAME_HEAD) {
        while (headBytes < FRAME_HEAD && at < size) head[headBytes++] = bytes[at++]
        if (headBytes < FRAME_HEAD) return
        left = (head[0] << 16) | (head[1] << 8) | head[2]
      }
      const type = head[3]
      const stream = (head[5] << 24) | (head[6] << 16) | (head[7] << 8) | head[8]
      const to = Math.min(at + left, size)
      if (type === DATA && to > at) onPayload(stream, bytes, at, to)
      // HEADERS are only counted, but for these no payload is of many bytes.
      else if (type > HEADERS) parts.push(Buffer.from(bytes.subarray(at, to)))
      left -= to - at
      at = to
      if (left > 0) return
      headBytes = 0
      onFrame(type, head[4], stream, type > HEADERS ? Buffer.concat(parts) : undefined)
      if (parts.length > 0) parts = []
    }
  }
}
