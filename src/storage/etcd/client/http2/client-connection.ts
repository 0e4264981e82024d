// One connection of HTTP/2, as a client (RFC 9113). Node's module costs a call of etcd as much processor time here as the
// call takes in etcd. A call is one object here, and all calls of a turn of the event loop leave in one write.

import type { Socket } from 'node:net'
import { checkGoaway, checkPing, readSettings, windowGrowth } from '../../../../base/http2/control-frames.js'
import { FrameReader, type FrameSink, unpadded } from '../../../../base/http2/frame-reader.js'
import {
  ACK,
  CANCEL,
  COMPRESSION_ERROR,
  ConnectionError,
  DATA,
  DEFAULT_WINDOW,
  ENABLE_PUSH,
  END_HEADERS,
  END_STREAM,
  FLOW_CONTROL_ERROR,
  FRAME_SIZE,
  FRAME_SIZE_ERROR,
  GOAWAY,
  HEADER_TABLE_SIZE,
  HEADERS,
  INITIAL_WINDOW_SIZE,
  INTERNAL_ERROR,
  MAX_CONCURRENT_STREAMS,
  MAX_WINDOW,
  PING,
  PREFACE,
  PROTOCOL_ERROR,
  PUSH_PROMISE,
  REFUSED_STREAM,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from '../../../../base/http2/frames.js'
import { CompressionError, createHpackDecoder } from '../../../../base/http2/hpack-decoder.js'
import { createRequestEncoder, type RequestFields } from '../../../../base/http2/request-encoder.js'
import { ClientStream, type StreamHost, type StreamSink } from './client-stream.js'
import { createFrameOutput, type FrameOutput } from './frame-output.js'

export interface ClientConnectionOptions {
  /** The other side has sent its settings, so that calls may begin. */
  onReady(): void
  /** Something has come. */
  onActivity(): void
  /** With the reason, if the connection did not end as it should. */
  onClose(error: Error | undefined): void
}

/** How much a stream may receive before its reader takes any of it: bounds the memory of a paused watch. */
const STREAM_WINDOW = 1024 * 1024
const CONNECTION_WINDOW = 16 * 1024 * 1024
/** The limit on the headers of a response, as for Go's clients of gRPC. */
const MAX_HEADER_BYTES = 16 * 1024 * 1024
/** How long the answer to a ping waits: much less than servers wait for it. */
const PING_ANSWER_MS = 20
/** No stream is opened after this one: the numbers of streams end soon. */
const LAST_STREAM = MAX_WINDOW - 10_000

export class ClientConnection implements StreamHost, FrameSink {
  isOver = false
  private readonly streams = new Map<number, ClientStream>()
  /** Streams for which the other side has no place yet. */
  private readonly waiting: ClientStream[] = []
  /** Streams that wait for a window. */
  private blocked: ClientStream[] = []
  private readonly encoder = createRequestEncoder()
  private readonly decoder = createHpackDecoder(MAX_HEADER_BYTES)
  private readonly frames: FrameReader
  private readonly output: FrameOutput
  private nextId = 1
  private maxStreams = Number.POSITIVE_INFINITY
  private initialWindow = DEFAULT_WINDOW
  private sendWindow = DEFAULT_WINDOW
  private receiveWindow = CONNECTION_WINDOW
  private unacknowledged = 0
  private isReady = false
  /** New streams are refused; the connection ends with those that it has. */
  private isRetired = false
  private error: Error | undefined

  constructor(
    private readonly socket: Socket,
    private readonly options: ClientConnectionOptions,
  ) {
    this.output = createFrameOutput(socket)
    this.frames = new FrameReader(this, MAX_HEADER_BYTES)
    socket.setNoDelay(true)
    socket.on('data', chunk => this.onData(chunk))
    socket.on('error', error => (this.error ??= error))
    socket.on('end', () => this.destroy())
    socket.on('close', () => this.over())
    socket.write(PREFACE)
    this.settings([
      [ENABLE_PUSH, 0],
      [INITIAL_WINDOW_SIZE, STREAM_WINDOW],
    ])
    this.number(WINDOW_UPDATE, 0, CONNECTION_WINDOW - DEFAULT_WINDOW)
  }

  // — for its owner

  /** How many streams it has. */
  get size(): number {
    return this.streams.size + this.waiting.length
  }

  /** Whether new streams may be opened. */
  get isOpen(): boolean {
    return !this.isOver && !this.isRetired && this.nextId <= LAST_STREAM
  }

  /** Undefined if the connection takes no streams. */
  open(fields: RequestFields, sink: StreamSink): ClientStream | undefined {
    if (!this.isOpen) return undefined
    const stream = new ClientStream(fields, sink, this)
    if (this.streams.size < this.maxStreams) this.begin(stream)
    else this.waiting.push(stream)
    return stream
  }

  ping(): void {
    this.output.add(PING, 0, 0, PING_DATA)
  }

  retire(): void {
    this.isRetired = true
    this.endIfDone()
  }

  destroy(error?: Error): void {
    this.error ??= error
    this.socket.destroy()
    this.over()
  }

  private endIfDone(): void {
    if (!this.isOver && !this.isOpen && this.size === 0) this.destroy()
  }

  private over(): void {
    if (this.isOver) return
    this.isOver = true
    this.output.stop()
    this.breakStreams([...this.streams.values()], 'lost')
    this.breakStreams(this.waiting.splice(0), 'unsent')
    this.options.onClose(this.error)
  }

  private breakStreams(streams: readonly ClientStream[], progress: 'unsent' | 'lost'): void {
    for (const stream of streams) {
      if (stream.isOver) continue
      this.remove(stream)
      stream.sink.broken(progress)
    }
  }

  // — for the streams

  private begin(stream: ClientStream): void {
    stream.id = this.nextId
    this.nextId += 2
    stream.sendWindow = this.initialWindow
    stream.receiveWindow = STREAM_WINDOW
    this.streams.set(stream.id, stream)
    this.output.add(HEADERS, END_HEADERS, stream.id, this.encoder.encode(stream.fields))
    this.send(stream)
  }

  /** Sends what the windows allow. */
  send(stream: ClientStream): void {
    const { unsent } = stream
    while (unsent.length > 0) {
      const chunk = unsent[0]!
      const left = chunk.length - stream.offset
      const length = Math.min(left, FRAME_SIZE, this.sendWindow, stream.sendWindow)
      if (length <= 0 && left > 0) {
        if (!this.blocked.includes(stream)) this.blocked.push(stream)
        return
      }
      const isChunkSent = length === left
      const isLast = isChunkSent && unsent.length === 1 && stream.isEnded
      this.output.add(DATA, isLast ? END_STREAM : 0, stream.id, chunk, stream.offset, stream.offset + length)
      this.sendWindow -= length
      stream.sendWindow -= length
      stream.offset += length
      if (isLast) stream.isEndSent = true
      if (!isChunkSent) continue
      unsent.shift()
      stream.offset = 0
    }
  }

  private sendBlocked(): void {
    if (this.blocked.length === 0) return
    const streams = this.blocked
    this.blocked = []
    for (const stream of streams) if (!stream.isOver) this.send(stream)
  }

  consumed(stream: ClientStream, bytes: number): void {
    if (stream.isOver) return
    stream.unacknowledged += bytes
    if (stream.unacknowledged >= STREAM_WINDOW / 2) this.number(WINDOW_UPDATE, stream.id, stream.grow())
  }

  cancel(stream: ClientStream): void {
    if (stream.id !== 0) this.number(RST_STREAM, stream.id, CANCEL)
    this.remove(stream)
  }

  private remove(stream: ClientStream): void {
    stream.isOver = true
    stream.unsent.length = 0
    if (stream.id === 0) {
      const at = this.waiting.indexOf(stream)
      if (at !== -1) this.waiting.splice(at, 1)
    }
    this.streams.delete(stream.id)
    while (this.waiting.length > 0 && this.streams.size < this.maxStreams && !this.isOver) {
      this.begin(this.waiting.shift()!)
    }
    this.endIfDone()
  }

  /** The other side has ended the stream. It need not know the rest of the request. */
  private finish(stream: ClientStream): void {
    if (stream.isEndSent) this.remove(stream)
    else this.cancel(stream)
  }

  // — what the other side sends

  private onData(chunk: Buffer): void {
    if (this.isOver) return
    this.options.onActivity()
    this.output.hold()
    try {
      this.frames.push(chunk)
    } catch (error) {
      if (error instanceof ConnectionError) this.fail(error.code, error)
      else if (error instanceof CompressionError) this.fail(COMPRESSION_ERROR, error)
      else {
        this.fail(INTERNAL_ERROR, error as Error)
        throw error
      }
    } finally {
      this.output.release()
    }
  }

  private fail(code: number, error: Error): void {
    const payload = Buffer.alloc(8)
    payload.writeUInt32BE(code, 4)
    this.output.add(GOAWAY, 0, 0, payload)
    this.output.release()
    this.destroy(error)
  }

  onHeaders(id: number, block: Buffer, isEnd: boolean): void {
    const fields = this.decoder.decode(block)
    const stream = this.streams.get(id)
    if (!stream) return this.checkOpened(id)
    if (!fields) {
      this.cancel(stream)
      return stream.sink.broken('lost')
    }
    stream.receiveHeaders(fields, isEnd)
    if (isEnd && !stream.isOver) this.finish(stream)
  }

  onFrame(type: number, flags: number, id: number, bytes: Buffer, from: number, to: number): void {
    switch (type) {
      case DATA:
        return this.onDataFrame(flags, id, bytes, from, to)
      case WINDOW_UPDATE:
        return this.onWindowUpdate(id, windowGrowth(bytes, from, to))
      case PING:
        checkPing(id, from, to)
        return flags & ACK ? undefined : this.answerPing(Buffer.from(bytes.subarray(from, to)))
      case SETTINGS:
        return this.onSettings(flags, bytes, from, to)
      case RST_STREAM:
        if (to - from !== 4) throw new ConnectionError(FRAME_SIZE_ERROR, 'RST_STREAM')
        return this.onReset(id, bytes.readUInt32BE(from))
      case GOAWAY:
        checkGoaway(id, from, to)
        return this.onGoaway(bytes.readUInt32BE(from) & MAX_WINDOW)
      case PUSH_PROMISE:
        throw new ConnectionError(PROTOCOL_ERROR, 'a push was not asked for')
      default: // Frames of unknown types, and priorities, are ignored.
    }
  }

  private onDataFrame(flags: number, id: number, bytes: Buffer, from: number, to: number): void {
    const [start, end] = unpadded(flags, bytes, from, to)
    this.receiveWindow -= to - from
    if (this.receiveWindow < 0) throw new ConnectionError(FLOW_CONTROL_ERROR, 'the server sends too much')
    this.acknowledge(to - from)
    const stream = this.streams.get(id)
    if (!stream) return this.checkOpened(id)
    stream.receiveWindow -= to - from
    if (stream.receiveWindow < 0) throw new ConnectionError(FLOW_CONTROL_ERROR, 'the server sends too much')
    if (to - from > end - start) this.consumed(stream, to - from - (end - start))
    const isEnd = (flags & END_STREAM) !== 0
    stream.receive(bytes.subarray(start, end), isEnd)
    if (isEnd && !stream.isOver) this.finish(stream)
  }

  /** The window of the connection is never held back: each stream has its own. */
  private acknowledge(bytes: number): void {
    this.unacknowledged += bytes
    if (this.unacknowledged < CONNECTION_WINDOW / 2) return
    this.number(WINDOW_UPDATE, 0, this.unacknowledged)
    this.receiveWindow += this.unacknowledged
    this.unacknowledged = 0
  }

  private onWindowUpdate(id: number, by: number): void {
    if (id === 0) {
      this.sendWindow += by
      if (this.sendWindow > MAX_WINDOW) throw new ConnectionError(FLOW_CONTROL_ERROR, 'the window is too large')
      return this.sendBlocked()
    }
    const stream = this.streams.get(id)
    if (!stream) return this.checkOpened(id)
    stream.sendWindow += by
    this.sendBlocked()
  }

  private onSettings(flags: number, bytes: Buffer, from: number, to: number): void {
    if (flags & ACK) return
    readSettings(bytes, from, to, (setting, value) => {
      if (setting === INITIAL_WINDOW_SIZE) this.setInitialWindow(value)
      else if (setting === MAX_CONCURRENT_STREAMS) this.maxStreams = value
      else if (setting === HEADER_TABLE_SIZE) this.encoder.resize(value)
    })
    this.output.add(SETTINGS, ACK, 0, NOTHING)
    this.sendBlocked()
    if (this.isReady) return
    this.isReady = true
    this.options.onReady()
  }

  private setInitialWindow(value: number): void {
    for (const stream of this.streams.values()) stream.sendWindow += value - this.initialWindow
    this.initialWindow = value
  }

  private onReset(id: number, code: number): void {
    const stream = this.streams.get(id)
    if (!stream) return this.checkOpened(id)
    this.breakStreams([stream], code === REFUSED_STREAM ? 'unsent' : 'lost')
  }

  /**
   * Go's servers of gRPC measure the connection by a ping with the first data that come after the answer to the last one. A
   * call at a time would be two messages in each direction, so the answer waits.
   */
  private answerPing(data: Buffer): void {
    setTimeout(() => this.output.add(PING, ACK, 0, data), PING_ANSWER_MS).unref()
  }

  /**
   * The other side takes no more streams, and has not processed those after the last one. Requests that were sent whole are
   * answered still. A stream without an end, such as a watch, would hold up a server that stops.
   */
  private onGoaway(last: number): void {
    this.isRetired = true
    this.breakStreams(this.waiting.splice(0), 'unsent')
    for (const stream of this.streams.values()) {
      if (stream.isOver || (stream.id <= last && stream.isEnded)) continue
      if (stream.id <= last) this.number(RST_STREAM, stream.id, CANCEL)
      this.breakStreams([stream], stream.id > last ? 'unsent' : 'lost')
    }
    this.endIfDone()
  }

  /** A frame of a stream that is over is ignored: the other side did not know that yet. */
  private checkOpened(id: number): void {
    if (id === 0 || id % 2 === 0 || id >= this.nextId) throw new ConnectionError(PROTOCOL_ERROR, 'the stream is idle')
  }

  // — control frames

  private number(type: number, id: number, value: number): void {
    const payload = Buffer.allocUnsafe(4)
    payload.writeUInt32BE(value)
    this.output.add(type, 0, id, payload)
  }

  private settings(settings: readonly (readonly [id: number, value: number])[]): void {
    const payload = Buffer.allocUnsafe(6 * settings.length)
    for (const [i, [id, value]] of settings.entries()) {
      payload.writeUInt16BE(id, 6 * i)
      payload.writeUInt32BE(value, 6 * i + 2)
    }
    this.output.add(SETTINGS, 0, 0, payload)
  }
}

const PING_DATA = Buffer.alloc(8)
const NOTHING = Buffer.alloc(0)
