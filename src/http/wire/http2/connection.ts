// One connection of HTTP/2, as a server (RFC 9113). What a client sends is carried out here; the responses of all
// streams are gathered and leave in one write for each turn of the event loop, so that a frame costs little more than
// the copy of its bytes. There is one write at a time: what comes meanwhile waits in its stream, where it is counted.

import type { Socket } from 'node:net'
import { checkGoaway, checkPing, readSettings, windowGrowth } from '../../../base/http2/control-frames.js'
import {
  checkPriority,
  FrameReader,
  type FrameSink,
  PRIORITY_SIZE,
  unpadded,
} from '../../../base/http2/frame-reader.js'
import {
  ACK,
  COMPRESSION_ERROR,
  CONTINUATION,
  ConnectionError,
  DATA,
  DEFAULT_WINDOW,
  END_HEADERS,
  END_STREAM,
  ENHANCE_YOUR_CALM,
  FLOW_CONTROL_ERROR,
  FRAME_SIZE,
  FRAME_SIZE_ERROR,
  frame,
  GOAWAY,
  goawayFrame,
  HEADERS,
  INITIAL_WINDOW_SIZE,
  INTERNAL_ERROR,
  MAX_CONCURRENT_STREAMS,
  MAX_HEADER_LIST_SIZE,
  MAX_WINDOW,
  NO_ERROR,
  numberFrame,
  PING,
  PREFACE,
  PRIORITY,
  PROTOCOL_ERROR,
  PUSH_PROMISE,
  REFUSED_STREAM,
  RST_STREAM,
  SETTINGS,
  STREAM_CLOSED,
  settingsFrame,
  WINDOW_UPDATE,
} from '../../../base/http2/frames.js'
import { CompressionError, createHpackDecoder } from '../../../base/http2/hpack-decoder.js'
import { encodeResponseHeaders, type HeaderFields } from '../../../base/http2/hpack-encoder.js'
import { type Peer, peerOf } from '../exchange.js'
import { createOutput, type Output } from './output.js'
import { areTrailers, requestHeaders } from './request-headers.js'
import { Stream, type StreamHost } from './stream.js'

export interface ConnectionOptions {
  readonly maxStreams: number
  readonly maxHeaderBytes: number
  /** A request with more fields has one more than these, so that it can be refused. */
  readonly maxHeaders: number
  /** Called for each request when its headers are there. */
  readonly onRequest: (stream: Stream) => void
  /** Answers a request whose headers are larger than the limit. They are not there. */
  readonly refuseLargeHeaders: (stream: Stream) => void
  readonly onClose: () => void
}

/** How much a client may send before the server has used it: on one stream, and on all of them. */
const STREAM_WINDOW = 256 * 1024
const CONNECTION_WINDOW = 1024 * 1024
/** A block of headers that is larger by this factor than allowed is not decoded: it ends the connection. */
const UNDECODED_FACTOR = 2
/** Requests that a client may give up or get wrong: at once, and a second. Each costs the server the work on it. */
const RESETS = { burst: 5_000, perSecond: 500 }
/** Settings that a client may change. Each change of the window is carried out for every stream. */
const SETTINGS_CHANGES = { burst: 1_000, perSecond: 50 }
/** So many streams that the server has reset are remembered: frames that the client sent before it knew are ignored. */
const MAX_RESET_STREAMS = 1_000
/** Headers and answers to frames of control that are kept for a client that does not read. */
const MAX_BACKLOG = 4 * 1024 * 1024
/** How much of a body is read after its response. */
const MAX_DISCARDED = 64 * 1024
/** How long a client that has violated the protocol has to read why its connection ends. */
const FAILED_GRACE_MS = 1_000

const NOTHING = Buffer.alloc(0)

