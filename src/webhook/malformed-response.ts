// Why a response cannot be read over HTTP/1.1, in the words of Go. Node's parser says it in others, and gives the bytes.
import { quote } from '../meta/go/go-text.js'

/** Go's reason; undefined if it is not known. `error`: of Node's parser. */
export function malformedResponse(error: unknown): string | undefined {
  const { code = '', rawPacket } = error as { readonly code?: string; readonly rawPacket?: unknown }
  if (!code.startsWith('HPE_') || !(rawPacket instanceof Uint8Array)) return undefined
  const reason = reasonIn(Buffer.from(rawPacket).toString('latin1'))
  return reason === undefined ? undefined : broken(reason)
}

/** The reason for which Go does not read a body of this encoding. */
export const unsupportedEncoding = (encoding: string): string =>
  broken(`unsupported transfer encoding: ${quote(encoding)}`)

const broken = (reason: string): string => `net/http: HTTP/1.x transport connection broken: ${reason}`

/** Go reads at most so many informational responses before the one that counts. */
const MAX_INFORMATIONAL = 5

/** Reads as Go does: informational responses, the first line, then the header. */
function reasonIn(received: string): string | undefined {
  let text = received
  for (let read = 0; read <= MAX_INFORMATIONAL; read++) {
    const [head, body] = splitAt(text, /\r?\n\r?\n/)
    const [line = '', ...header] = head.split(/\r?\n/)
    const reason = errorOfStatusLine(line) ?? errorOfHeader(header)
    if (reason !== undefined) return reason
    if (body === undefined || !/^\S+ +1(?!01)/.test(line)) return undefined
    text = body
  }
  return undefined
}

function splitAt(text: string, separator: RegExp): readonly [before: string, after?: string] {
  const found = separator.exec(text)
  return found ? [text.slice(0, found.index), text.slice(found.index + found[0].length)] : [text]
}

function errorOfStatusLine(line: string): string | undefined {
  const space = line.indexOf(' ')
  if (space < 0) return `malformed HTTP response ${quote(line)}`
  const [code = ''] = line
    .slice(space + 1)
    .trimStart()
    .split(' ')
  if (!/^\d{3}$/.test(code)) return `malformed HTTP status code ${quote(code)}`
  const version = line.slice(0, space)
  return /^HTTP\/\d\.\d$/.test(version) ? undefined : `malformed HTTP version ${quote(version)}`
}

function errorOfHeader(lines: readonly string[]): string | undefined {
  const lengths: string[] = []
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon < 0) return `malformed MIME header: missing colon: ${quote(line)}`
    if (line.slice(0, colon).toLowerCase() === 'content-length') lengths.push(line.slice(colon + 1).trim())
  }
  const [first, ...others] = lengths
  if (others.some(length => length !== first)) {
    const got = lengths.map(quote).join(' ')
    return `http: message cannot contain multiple Content-Length headers; got [${got}]`
  }
  return first === undefined || /^\d+$/.test(first) ? undefined : `bad Content-Length ${quote(first)}`
}
