// One request and its response, for HTTP/1.1 and HTTP/2 alike. The rest of http sees only this.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { Http2Session } from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { once } from '../../base/memo.js'
import { createBodyBuffer } from './body-buffer.js'

export interface Exchange {
  readonly method: string
  /** The path and the query as they were sent, percent-encoding included. */
  readonly path: string
  readonly query: string
  /** By lower-case name. */
  readonly headers: IncomingHttpHeaders
  /** Names and values alternating, as they were sent. */
  readonly rawHeaders: readonly string[]
  readonly peer: Peer
  /** The client has closed the request, or the response is complete. */
  readonly gone: boolean
  onGone(listener: () => void): void
  /** Bytes that are in memory for the rest of the response beside what was written, such as a page of a list. */
  retained: number
  /** All bytes in memory for what the client has not read, but those that its connection counts itself. */
  readonly held: number
  /**
   * The whole body; rejects with `BodyTooLarge` as soon as it is over the limit. `onBytes` is called for each part with its
   * length, and may throw to refuse the rest.
   */
  body(limit: number, onBytes?: OnBytes): Promise<Buffer>
  /** Passes the body on as it arrives, however long it is; `to` is aborted if the client does not send all of it. */
  pipeBody(to: Outgoing): void
  /** Sends a whole response. Only the first one is sent. */
  answer(status: number, headers: OutgoingHttpHeaders, body?: Buffer | string): void
  /** Begins a response of unknown length. */
  begin(status: number, headers: OutgoingHttpHeaders): Outgoing
  /** Closes the connection of HTTP/1.1 or the stream of HTTP/2, without a response if none was sent. */
  cut(): void
  /**
   * If the client asks for a WebSocket: begins a response of frames, one for each chunk, of text or of bytes. Undefined
   * if the client's handshake was refused.
   */
  openWebSocket?(isText: boolean): Outgoing | undefined
  /**
   * If the client asks for another protocol (WebSocket, SPDY): the connection itself, on which the caller must send the
   * response.
   */
  takeConnection?(): Duplex
}

export type OnBytes = (bytes: number) => void

/** A response of unknown length. */
export interface Outgoing {
  /** False if the caller must wait for `onDrain` before it writes more. */
  write(chunk: Buffer | string): boolean
  onDrain(listener: () => void): void
  end(): void
  /** Ends so that the client sees that the response is incomplete. */
  abort(): void
}

/** For requests that are answered already or whose client has gone: what is written is dropped. */
export const ANSWERED: Outgoing = { write: () => true, onDrain: () => {}, end: () => {}, abort: () => {} }

export interface Peer {
  readonly address: string
  /** The connection is one of TLS. */
  readonly encrypted: boolean
  /** The client's certificate, if it sent one. */
  certificate(): PeerCertificate | undefined
}

export interface PeerCertificate {
  readonly raw: Buffer
  readonly subject: Record<string, string | string[]>
  /** A trusted authority has signed it, and it has not expired. */
  readonly isValid: boolean
  /** When it expires, in milliseconds. */
  validTo(): number
}

/** The body is longer than the limit. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}

/** The client closed the request before its body was complete. */
export class RequestCutShort extends Error {
  override readonly name = 'RequestCutShort'
}

export function splitTarget(target: string): { path: string; query: string } {
  const at = target.indexOf('?')
  return at === -1 ? { path: target, query: '' } : { path: target.slice(0, at), query: target.slice(at + 1) }
}

const peers = new WeakMap<object, Peer>()

/** The client of a connection. Its certificate is read once, on first use. */
export function peerOf(connection: Socket | Http2Session | undefined): Peer {
  if (!connection) return new ConnectedPeer(undefined)
  let peer = peers.get(connection)
  if (!peer) peers.set(connection, (peer = new ConnectedPeer('socket' in connection ? connection.socket : connection)))
  return peer
}

class ConnectedPeer implements Peer {
  #certificate: ReturnType<Peer['certificate']> | 'unknown' = 'unknown'

  constructor(private readonly socket: Socket | undefined) {}

  get address(): string {
    return this.socket?.remoteAddress ?? ''
  }

  get encrypted(): boolean {
    return this.socket instanceof TLSSocket
  }

  certificate(): ReturnType<Peer['certificate']> {
    if (this.#certificate === 'unknown') this.#certificate = certificateOf(this.socket)
    return this.#certificate
  }
}

function certificateOf(socket: Socket | undefined): ReturnType<Peer['certificate']> {
  if (!(socket instanceof TLSSocket)) return undefined
  const { raw, subject, valid_to } = socket.getPeerCertificate()
  if (!raw) return undefined
  // OpenSSL cannot read every value that it lets in. Such a certificate names no user.
  const names = subject as unknown as Record<string, string | string[]> | undefined
  const isValid = socket.authorized && names !== undefined
  return { raw, subject: names ?? {}, isValid, validTo: once(() => Date.parse(valid_to)) }
}

/** Passes a readable stream of bytes on, no faster than `to` takes them. */
export function pipeTo(stream: NodeJS.ReadableStream, to: Outgoing): void {
  let isComplete = false
  to.onDrain(() => stream.resume())
  stream.on('data', (chunk: Buffer) => {
    if (!to.write(chunk)) stream.pause()
  })
  stream.on('end', () => {
    isComplete = true
    to.end()
  })
  const cut = () => isComplete || to.abort()
  stream.on('aborted', cut)
  stream.on('error', cut)
  stream.on('close', cut)
}

/** Collects a readable stream of bytes up to a limit. */
export function collect(stream: NodeJS.ReadableStream, limit: number, onBytes?: OnBytes): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let body = createBodyBuffer()
    const take = (chunk: Buffer): void => {
      try {
        if (body.size + chunk.length > limit) throw new BodyTooLarge(`the body is over ${limit} bytes`)
        onBytes?.(chunk.length)
        body.add(chunk)
      } catch (error) {
        // The response decides how the rest of the body is handled.
        stream.off('data', take)
        stream.pause()
        body = createBodyBuffer()
        reject(error)
      }
    }
    stream.on('data', take)
    let isComplete = false
    stream.on('end', () => {
      isComplete = true
      resolve(body.take())
    })
    // Every stream is closed in the end. The error is created only if the body is incomplete, because it is expensive.
    const cut = () => isComplete || reject(new RequestCutShort('the request was cut short'))
    stream.on('aborted', cut)
    stream.on('error', cut)
    stream.on('close', cut)
  })
}