export class Connection implements StreamHost, FrameSink {
  readonly peer: Peer
  readonly streams = new Map<number, Stream>()
  /** Pings since the client last answered one. */
  unansweredPings = 0
  /** How many it has had. */
  requests = 0
  private readonly decoder
  private readonly output: Output
  private readonly resets = createAllowance(RESETS)
  private readonly settingsChanges = createAllowance(SETTINGS_CHANGES)
  /** The streams that the server has reset, oldest first. */
  private readonly resetStreams = new Set<number>()
  private readonly frames: FrameReader
  /** What has come of the preface; undefined after it. */
  private preface: Buffer | undefined = NOTHING
  private lastStream = 0
  private receiveWindow = CONNECTION_WINDOW
  private unacknowledged = 0
  private initialWindow = DEFAULT_WINDOW
  private hasResponded = false
  private isGoingAway = false
  isOver = false

  constructor(
    readonly socket: Socket,
    private readonly options: ConnectionOptions,
  ) {
    this.peer = peerOf(socket)
    this.decoder = createHpackDecoder(options.maxHeaderBytes, options.maxHeaders)
    this.frames = new FrameReader(this, UNDECODED_FACTOR * options.maxHeaderBytes)
    this.output = createOutput(socket, stream => this.finish(stream))
    socket.setNoDelay(true)
    socket.on('data', chunk => this.onData(chunk))
    socket.on('error', () => {})
    socket.on('end', () => this.destroy())
    socket.on('close', () => this.over())
    this.output.control(
      settingsFrame([
        [MAX_CONCURRENT_STREAMS, options.maxStreams],
        [INITIAL_WINDOW_SIZE, STREAM_WINDOW],
        [MAX_HEADER_LIST_SIZE, options.maxHeaderBytes],
      ]),
    )
    this.output.control(numberFrame(WINDOW_UPDATE, 0, CONNECTION_WINDOW - DEFAULT_WINDOW))
  }

  // — for the endpoint

  /** Bytes that are written and not sent. */
  get held(): number {
    let held = this.output.unsent
    for (const stream of this.streams.values()) held += stream.held
    return held
  }

  /** Changes whenever the client reads. */
  get sent(): number {
    return this.output.sent
  }

  get isDestroyed(): boolean {
    return this.isOver
  }

  ping(): void {
    this.unansweredPings++
    this.output.control(frame(PING, 0, 0, Buffer.alloc(8)))
  }

  /** Accepts no new streams; the connection ends when those that it has are done. */
  close(): void {
    if (this.isGoingAway || this.isOver) return
    this.isGoingAway = true
    this.output.control(goawayFrame(this.lastStream, NO_ERROR))
    this.endIfDone()
  }

  destroy(): void {
    this.socket.destroy()
    this.over()
  }

  private endIfDone(): void {
    if (this.isGoingAway && this.streams.size === 0 && !this.isOver) this.output.end()
  }

  private over(): void {
    if (this.isOver) return
    this.isOver = true
    this.output.stop()
    this.options.onClose()
    for (const stream of this.streams.values()) stream.close()
    this.streams.clear()
  }

  /** The client has violated the protocol. */
  private fail(code: number): void {
    this.output.control(goawayFrame(this.lastStream, code))
    this.output.end()
    this.over()
    setTimeout(() => this.socket.destroy(), FAILED_GRACE_MS).unref()
  }

  // — for the streams

  respond(stream: Stream, status: number, headers: HeaderFields, isWhole: boolean): void {
    headers['date'] ??= currentDate()
    const block = encodeResponseHeaders(status, headers, !this.hasResponded)
    this.hasResponded = true
    const flags = isWhole ? END_STREAM : 0
    if (isWhole) stream.isEndSent = true
    if (block.length <= FRAME_SIZE) {
      this.output.control(frame(HEADERS, flags | END_HEADERS, stream.id, block))
    } else {
      let at = FRAME_SIZE
      this.output.control(frame(HEADERS, flags, stream.id, block.subarray(0, at)))
      for (; at < block.length; at += FRAME_SIZE) {
        const isLast = at + FRAME_SIZE >= block.length
        const part = block.subarray(at, at + FRAME_SIZE)
        this.output.control(frame(CONTINUATION, isLast ? END_HEADERS : 0, stream.id, part))
      }
    }
    if (isWhole) this.output.ready(stream)
  }

