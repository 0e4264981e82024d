// WebSocket (RFC 6455), as far as watches need it: the server sends one frame for each event, and only pings and the
// close of the client are answered. Browsers and some client libraries watch over it. What a client may ask for over
// such a connection that is no watch is answered as over HTTP/1.1.
import { createHash } from 'node:crypto'
import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Exchange, Outgoing } from './exchange.js'
import { exchangeOfHttp1 } from './http1.js'
import { type SlicedOutput, slicedOutput } from './sliced-output.js'

/** A request for another protocol: WebSocket, or SPDY, which is only passed on to extension servers. */
export const isUpgradeRequest = (request: IncomingMessage): boolean =>
  isWebSocketRequest(request) || request.headers.upgrade?.toLowerCase().startsWith('spdy/') === true

const isWebSocketRequest = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'

/** An exchange whose response can be frames or another protocol; see `openWebSocket` and `takeConnection` of Exchange. */
export function exchangeOfUpgrade(request: IncomingMessage, socket: Duplex): Exchange {
  const response = new ServerResponse(request)
  response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0])
  response.shouldKeepAlive = false
  response.once('finish', () => socket.end())
  socket.on('error', () => socket.destroy())
  const takeConnection = (): Duplex => {
    response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0])
    socket.once('close', () => void response.emit('close'))
    return socket
  }
  const exchange = Object.create(exchangeOfHttp1(request, response)) as Exchange
  let sliced: SlicedOutput | undefined
  Object.defineProperty(exchange, 'held', { get: () => exchange.retained + (sliced?.pending ?? 0) })
  // What follows the header belongs to the other protocol.
  const withoutBody = { body: async () => Buffer.alloc(0), pipeBody: (to: Outgoing) => to.end() }
  if (!isWebSocketRequest(request)) return Object.assign(exchange, withoutBody, { takeConnection })
  return Object.assign(exchange, withoutBody, {
    takeConnection,
    openWebSocket(isText: boolean) {
      const refused = handshakeError(request)
      if (refused !== undefined) {
        socket.end(refused)
        return undefined
      }
      takeConnection().write(handshake(request), 'latin1')
      sliced = slicedOutput({
        write: chunk => socket.destroyed || socket.write(chunk),
        onDrain: listener => void socket.on('drain', listener),
        end: () => void socket.end(),
        abort: () => void socket.destroy(),
      })
      return frames(socket, sliced, isText)
    },
  })
}

// ---- the handshake

/** The texts are those of Go's package x/net/websocket. */
function handshakeError({ headers }: IncomingMessage): string | undefined {
  if (!headers['sec-websocket-key']) return 'HTTP/1.1 400 Bad Request\r\n\r\nmismatch challenge/response'
  if (headers['sec-websocket-version'] !== '13') {
    return 'HTTP/1.1 400 Bad Request\r\nSec-WebSocket-Version: 13\r\n\r\nmissing or bad WebSocket Version'
  }
  if (!headers.origin) return 'HTTP/1.1 403 Forbidden\r\n\r\n'
  return protocolsOf(headers['sec-websocket-protocol']).length > 1 ? 'HTTP/1.1 400 Bad Request\r\n\r\n' : undefined
}

const protocolsOf = (header: string | undefined): string[] =>
  (header ?? '')
    .split(',')
    .map(text => text.trim())
    .filter(Boolean)

function handshake({ headers }: IncomingMessage): string {
  const accept = createHash('sha1')
    .update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64')
  const [protocol] = protocolsOf(headers['sec-websocket-protocol'])
  return (
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
    `Sec-WebSocket-Accept: ${accept}\r\n${protocol === undefined ? '' : `Sec-WebSocket-Protocol: ${protocol}\r\n`}\r\n`
  )
}

// ---- frames

const OPCODES = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const
const NORMAL_CLOSURE = Buffer.from([0x03, 0xe8])
/** How long the client has to close the connection after the server has. */
const CLOSE_GRACE_MS = 1_000

