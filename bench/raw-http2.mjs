// As little of an HTTP/2 client as loads a server: ready-made frames out, frame headers counted in. Node's own client
// costs as much as the servers that are measured, and would hide how they differ.
import { once } from 'node:events'
import { connect } from 'node:tls'

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const [DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE] = [0, 1, 3, 4, 6, 7, 8]
const [END_STREAM, ACK, END_HEADERS] = [1, 1, 4]
const WINDOW = 2 ** 31 - 1
/** Bytes that may arrive before the window is updated. */
const RENEWED_FROM = 64 * 1024 * 1024

/** Headers as HPACK literals that no table remembers. */
export function encodeHeaders(headers) {
  return Buffer.concat(
    Object.entries(headers).flatMap(([name, value]) => [Buffer.from([0]), encodeText(name), encodeText(String(value))]),
  )
}

function encodeText(text) {
  const bytes = Buffer.from(text)
  const length = []
  if (bytes.length < 127) length.push(bytes.length)
  else {
    length.push(127)
    let rest = bytes.length - 127
    for (; rest >= 128; rest >>>= 7) length.push((rest & 127) | 128)
    length.push(rest)
  }
  return Buffer.concat([Buffer.from(length), bytes])
}

function frame(type, flags, stream, payload = Buffer.alloc(0)) {
  const bytes = Buffer.allocUnsafe(9 + payload.length)
  bytes.writeUIntBE(payload.length, 0, 3)
  bytes[3] = type
  bytes[4] = flags
  bytes.writeUInt32BE(stream, 5)
  payload.copy(bytes, 9)
  return bytes
}

/** Opens a connection. The certificate is checked when there is an authority to check it by. */
export async function connectHttp2(url, ca) {
  const { hostname, port } = new URL(url)
  const options = { host: hostname, port: Number(port), ALPNProtocols: ['h2'], ca, rejectUnauthorized: Boolean(ca) }
  const socket = connect(options)
  await once(socket, 'secureConnect')
  socket.setNoDelay(true)
  const settings = Buffer.alloc(6)
  settings.writeUInt16BE(4, 0) // the window of each stream
  settings.writeUInt32BE(WINDOW, 2)
  socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0, settings), windowUpdate(WINDOW - 65_535)]))

  const streams = new Map()
  let next = 1
  let untold = 0
  let isClosed = false
  socket.on('data', frameReader(onFrame, onPayload))
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
    for (const { ended } of streams.values()) ended(new Error('the connection broke'))
  })

  /** What frames but those of data carry is small, and comes whole. */
  function onFrame(type, flags, stream, payload) {
    if (type === SETTINGS && !(flags & ACK)) socket.write(frame(SETTINGS, ACK, 0))
    else if (type === PING && !(flags & ACK)) socket.write(frame(PING, ACK, 0, payload))
    else if (type === RST_STREAM) finish(stream, new Error(`stream reset with ${payload.readUInt32BE(0)}`))
    else if (type === GOAWAY) {
      isClosed = true
      socket.end()
    } else if (type === HEADERS) streams.get(stream)?.begun?.()
    if (type <= HEADERS && flags & END_STREAM) finish(stream)
  }
  function onPayload(stream, bytes) {
    streams.get(stream)?.data?.(bytes)
    untold += bytes.length
    if (untold < RENEWED_FROM) return
    socket.write(windowUpdate(untold))
    untold = 0
  }
  function finish(stream, error) {
    const { ended } = streams.get(stream) ?? {}
    streams.delete(stream)
    ended?.(error)
  }

  return {
    /** The server has closed the connection, for example because it was not used for long. */
    get isClosed() {
      return isClosed
    },
    /** Sends a request; `listener` has `begun`, `data` and `ended`, each of them if it likes. */
    request(headers, body, listener) {
      const stream = next
      next += 2
      streams.set(stream, listener)
      if (!body) return void socket.write(frame(HEADERS, END_HEADERS | END_STREAM, stream, headers))
      socket.write(Buffer.concat([frame(HEADERS, END_HEADERS, stream, headers), frame(DATA, END_STREAM, stream, body)]))
    },
    close() {
      streams.clear()
      socket.destroy()
    },
  }
}

function windowUpdate(by) {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(by, 0)
  return frame(WINDOW_UPDATE, 0, 0, payload)
}

/** Cuts what arrives into frames, without copying the payload of DATA. */
function frameReader(onFrame, onPayload) {
  const header = Buffer.alloc(9)
  let headerBytes = 0
  let left = 0
  let parts = []
  return chunk => {
    let at = 0
    while (at < chunk.length || (headerBytes === 9 && left === 0)) {
      if (headerBytes < 9) {
        const copied = chunk.copy(header, headerBytes, at, at + 9 - headerBytes)
        at += copied
        headerBytes += copied
        if (headerBytes < 9) return
        left = header.readUIntBE(0, 3)
        parts = []
      }
      const type = header[3]
      const stream = header.readUInt32BE(5)
      const piece = chunk.subarray(at, at + left)
      at += piece.length
      left -= piece.length
      if (type === DATA && piece.length > 0) onPayload(stream, piece)
      else if (type !== DATA) parts.push(piece)
      if (left > 0) return
      headerBytes = 0
      onFrame(type, header[4], stream, type === DATA ? undefined : Buffer.concat(parts))
    }
  }
}