  ready(stream: Stream): void {
    this.output.ready(stream)
  }

  consumed(stream: Stream, bytes: number): void {
    this.acknowledge(bytes)
    if (stream.isRemoteClosed || stream.gone) return
    stream.unacknowledged += bytes
    if (stream.unacknowledged < STREAM_WINDOW / 2) return
    this.output.control(numberFrame(WINDOW_UPDATE, stream.id, stream.unacknowledged))
    stream.receiveWindow += stream.unacknowledged
    stream.unacknowledged = 0
  }

  private acknowledge(bytes: number): void {
    this.unacknowledged += bytes
    if (this.unacknowledged < CONNECTION_WINDOW / 2 || this.isOver) return
    this.output.control(numberFrame(WINDOW_UPDATE, 0, this.unacknowledged))
    this.receiveWindow += this.unacknowledged
    this.unacknowledged = 0
  }

  reset(stream: Stream, code: number): void {
    if (this.isOver) return
    this.resetId(stream.id, code)
    this.remove(stream)
  }

  private resetId(id: number, code: number): void {
    this.output.control(numberFrame(RST_STREAM, id, code))
    this.resetStreams.add(id)
    if (this.resetStreams.size <= MAX_RESET_STREAMS) return
    const [oldest] = this.resetStreams
    this.resetStreams.delete(oldest!)
  }

  /**
   * Ends a stream on which the client has made an error. It may not make many: a request that it makes the server reset
   * costs as much as one that it gives up itself.
   */
  private streamError(id: number, code: number): void {
    this.resets.use()
    const stream = this.streams.get(id)
    if (stream) this.reset(stream, code)
    else this.resetId(id, code)
  }

  /** The end of the response is on its way. A client that is still sending its body may come to its end. */
  private finish(stream: Stream): void {
    if (stream.isRemoteClosed) return this.remove(stream)
    // It may wait for a window that is not coming.
    if (stream.receiveWindow <= MAX_DISCARDED) return this.reset(stream, NO_ERROR)
    this.acknowledge(stream.unread)
    stream.close()
  }

  /** The rest of a body after the response. A client that sends much more is stopped. */
  private discard(stream: Stream, size: number, isLast: boolean): void {
    this.acknowledge(size)
    stream.unacknowledged += size
    if (isLast) return this.remove(stream)
    if (stream.unacknowledged > MAX_DISCARDED) this.reset(stream, NO_ERROR)
  }

  private remove(stream: Stream): void {
    this.streams.delete(stream.id)
    this.acknowledge(stream.unread)
    stream.close()
    this.endIfDone()
  }

  // — what the client sends

  private onData(chunk: Buffer): void {
    if (this.isOver) return
    this.output.hold()
    try {
      this.read(chunk)
    } catch (error) {
      if (error instanceof ConnectionError) this.fail(error.code)
      else if (error instanceof CompressionError) this.fail(COMPRESSION_ERROR)
      else {
        this.fail(INTERNAL_ERROR)
        throw error
      }
    } finally {
      this.output.release()
    }
  }

  private read(chunk: Buffer): void {
    const bytes = this.preface ? this.withoutPreface(chunk) : chunk
    if (bytes) this.frames.push(bytes)
    if (this.output.backlog > MAX_BACKLOG) throw new ConnectionError(ENHANCE_YOUR_CALM, 'the client does not read')
  }

  /** What comes after the preface; undefined as long as that is not complete. */
  private withoutPreface(chunk: Buffer): Buffer | undefined {
    const bytes = Buffer.concat([this.preface!, chunk])
    const length = Math.min(bytes.length, PREFACE.length)
    if (PREFACE.compare(bytes, 0, length, 0, length) !== 0) {
      throw new ConnectionError(PROTOCOL_ERROR, 'this is not HTTP/2')
    }
    const isComplete = length === PREFACE.length
    this.preface = isComplete ? undefined : bytes
    return isComplete ? bytes.subarray(length) : undefined
  }

