// Sends a response with the common headers, whole or in pieces, and compressed if it is large.
import type { OutgoingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import { constants, createGzip, gzip } from 'node:zlib'
import type { Warnings } from '../../request/warnings.js'
import type { EncodedResponse } from '../../response/encode-result.js'
import { ANSWERED, type Exchange, type Outgoing } from './exchange.js'
import { MAX_RECORDED_BYTES, type RequestAudit } from './request-audit.js'
import { warningHeaders } from './warnings.js'

/** The response of one request. It is sent once; later calls send nothing. */
export interface ResponseWriter {
  readonly exchange: Exchange
  /** 0 until the response begins. */
  readonly status: number
  /** To be called when `write` was false. The result is to be called when the client has read more, or has gone. */
  waitsForClient(): () => void
  /** The length of the body so far, as it was sent. */
  readonly bytes: number
  /** Gets the body of a response to a resource, as it is encoded. */
  tap: Pick<RequestAudit, 'response'> | undefined
  /** Small responses, such as errors. */
  send(status: number, headers: OutgoingHttpHeaders, body: Buffer | string): void
  text(status: number, text: string): void
  /** A whole response, compressed if it is large and the client accepts gzip. */
  whole(status: number, headers: OutgoingHttpHeaders, body: Buffer): Promise<void> | void
  sendEncoded(response: EncodedResponse): Promise<void> | void
  /** Begins a response of unknown length. */
  begin(status: number, headers: OutgoingHttpHeaders): Outgoing
  /** Writes a piece of a response that has begun. False if the caller must wait until the client has read more. */
  write(chunk: Buffer): boolean
  /** Begins a watch: over a WebSocket if the client asks for one. `isText` says what its frames contain. */
  beginWatch(headers: OutgoingHttpHeaders, isText: boolean): Outgoing
  /** The connection, if the client asks for another protocol on it; what is sent from now on is the caller's. */
  switchProtocols(): Duplex | undefined
  /** Ends a response that is incomplete, or that will not be sent. */
  abort(): void
}

/** Smaller responses are not compressed, as by kube-apiserver. */
const COMPRESSED_FROM = 128 * 1024
const GZIP = { level: constants.Z_BEST_SPEED }

/** What a request adds to the headers of its response, whatever that will be. */
export interface RequestHeaders {
  readonly auditId: string
  readonly warnings: Warnings
  /** The UIDs of the flow schema and the priority level that the request belongs to. */
  readonly flow: { readonly flowSchemaUid: string; readonly priorityLevelUid: string } | undefined
  /** Called when the client has not read for `STALL_MS`, although there is something to read. */
  onStall(): void
}

/** How long the rest of a response may wait for its client before the request gives up its seats. */
const STALL_MS = 500

export const createResponseWriter = (exchange: Exchange, headers?: RequestHeaders): ResponseWriter =>
  new ExchangeWriter(exchange, headers)

/** A class, since one is made for every request. */
class ExchangeWriter implements ResponseWriter {
  status = 0
  bytes = 0
  tap: ResponseWriter['tap']
  private outgoing = ANSWERED

  constructor(
    readonly exchange: Exchange,
    private readonly headers: RequestHeaders | undefined,
  ) {}

  send(status: number, headers: OutgoingHttpHeaders, body: Buffer | string): void {
    if (this.status !== 0) return
    // This may throw; then nothing is sent, and another response can be.
    this.exchange.answer(status, this.complete(headers), body)
    this.status = status
    this.bytes = body.length
  }

  text(status: number, text: string): void {
    this.send(status, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }, text)
  }

  whole(status: number, headers: OutgoingHttpHeaders, body: Buffer): Promise<void> | void {
    return sendWhole(this, status, { ...headers }, body)
  }

  sendEncoded({ status, mediaType, body, retained }: EncodedResponse): Promise<void> | void {
    const headers: OutgoingHttpHeaders = { 'content-type': mediaType }
    if (Buffer.isBuffer(body)) {
      this.tap?.response(body.length > MAX_RECORDED_BYTES ? undefined : body, mediaType)
      return sendWhole(this, status, headers, body)
    }
    return sendPieces(this, status, headers, this.tap ? tapped(body, mediaType, this.tap) : body, retained)
  }

  begin(status: number, headers: OutgoingHttpHeaders): Outgoing {
    if (this.status !== 0) return ANSWERED
    this.outgoing = this.exchange.begin(status, this.complete(headers))
    this.status = status
    return this.outgoing
  }

  write(chunk: Buffer): boolean {
    this.bytes += chunk.length
    return this.outgoing.write(chunk)
  }

  beginWatch(headers: OutgoingHttpHeaders, isText: boolean): Outgoing {
    const { exchange } = this
    if (!exchange.openWebSocket || this.status !== 0) return this.begin(200, headers)
    this.status = 101
    this.outgoing = exchange.openWebSocket(isText) ?? ANSWERED
    return this.outgoing
  }

  switchProtocols(): Duplex | undefined {
    const { exchange } = this
    if (!exchange.takeConnection || this.status !== 0 || exchange.gone) return undefined
    this.status = 101
    const connection = exchange.takeConnection()
    this.outgoing = { ...ANSWERED, abort: () => void connection.destroy() }
    return connection
  }

  waitsForClient(): () => void {
    const timer = setTimeout(() => this.headers?.onStall(), STALL_MS)
    return () => clearTimeout(timer)
  }

  abort(): void {
    if (this.status === 0) this.status = NEVER_ANSWERED
    this.outgoing.abort()
  }

  private complete(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
    headers['cache-control'] ??= 'no-cache, private'
    if (!this.headers) return headers
    const { auditId, warnings, flow } = this.headers
    headers['audit-id'] = auditId
    if (flow) {
      headers['x-kubernetes-pf-flowschema-uid'] = flow.flowSchemaUid
      headers['x-kubernetes-pf-prioritylevel-uid'] = flow.priorityLevelUid
    }
    if (warnings.texts.length > 0) headers['Warning'] = warningHeaders(warnings.texts)
    return headers
  }
}

