// The header fields of a request: whether HTTP/2 allows them (RFC 9113, section 8), and as an object by name.

import type { IncomingHttpHeaders } from 'node:http2'

/** Undefined if the request is malformed. */
export function requestHeaders(fields: readonly string[]): IncomingHttpHeaders | undefined {
  const headers = Object.create(null) as Record<string, string>
  let isPseudo = true
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!
    const value = fields[i + 1]!
    const before = headers[name]
    if (name.charCodeAt(0) === COLON) {
      // They come first, and once.
      if (!isPseudo || before !== undefined || !PSEUDO.has(name)) return undefined
    } else {
      isPseudo = false
      if (!isName(name) || CONNECTION_SPECIFIC.has(name) || (name === 'te' && value !== 'trailers')) return undefined
    }
    if (UNSENDABLE.test(value)) return undefined
    if (before === undefined) headers[name] = value
    else if (name === 'cookie') headers[name] = `${before}; ${value}`
    // Two lengths would be two ideas of where the request ends.
    else if (name === 'content-length') {
      if (value !== before) return undefined
    }
    // Of a field that must be there once, the first counts.
    else if (!SINGLE.has(name)) headers[name] = `${before}, ${value}`
  }
  const length = headers['content-length']
  if (length !== undefined && !LENGTH.test(length)) return undefined
  return isComplete(headers) ? headers : undefined
}

/** Fields after the body. None of them is used. */
export function areTrailers(fields: readonly string[]): boolean {
  for (let i = 0; i < fields.length; i += 2) if (fields[i]!.charCodeAt(0) === COLON || !isName(fields[i]!)) return false
  return true
}

function isComplete(headers: Record<string, string>): boolean {
  const { ':method': method, ':path': path, ':scheme': scheme } = headers
  if (method === undefined || method === '') return false
  if (method === 'CONNECT') return path === undefined && scheme === undefined
  if (scheme !== 'https' && scheme !== 'http') return false
  return path !== undefined && (path.startsWith('/') || (path === '*' && method === 'OPTIONS'))
}

const COLON = 0x3a
const PSEUDO = new Set([':method', ':scheme', ':authority', ':path'])
const CONNECTION_SPECIFIC = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
])
const SINGLE = new Set([
  'age',
  'authorization',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-md5',
  'content-range',
  'content-type',
  'date',
  'dnt',
  'etag',
  'expires',
  'from',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'range',
  'referer',
  'retry-after',
  'tk',
  'upgrade-insecure-requests',
  'user-agent',
  'x-content-type-options',
])
// oxlint-disable-next-line no-control-regex
const UNSENDABLE = /[\u0000\r\n]/
const LENGTH = /^[0-9]{1,15}$/
/** A token without upper-case letters. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/

/** Names that were found valid: clients send the same ones again and again. */
const validNames = new Set<string>()
const MAX_REMEMBERED = 1000
const MAX_REMEMBERED_LENGTH = 100

function isName(name: string): boolean {
  if (validNames.has(name)) return true
  if (!NAME.test(name)) return false
  if (validNames.size < MAX_REMEMBERED && name.length <= MAX_REMEMBERED_LENGTH) validNames.add(name)
  return true
}
