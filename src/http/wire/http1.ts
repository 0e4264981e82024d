// HTTP/1.1.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { ANSWERED, collect, type Exchange, type Outgoing, peerOf, pipeTo, splitTarget } from './exchange.js'

export function exchangeOfHttp1(request: IncomingMessage, response: ServerResponse): Exchange {
  const { path, query } = splitTarget(request.url ?? '/')
  response.on('error', () => {})
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
    body: (limit, onBytes) => collect(request, limit, onBytes),
    pipeBody: to => pipeTo(request, to),
    answer(status, headers, body) {
      if (response.headersSent || response.destroyed) return
      headers['content-length'] ??= body === undefined ? 0 : Buffer.byteLength(body)
      response.writeHead(status, headers)
      response.end(body)
      if (!request.complete) dropRest(request)
    },
    begin(status, headers): Outgoing {
      if (response.headersSent || response.destroyed) return ANSWERED
      response.writeHead(status, headers)
      response.flushHeaders()
      return {
        write: chunk => response.destroyed || response.writableEnded || response.write(chunk),
        onDrain: listener => void response.on('drain', listener),
        end: () => void response.end(),
        abort: () => response.destroy(),
      }
    },
    cut: () => void request.socket.destroy(),
  }
}

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