/** The status of requests without a response, as proxies log it. */
const NEVER_ANSWERED = 499

const isHead = ({ exchange }: ResponseWriter): boolean => exchange.method === 'HEAD'

function sendWhole(
  reply: ResponseWriter,
  status: number,
  headers: OutgoingHttpHeaders,
  body: Buffer,
): Promise<void> | void {
  if (body.length <= COMPRESSED_FROM || !wantsGzip(reply.exchange)) return reply.send(status, headers, body)
  compressed(headers)
  if (isHead(reply)) return reply.begin(status, headers).end()
  return gzipped(body).then(bytes => reply.send(status, headers, bytes))
}

/** The pieces, which are recorded together when the last one was sent. */
async function* tapped(
  pieces: AsyncIterable<Buffer>,
  mediaType: string,
  tap: NonNullable<ResponseWriter['tap']>,
): AsyncIterable<Buffer> {
  const seen: Buffer[] = []
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    if (size <= MAX_RECORDED_BYTES) seen.push(piece)
    else seen.length = 0
    yield piece
  }
  tap.response(size > MAX_RECORDED_BYTES ? undefined : Buffer.concat(seen), mediaType)
}

/** A short list is sent whole, with its length; the length of a long one is not known before its end. */
async function sendPieces(
  reply: ResponseWriter,
  status: number,
  headers: OutgoingHttpHeaders,
  pieces: AsyncIterable<Buffer>,
  retained: EncodedResponse['retained'],
): Promise<void> {
  const iterator = pieces[Symbol.asyncIterator]()
  const first: Buffer[] = []
  let size = 0
  while (size <= COMPRESSED_FROM) {
    const { done, value } = await iterator.next()
    if (done) return reply.send(status, headers, Buffer.concat(first, size))
    first.push(value)
    size += value.length
  }
  const compress = wantsGzip(reply.exchange)
  if (compress) compressed(headers)
  const outgoing = reply.begin(status, headers)
  try {
    if (isHead(reply) || outgoing === ANSWERED) outgoing.end()
    else await (compress ? pipeCompressed : pipe)(reply, outgoing, drainOf(reply, outgoing, retained), first, iterator)
  } finally {
    await iterator.return?.()
  }
}

async function pipe(
  reply: ResponseWriter,
  outgoing: Outgoing,
  drain: Drain,
  first: Buffer[],
  rest: AsyncIterator<Buffer>,
): Promise<void> {
  const { exchange } = reply
  // What is sent is not kept.
  for (let piece = first.shift(); piece; piece = first.shift()) if (!reply.write(piece)) await drain.wait()
  for (;;) {
    if (exchange.gone) return
    const { done, value } = await rest.next()
    if (done) break
    if (!reply.write(value)) await drain.wait()
  }
  outgoing.end()
}

async function pipeCompressed(
  reply: ResponseWriter,
  outgoing: Outgoing,
  drain: Drain,
  first: Buffer[],
  rest: AsyncIterator<Buffer>,
): Promise<void> {
  const { exchange } = reply
  const zip = createGzip(GZIP)
  const feed = async (): Promise<void> => {
    for (let piece = first.shift(); piece; piece = first.shift()) await put(piece)
    for (;;) {
      if (exchange.gone) break
      const { done, value } = await rest.next()
      if (done) break
      await put(value)
    }
    zip.end()
  }
  const put = (piece: Buffer): Promise<void> =>
    new Promise(resolve => {
      zip.write(piece, () => resolve())
    })
  const fed = feed().catch((error: unknown) => void zip.destroy(error as Error))
  for await (const piece of zip) {
    if (exchange.gone) break
    if (!reply.write(piece as Buffer)) await drain.wait()
  }
  await fed
  outgoing.end()
}

interface Drain {
  /** Resolves when the client has read what was written, or has gone. */
  wait(): Promise<void>
}

function drainOf(reply: ResponseWriter, outgoing: Outgoing, retained: EncodedResponse['retained']): Drain {
  const { exchange } = reply
  let wake = (): void => {}
  const onDrain = (): void => wake()
  outgoing.onDrain(onDrain)
  exchange.onGone(onDrain)
  return {
    async wait() {
      if (exchange.gone) return
      const goesOn = reply.waitsForClient()
      if (retained) exchange.retained = retained()
      await new Promise<void>(resolve => {
        wake = resolve
      })
      goesOn()
      exchange.retained = 0
    },
  }
}

function compressed(headers: OutgoingHttpHeaders): void {
  headers['content-encoding'] = 'gzip'
  const others = headers['vary']
  if (String(others).includes('Accept-Encoding')) return
  headers['vary'] = others === undefined ? 'Accept-Encoding' : `${others}, Accept-Encoding`
}

/** Only the exact word `gzip` counts, without a quality. */
function wantsGzip({ headers }: Exchange): boolean {
  const requested = headers['accept-encoding']
  return requested !== undefined && requested.split(',').some(token => token.trim() === 'gzip')
}

const gzipped = (body: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    gzip(body, GZIP, (error, bytes) => (error ? reject(error) : resolve(bytes)))
  })
