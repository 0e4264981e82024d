// The API of this server as the sender of a request sees it. Requests go through the same handler with the same
// credentials, so that authentication, impersonation, authorization and everything below are those of any client.

import type { IncomingHttpHeaders } from 'node:http'
import { LiveError, type LiveServer, liveServer } from '../../authoring/live-server.js'
import type { Exchange, Outgoing } from '../../http/exchange.js'
import { clientGone } from '../../request/request.js'

/** Larger responses are not read. */
const MAX_RESPONSE = 64 * 1024 * 1024
const USER_AGENT = 'binnacle-console'

export const ownApi = (handle: (exchange: Exchange) => void, sender: Exchange): LiveServer =>
  liveServer('this server', ({ method, path, body, mediaType }) => {
    if (sender.gone) throw clientGone()
    return new Promise((resolve, reject) => {
      const [at = '', query = ''] = path.split('?', 2)
      handle(new InnerExchange(sender, { method, path: at, query, body, mediaType }, resolve, reject))
    })
  })

interface InnerRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly body: Buffer | undefined
  readonly mediaType: string
}

interface InnerResponse {
  readonly code: number
  readonly bytes: Buffer
}

/** Headers of the sender that are about its own body or response. */
const OWN_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'content-length',
  'content-type',
  'if-none-match',
  'transfer-encoding',
])

class InnerExchange implements Exchange {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly peer: Exchange['peer']
  /** The sender's exchange counts what its client does not read. */
  retained = 0
  readonly held = 0
  private isAnswered = false

  constructor(
    private readonly sender: Exchange,
    private readonly request: InnerRequest,
    private readonly resolve: (response: InnerResponse) => void,
    private readonly reject: (error: Error) => void,
  ) {
    const { method, path, query, mediaType } = request
    const kept = Object.entries(sender.headers).filter(([name]) => !OWN_HEADERS.has(name))
    this.method = method
    this.path = path
    this.query = query
    this.headers = { ...Object.fromEntries(kept), accept: 'application/json', 'content-type': mediaType }
    this.headers['user-agent'] = USER_AGENT
    this.rawHeaders = sender.rawHeaders
    this.peer = sender.peer
  }

  get gone(): boolean {
    return this.isAnswered || this.sender.gone
  }

  onGone(listener: () => void): void {
    this.sender.onGone(listener)
  }

  async body(): Promise<Buffer> {
    return this.request.body ?? Buffer.alloc(0)
  }

  pipeBody(to: Outgoing): void {
    if (this.request.body) to.write(this.request.body)
    to.end()
  }

  answer(code: number, _: object, body: Buffer | string = ''): void {
    if (this.isAnswered) return
    this.isAnswered = true
    this.resolve({ code, bytes: Buffer.from(body) })
  }

  begin(code: number): Outgoing {
    const chunks: Buffer[] = []
    let size = 0
    return {
      write: chunk => {
        size += chunk.length
        if (size > MAX_RESPONSE) this.fail('the response is too large')
        else chunks.push(Buffer.from(chunk))
        return true
      },
      onDrain: () => {},
      end: () => this.answer(code, {}, Buffer.concat(chunks)),
      abort: () => this.fail('the response was cut short'),
    }
  }

  cut(): void {
    this.fail('the connection was cut')
  }

  private fail(why: string): void {
    this.isAnswered = true
    this.reject(new LiveError(why))
  }
}
