// HTTP/1.1, for curl, browsers and clients that know nothing newer.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { collect, type Exchange, type Outgoing, peerOf, splitTarget } from './exchange.js'

export function exchangeOfHttp1(request: IncomingMessage, response: ServerResponse): Exchange {
  const { path, query } = splitTarget(request.url ?? '/')
  response.on('error', () => {})
  return {
    method: request.method ?? 'GET',
    path,
    query,
    headers: request.headers,
    peer: peerOf(request.socket),
    get gone() {
      return response.destroyed || response.closed
    },
    onGone: listener => void response.once('close', listener),
    body: limit => collect(request, limit),
    answer(status, headers, body) {
      if (response.headersSent || response.destroyed) return
      // What is left of the request would have to be read before the connection could be used again.
      if (!request.complete) headers.connection = 'close'
      headers['content-length'] ??= body === undefined ? 0 : Buffer.byteLength(body)
      response.writeHead(status, headers)
      response.end(body)
    },
    begin(status, headers): Outgoing {
      response.writeHead(status, headers)
      response.flushHeaders()
      return {
        write: chunk => response.destroyed || response.writableEnded || response.write(chunk),
        onDrain: listener => void response.on('drain', listener),
        end: () => void response.end(),
        abort: () => response.destroy(),
      }
    },
  }
}