  onFrame(type: number, flags: number, id: number, bytes: Buffer, from: number, to: number): void {
    switch (type) {
      case DATA:
        return this.onDataFrame(flags, id, bytes, from, to)
      case WINDOW_UPDATE:
        return this.onWindowUpdate(id, bytes, from, to)
      case RST_STREAM:
        return this.onReset(id, to - from)
      case SETTINGS:
        return this.onSettings(flags, id, bytes, from, to)
      case PING:
        return this.onPing(flags, id, bytes, from, to)
      case PRIORITY:
        return this.onPriority(id, bytes, from, to)
      case GOAWAY:
        return checkGoaway(id, from, to)
      case PUSH_PROMISE:
        throw new ConnectionError(PROTOCOL_ERROR, 'a client cannot push')
      default: // Frames of unknown types are ignored.
    }
  }

  private onDataFrame(flags: number, id: number, bytes: Buffer, from: number, to: number): void {
    this.checkOpened(id)
    const size = to - from
    const [start, end] = unpadded(flags, bytes, from, to)
    this.receiveWindow -= size
    if (this.receiveWindow < 0) throw new ConnectionError(FLOW_CONTROL_ERROR, 'the client sends too much')
    const isLast = (flags & END_STREAM) !== 0
    const stream = this.streams.get(id)
    const code = stream ? stream.errorOf(size, end - start, isLast) : STREAM_CLOSED
    if (code !== NO_ERROR) {
      this.acknowledge(size)
      // The client may have sent it before it knew that the stream was reset.
      if (stream || !this.resetStreams.has(id)) this.streamError(id, code)
    } else if (stream!.gone) this.discard(stream!, size, isLast)
    else {
      if (size > end - start) this.consumed(stream!, size - (end - start))
      stream!.receive(bytes.subarray(start, end), isLast)
    }
  }

  onHeaders(id: number, block: Buffer, isEnd: boolean): void {
    if (id % 2 === 0) throw new ConnectionError(PROTOCOL_ERROR, 'not a stream of the client')
    const fields = this.decoder.decode(block)
    const open = this.streams.get(id)
    if (open) return this.onTrailers(open, fields, isEnd)
    if (id <= this.lastStream) {
      if (this.resetStreams.has(id)) return
      throw new ConnectionError(PROTOCOL_ERROR, 'a stream was opened before')
    }
    // A client that has read the GOAWAY sends such a request on another connection.
    if (this.isGoingAway) return
    this.lastStream = id
    if (this.streams.size >= this.options.maxStreams) return this.streamError(id, REFUSED_STREAM)
    const headers = fields ? requestHeaders(fields) : {}
    if (!headers) return this.streamError(id, PROTOCOL_ERROR)
    const stream = new Stream(id, headers, fields ?? [], this, this.initialWindow, STREAM_WINDOW)
    if (isEnd) {
      if (stream.errorOf(0, 0, true) !== NO_ERROR) return this.streamError(id, PROTOCOL_ERROR)
      stream.receive(NOTHING, true)
    }
    this.streams.set(id, stream)
    this.requests++
    if (fields) this.options.onRequest(stream)
    else this.options.refuseLargeHeaders(stream)
  }

  private onTrailers(stream: Stream, fields: readonly string[] | undefined, isEnd: boolean): void {
    const code = isEnd && fields && areTrailers(fields) ? stream.errorOf(0, 0, true) : PROTOCOL_ERROR
    if (code !== NO_ERROR) this.streamError(stream.id, stream.isRemoteClosed ? STREAM_CLOSED : code)
    else if (stream.gone) this.remove(stream)
    else stream.receive(NOTHING, true)
  }