/** Each chunk that is written becomes one frame. */
function frames(socket: Duplex, to: SlicedOutput, isText: boolean): Outgoing {
  let isClosed = false
  const close = (): void => {
    if (isClosed || socket.destroyed) return
    isClosed = true
    to.write(frame(OPCODES.close, NORMAL_CLOSURE))
    to.end()
    setTimeout(() => socket.destroy(), CLOSE_GRACE_MS).unref()
  }
  socket.on(
    'data',
    createFrameReader(
      (opcode, payload) => {
        // A client that pings and does not read gets no more answers than it may have.
        if (opcode === OPCODES.ping && !isClosed && !socket.writableNeedDrain && to.pending === 0)
          to.write(frame(OPCODES.pong, payload))
        else if (opcode === OPCODES.close) close()
      },
      () => socket.destroy(),
    ),
  )
  socket.on('end', () => socket.destroy())
  return {
    write: chunk => {
      if (isClosed || socket.destroyed) return true
      const opcode = isText ? OPCODES.text : OPCODES.binary
      const payload = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      if (payload.length <= SMALL) return to.write(frame(opcode, payload))
      to.write(frameHead(opcode, payload.length))
      return to.write(payload)
    },
    onDrain: listener => to.onDrain(listener),
    end: close,
    abort: () => to.abort(),
  }
}

/** The payload of such a frame is copied behind its head. A larger one is shared with other connections. */
const SMALL = 16 * 1024

const frame = (opcode: number, payload: Buffer): Buffer => Buffer.concat([frameHead(opcode, payload.length), payload])

/** Frames of a server are final and not masked. */
function frameHead(opcode: number, length: number): Buffer {
  const head = Buffer.alloc(length < 126 ? 2 : length < 65536 ? 4 : 10)
  head[0] = 0x80 | opcode
  if (length < 126) head[1] = length
  else if (length < 65536) {
    head[1] = 126
    head.writeUInt16BE(length, 2)
  } else {
    head[1] = 127
    head.writeBigUInt64BE(BigInt(length), 2)
  }
  return head
}

/** Control frames have at most this many bytes of payload. */
const MAX_CONTROL = 125

/**
 * Reads the frames of a client. The payload of data frames is skipped as it arrives, so that a client cannot fill the
 * memory; `fail` is called for what is not a frame.
 */
export function createFrameReader(
  control: (opcode: number, payload: Buffer) => void,
  fail: () => void,
): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let skip = 0
  return chunk => {
    const skipped = Math.min(skip, chunk.length)
    skip -= skipped
    rest = rest.length === 0 ? chunk.subarray(skipped) : Buffer.concat([rest, chunk.subarray(skipped)])
    for (let head = headOf(rest); head !== undefined; head = headOf(rest)) {
      const { opcode, mask, start, length } = head
      const isControl = opcode >= OPCODES.close
      if (mask === undefined || (isControl && length > MAX_CONTROL)) return fail()
      if (isControl) {
        if (rest.length < start + length) return
        control(opcode, unmasked(rest.subarray(start, start + length), mask))
      }
      skip = Math.max(start + length - rest.length, 0)
      rest = rest.subarray(Math.min(start + length, rest.length))
    }
  }
}

interface FrameHead {
  readonly opcode: number
  /** The key by which the payload is masked; a client must do so. */
  readonly mask: Buffer | undefined
  /** Where the payload begins. */
  readonly start: number
  readonly length: number
}

/** Undefined until all of it has arrived. */
function headOf(bytes: Buffer): FrameHead | undefined {
  if (bytes.length < 2) return undefined
  const isMasked = (bytes[1]! & 0x80) !== 0
  const short = bytes[1]! & 0x7f
  const lengthBytes = short === 127 ? 8 : short === 126 ? 2 : 0
  const start = 2 + lengthBytes + (isMasked ? 4 : 0)
  if (bytes.length < start) return undefined
  const length = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short
  const mask = isMasked ? bytes.subarray(start - 4, start) : undefined
  return { opcode: bytes[0]! & 0x0f, mask, start, length }
}

const unmasked = (payload: Buffer, mask: Buffer): Buffer => Buffer.from(payload.map((byte, i) => byte ^ mask[i % 4]!))
