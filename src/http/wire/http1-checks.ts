// Requests of HTTP/1.1 that Node's parser accepts and Go's server refuses, with Go's answers. Two servers that read the same
// bytes in different ways, one in front of the other, can be made to see different requests.
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Answers the request and closes its connection if it cannot be served. */
export function refuseMalformed(request: IncomingMessage, response: ServerResponse): boolean {
  const refusal = refusalOf(request)
  if (!refusal) return false
  const [status, text] = refusal
  response.shouldKeepAlive = false
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'content-length': text.length })
  response.end(text)
  return true
}

function refusalOf({
  httpVersionMajor,
  headers,
  rawHeaders,
}: IncomingMessage): [status: number, text: string] | undefined {
  if (httpVersionMajor === 0) return [400, '400 Bad Request']
  if (httpVersionMajor > 1) return [505, '505 HTTP Version Not Supported: unsupported protocol version']
  const encoding = headers['transfer-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') return [501, 'Unsupported transfer encoding']
  if (hasTwoHosts(rawHeaders)) return [400, '400 Bad Request: too many Host headers']
  if (!VALID_HOST.test(headers.host ?? '')) return [400, '400 Bad Request: malformed Host header']
  return undefined
}

/** Go's set of characters: wider than that of names and addresses. */
const VALID_HOST = /^[\w!$%&'()*+,\-.:;=[\]~]*$/

/** Node keeps the first of them and drops the others. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === 'host' && ++count > 1) return true
  }
  return false
}