  private onWindowUpdate(id: number, bytes: Buffer, from: number, to: number): void {
    const by = windowGrowth(bytes, from, to)
    if (id === 0) {
      if (by === 0) throw new ConnectionError(PROTOCOL_ERROR, 'a window grows by nothing')
      if (!this.output.grow(by)) throw new ConnectionError(FLOW_CONTROL_ERROR, 'the window is too large')
      return
    }
    this.checkOpened(id)
    const stream = this.streams.get(id)
    if (!stream) return
    if (by === 0) return this.streamError(id, PROTOCOL_ERROR)
    stream.sendWindow += by
    if (stream.sendWindow > MAX_WINDOW) return this.streamError(id, FLOW_CONTROL_ERROR)
    this.output.ready(stream)
  }

  private onReset(id: number, size: number): void {
    this.checkOpened(id)
    if (size !== 4) throw new ConnectionError(FRAME_SIZE_ERROR, 'RST_STREAM')
    const stream = this.streams.get(id)
    if (!stream) return
    if (!stream.gone) this.resets.use()
    this.remove(stream)
  }

  private onSettings(flags: number, id: number, bytes: Buffer, from: number, to: number): void {
    if (id !== 0) throw new ConnectionError(PROTOCOL_ERROR, 'settings of a stream')
    if (flags & ACK) {
      if (to !== from) throw new ConnectionError(FRAME_SIZE_ERROR, 'SETTINGS')
      return
    }
    this.settingsChanges.use()
    let { initialWindow } = this
    readSettings(bytes, from, to, (setting, value) => {
      if (setting === INITIAL_WINDOW_SIZE) initialWindow = value
    })
    this.setInitialWindow(initialWindow)
    this.output.control(frame(SETTINGS, ACK, 0))
  }

  private setInitialWindow(value: number): void {
    const change = value - this.initialWindow
    if (change === 0) return
    this.initialWindow = value
    for (const stream of this.streams.values()) {
      stream.sendWindow += change
      if (stream.sendWindow > MAX_WINDOW) throw new ConnectionError(FLOW_CONTROL_ERROR, 'INITIAL_WINDOW_SIZE')
      this.output.ready(stream)
    }
  }

  private onPing(flags: number, id: number, bytes: Buffer, from: number, to: number): void {
    checkPing(id, from, to)
    if (flags & ACK) this.unansweredPings = 0
    else this.output.control(frame(PING, ACK, 0, bytes.subarray(from, to)))
  }

  private onPriority(id: number, bytes: Buffer, from: number, to: number): void {
    if (id === 0) throw new ConnectionError(PROTOCOL_ERROR, 'PRIORITY without a stream')
    if (to - from !== PRIORITY_SIZE) throw new ConnectionError(FRAME_SIZE_ERROR, 'PRIORITY')
    checkPriority(id, bytes, from, to)
  }

  private checkOpened(id: number): void {
    if (id === 0) throw new ConnectionError(PROTOCOL_ERROR, 'the frame belongs to a stream')
    if (id > this.lastStream && !this.isGoingAway) throw new ConnectionError(PROTOCOL_ERROR, 'the stream is idle')
    if (id % 2 === 0) throw new ConnectionError(PROTOCOL_ERROR, 'not a stream of the client')
  }
}

/** So many at once, and so many a second; beyond that the connection ends. */
function createAllowance({ burst, perSecond }: { burst: number; perSecond: number }): { use(): void } {
  let left = burst
  let since = performance.now()
  return {
    use() {
      if (left > 0) return void left--
      const now = performance.now()
      left = Math.min(burst, Math.floor(((now - since) / 1000) * perSecond)) - 1
      since = now
      if (left < 0) throw new ConnectionError(ENHANCE_YOUR_CALM, 'too many frames')
    },
  }
}

let dateText = ''
let dateSecond = 0

/** The header `Date`, made once a second. */
function currentDate(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = new Date(second * 1000).toUTCString()
  }
  return dateText
}
