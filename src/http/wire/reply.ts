// Sends an answer: with the headers that every answer carries, whole or in pieces, compressed where that is worth it.
import type { OutgoingHttpHeaders } from 'node:http'
import { constants, createGzip, gzip } from 'node:zlib'
import type { Warnings } from '../../request/warnings.js'
import type { Representation } from '../../response/encode-result.js'
import { ANSWERED, type Exchange, type Outgoing } from './exchange.js'
import { warningHeaders } from './warnings.js'

/** The answering side of one request. It answers once; what comes after that is not sent. */
export interface Reply {
  readonly exchange: Exchange
  /** 0 until the answer begins. */
  readonly status: number
  /** Small answers, such as faults. */
  send(status: number, headers: OutgoingHttpHeaders, body: Buffer | string): void
  text(status: number, text: string): void
  /** An answer in one piece, compressed if it is large and the client likes it so. */
  whole(status: number, headers: OutgoingHttpHeaders, body: Buffer): Promise<void> | void
  represent(representation: Representation): Promise<void> | void
  /** Begins an answer that ends when it ends. */
  begin(status: number, headers: OutgoingHttpHeaders): Outgoing
  /** Breaks off an answer that has begun, or that never will be given. */
  abort(): void
}

/** Less is not worth the time. */
const COMPRESSED_FROM = 128 * 1024
const GZIP = { level: constants.Z_BEST_SPEED }

/** What a request adds to the headers of its response, whatever that will be. */
export interface ReplyHeaders {
  readonly auditId: string
  readonly warnings: Warnings
}

export const createReply = (exchange: Exchange, headers?: ReplyHeaders): Reply => new ExchangeReply(exchange, headers)

/** A class, since one is made for every request. */
class ExchangeReply implements Reply {
  status = 0
  private outgoing = ANSWERED

  constructor(
    readonly exchange: Exchange,
    private readonly headers: ReplyHeaders | undefined,
  ) {}

  send(status: number, headers: OutgoingHttpHeaders, body: Buffer | string): void {
    if (this.status !== 0) return
    this.status = status
    this.exchange.answer(status, this.complete(headers), body)
  }

  text(status: number, text: string): void {
    this.send(status, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }, text)
  }

  whole(status: number, headers: OutgoingHttpHeaders, body: Buffer): Promise<void> | void {
    return sendWhole(this, status, { ...headers }, body)
  }

  represent({ status, mediaType, body }: Representation): Promise<void> | void {
    const headers: OutgoingHttpHeaders = { 'content-type': mediaType }
    return Buffer.isBuffer(body) ? sendWhole(this, status, headers, body) : sendPieces(this, status, headers, body)
  }

  begin(status: number, headers: OutgoingHttpHeaders): Outgoing {
    if (this.status !== 0) return ANSWERED
    this.status = status
    this.outgoing = this.exchange.begin(status, this.complete(headers))
    return this.outgoing
  }

  abort(): void {
    if (this.status === 0) this.status = NEVER_ANSWERED
    this.outgoing.abort()
  }

  private complete(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
    headers['cache-control'] ??= 'no-cache, private'
    if (!this.headers) return headers
    const { auditId, warnings } = this.headers
    headers['audit-id'] = auditId
    if (warnings.texts.length > 0) headers['Warning'] = warningHeaders(warnings.texts)
    return headers
  }
}

/** What proxies count such requests as. */
const NEVER_ANSWERED = 499

const isHead = ({ exchange }: Reply): boolean => exchange.method === 'HEAD'

function sendWhole(reply: Reply, status: number, headers: OutgoingHttpHeaders, body: Buffer): Promise<void> | void {
  if (body.length <= COMPRESSED_FROM || !wantsGzip(reply.exchange)) return reply.send(status, headers, body)
  compressed(headers)
  if (isHead(reply)) return reply.begin(status, headers).end()
  return gzipped(body).then(bytes => reply.send(status, headers, bytes))
}

/** A list that turns out to be short goes out whole; of a long one nobody knows the length before its end. */
async function sendPieces(
  reply: Reply,
  status: number,
  headers: OutgoingHttpHeaders,
  pieces: AsyncIterable<Buffer>,
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
    else await (compress ? pourCompressed : pour)(reply.exchange, outgoing, first, iterator)
  } finally {
    await iterator.return?.()
  }
}

async function pour(
  exchange: Exchange,
  outgoing: Outgoing,
  first: readonly Buffer[],
  rest: AsyncIterator<Buffer>,
): Promise<void> {
  const room = roomIn(exchange, outgoing)
  for (const piece of first) if (!outgoing.write(piece)) await room.wait()
  for (;;) {
    if (exchange.gone) return
    const { done, value } = await rest.next()
    if (done) break
    if (!outgoing.write(value)) await room.wait()
  }
  outgoing.end()
}

async function pourCompressed(
  exchange: Exchange,
  outgoing: Outgoing,
  first: readonly Buffer[],
  rest: AsyncIterator<Buffer>,
): Promise<void> {
  const room = roomIn(exchange, outgoing)
  const zip = createGzip(GZIP)
  const feed = async (): Promise<void> => {
    for (const piece of first) await put(piece)
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
    if (!outgoing.write(piece as Buffer)) await room.wait()
  }
  await fed
  outgoing.end()
}

/** Waits until a client has taken what it was sent, or is gone. */
function roomIn(exchange: Exchange, outgoing: Outgoing): { wait(): Promise<void> } {
  let wake = (): void => {}
  const onRoom = (): void => wake()
  outgoing.onDrain(onRoom)
  exchange.onGone(onRoom)
  return {
    wait: () =>
      exchange.gone
        ? Promise.resolve()
        : new Promise(resolve => {
            wake = resolve
          }),
  }
}

function compressed(headers: OutgoingHttpHeaders): void {
  headers['content-encoding'] = 'gzip'
  const others = headers['vary']
  headers['vary'] = others === undefined ? 'Accept-Encoding' : `${others}, Accept-Encoding`
}

/** Asked for by exactly this word, without a quality. */
function wantsGzip({ headers }: Exchange): boolean {
  const requested = headers['accept-encoding']
  return requested !== undefined && requested.split(',').some(token => token.trim() === 'gzip')
}

const gzipped = (body: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    gzip(body, GZIP, (error, bytes) => (error ? reject(error) : resolve(bytes)))
  })
