// One request and its answer, whichever version of HTTP carries them. Everything above the wire sees only this.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { Http2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

export interface Exchange {
  readonly method: string
  /** The path and the query as they were sent, percent-encoding included. */
  readonly path: string
  readonly query: string
  /** By lower-case name. */
  readonly headers: IncomingHttpHeaders
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[]
  readonly peer: Peer
  /** True once the client can no longer be answered. */
  readonly gone: boolean
  onGone(listener: () => void): void
  /** The whole body; rejects with `BodyTooLarge` as soon as it is over the limit. */
  body(limit: number): Promise<Buffer>
  /** Answers in one piece. Only the first answer counts. */
  answer(status: number, headers: OutgoingHttpHeaders, body?: Buffer | string): void
  /** Begins an answer whose end is not known yet. */
  begin(status: number, headers: OutgoingHttpHeaders): Outgoing
}

/** An answer under way. */
export interface Outgoing {
  /** `false` asks to wait for `onDrain` before writing more. */
  write(chunk: Buffer | string): boolean
  onDrain(listener: () => void): void
  end(): void
  /** Breaks off: the client sees that the answer is not complete. */
  abort(): void
}

/** Where nothing can be sent any more, because the answer is out or nobody is there to hear it. */
export const ANSWERED: Outgoing = { write: () => true, onDrain: () => {}, end: () => {}, abort: () => {} }

export interface Peer {
  readonly address: string
  /** The client's certificate, if it sent one. */
  certificate(): PeerCertificate | undefined
}

export interface PeerCertificate {
  readonly raw: Buffer
  readonly subject: Record<string, string | string[]>
  /** A trusted authority has signed it, and it has not expired. */
  readonly isValid: boolean
}

/** The body was longer than the caller wanted to read. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}

/** The client went away in the middle of its request. */
export class RequestCutShort extends Error {
  override readonly name = 'RequestCutShort'
}

export function splitTarget(target: string): { path: string; query: string } {
  const at = target.indexOf('?')
  return at === -1 ? { path: target, query: '' } : { path: target.slice(0, at), query: target.slice(at + 1) }
}

const peers = new WeakMap<object, Peer>()

/** The other end of a connection. What is known of it is found out once, and only when somebody asks. */
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

  certificate(): ReturnType<Peer['certificate']> {
    if (this.#certificate === 'unknown') this.#certificate = certificateOf(this.socket)
    return this.#certificate
  }
}

function certificateOf(socket: Socket | undefined): ReturnType<Peer['certificate']> {
  if (!(socket instanceof TLSSocket)) return undefined
  const { raw, subject } = socket.getPeerCertificate()
  if (!raw) return undefined
  return { raw, subject: subject as unknown as Record<string, string | string[]>, isValid: socket.authorized }
}

/** Collects a readable stream of bytes up to a limit. */
export function collect(stream: NodeJS.ReadableStream, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const take = (chunk: Buffer): void => {
      size += chunk.length
      if (size <= limit) {
        chunks.push(chunk)
        return
      }
      // Whoever answers decides what becomes of the rest.
      stream.off('data', take)
      stream.pause()
      reject(new BodyTooLarge(`the body is over ${limit} bytes`))
    }
    stream.on('data', take)
    let isComplete = false
    stream.on('end', () => {
      isComplete = true
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
    })
    // Every stream is closed in the end; an error is only made where it means something, since it costs as much as a get.
    const cut = () => isComplete || reject(new RequestCutShort('the request was cut short'))
    stream.on('aborted', cut)
    stream.on('error', cut)
    stream.on('close', cut)
  })
}
