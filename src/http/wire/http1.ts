// HTTP/1.1.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { ANSWERED, collect, type Exchange, type Outgoing, peerOf, pipeTo, splitTarget } from './exchange.js'
import { type SlicedOutput, slicedOutput } from './sliced-output.js'

/** `continues`: the client sends its body once it is asked to (`Expect: 100-continue`). */
export function exchangeOfHttp1(request: IncomingMessage, response: ServerResponse, continues = false): Exchange {
  const { path, query } = splitTarget(originForm(request))
  let isBodyWanted = !continues
  const wantBody = (): void => {
    if (isBodyWanted || response.headersSent || response.destroyed) return
    isBodyWanted = true
    response.writeContinue()
  }
  const writeHead = (status: number, headers: OutgoingHttpHeaders): void => {
    // The client may send the body now or leave it out, so that the next bytes may be of either.
    if (!isBodyWanted) response.shouldKeepAlive = false
    response.writeHead(status, headers)
  }
  response.on('error', () => {})
  const outgoing = {
    write: (chunk: Buffer | string) => response.destroyed || response.writableEnded || response.write(chunk),
    onDrain: (listener: () => void) => void response.on('drain', listener),
    end: () => void response.end(),
    abort: () => void response.destroy(),
  }
  let sliced: SlicedOutput | undefined
  return {
    method: request.method ?? 'GET',
    path,
    query,
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    get peer() {
      return peerOf(request.socket)
    },
    get gone() {
      return response.destroyed || response.closed
    },
    onGone: listener => void response.once('close', listener),
    retained: 0,
    get held() {
      return this.retained + (sliced?.pending ?? 0)
    },
    body(limit, onBytes) {
      wantBody()
      return collect(request, limit, onBytes)
    },
    pipeBody(to) {
      wantBody()
      pipeTo(request, to)
    },
    answer(status, headers, body) {
      if (response.headersSent || response.destroyed) return
      // Node would send a text together with the headers, both as UTF-8. The values of headers are bytes.
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      headers['content-length'] ??= bytes === undefined ? 0 : bytes.length
      writeHead(status, headers)
      if (bytes === undefined || bytes.length <= LARGE) response.end(bytes)
      else {
        sliced = slicedOutput(outgoing)
        sliced.write(bytes)
        sliced.end()
      }
      if (!request.complete) dropRest(request)
    },
    begin(status, headers): Outgoing {
      if (response.headersSent || response.destroyed) return ANSWERED
      writeHead(status, headers)
      // Sends the headers as the bytes that they are; `flushHeaders` would encode them as UTF-8.
      if (request.method === 'HEAD') response.end()
      else response.write('', 'latin1')
      sliced = slicedOutput(outgoing)
      return sliced
    },
    cut: () => void request.socket.destroy(),
  }
}

/** A response that is not larger is written at once. */
const LARGE = 256 * 1024

/**
 * The target as a path and a query. Clients of a proxy send a whole URL (`GET https://host/version`); its host takes the
 * place of the header Host.
 */
function originForm({ url = '/', headers }: IncomingMessage): string {
  if (url.startsWith('/')) return url
  const absolute = ABSOLUTE_FORM.exec(url)
  if (!absolute) return url
  const [whole, host] = absolute
  if (host !== '') headers.host = host!
  const rest = url.slice(whole.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** The scheme, the user, which is ignored, and the host with its port. */
const ABSOLUTE_FORM = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#]*)/i

/** How much of a body is read after the response, and for how long. */
const REST_BYTES = 16 * 1024 * 1024
const REST_MS = 5_000

/**
 * Reads the rest of a body after the response, so that the connection can be used again. A connection that is closed while
 * data arrive is reset, and the client might not see its response.
 */
function dropRest(request: IncomingMessage): void {
  let left = REST_BYTES
  const timer = setTimeout(() => request.socket.destroy(), REST_MS)
  timer.unref()
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) request.socket.destroy()
  })
  request.once('close', () => clearTimeout(timer))
  request.resume()
}
