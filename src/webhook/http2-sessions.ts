// Connections of HTTP/2 to webhooks, one for each target. A call is a stream of it.

import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { NotProcessed, readResponseBody, UnreadableBody, type WebhookResponse } from './webhook-response.js'

export interface Http2Call {
  readonly method: string
  readonly path: string
  /** `host` is the authority. */
  readonly headers: OutgoingHttpHeaders
  readonly body: string
  readonly signal: AbortSignal
}

export interface Http2Sessions {
  /** The call over the connection with this key; undefined if there is none. */
  send(key: string, call: Http2Call): Promise<WebhookResponse> | undefined
  /** Takes over a connection on which HTTP/2 was negotiated. */
  adopt(key: string, socket: TLSSocket): void
  close(): void
}

interface Session {
  readonly session: ClientHttp2Session
  /** Whether a call over it has succeeded. */
  isProven: boolean
}

/** A connection without calls is closed after this time, as those of HTTP/1.1 are. */
const IDLE_MS = 90_000
const SETTINGS = { enablePush: false, initialWindowSize: 1024 * 1024 }

/** The module is loaded when a webhook first needs it. */
export async function createHttp2Sessions(): Promise<Http2Sessions> {
  const http2 = await import('node:http2')
  const sessions = new Map<string, Session>()

  /** Calls under way go on; further ones need another connection. */
  function retire(key: string, used: Session): void {
    if (sessions.get(key) === used) sessions.delete(key)
    if (!used.session.closed) used.session.close()
  }

  return {
    send(key, call) {
      const used = sessions.get(key)
      return used && sendOver(used, call, () => retire(key, used))
    },
    adopt(key, socket) {
      // Calls that began together have opened a connection each; the first one serves them all.
      if (sessions.has(key)) return void socket.destroy()
      const session = http2.connect('https://webhook', { createConnection: () => socket, settings: SETTINGS })
      const adopted = { session, isProven: false }
      sessions.set(key, adopted)
      const onEnd = (): void => retire(key, adopted)
      session.on('goaway', onEnd)
      session.on('close', onEnd)
      // The streams report it.
      session.on('error', onEnd)
      session.setTimeout(IDLE_MS, onEnd)
    },
    close() {
      for (const { session } of sessions.values()) session.destroy()
      sessions.clear()
    },
  }
}

async function sendOver(used: Session, call: Http2Call, retire: () => void): Promise<WebhookResponse> {
  const { session, isProven } = used
  const { body, signal } = call
  let stream: ClientHttp2Stream | undefined
  try {
    stream = session.request(headersOf(call), { signal })
    const headers = await responseTo(stream, body)
    const answered = await readResponseBody(stream, headers, Buffer.byteLength(body))
    if (stream.rstCode !== 0) throw new UnreadableBody('unexpected EOF')
    used.isProven = true
    return { status: headers[':status'] ?? 0, headers, body: answered }
  } catch (error) {
    // A webhook that has stopped responding may have lost the connection.
    if (signal.aborted) retire()
    const isLost = isProven && session.destroyed
    if (!signal.aborted && (!stream || stream.rstCode === REFUSED_STREAM || isLost)) {
      retire()
      throw new NotProcessed('http2: client connection lost', { cause: error })
    }
    throw asGoError(error, stream)
  } finally {
    stream?.destroy()
  }
}

function headersOf({ method, path, headers: { host, ...headers } }: Http2Call): OutgoingHttpHeaders {
  return { ...headers, ':method': method, ':scheme': 'https', ':path': path, ':authority': String(host) }
}

const responseTo = (stream: ClientHttp2Stream, body: string): Promise<IncomingHttpHeaders & { ':status'?: number }> =>
  new Promise((resolve, reject) => {
    stream.on('response', resolve)
    stream.on('error', reject)
    stream.on('close', () => reject(new Error('EOF')))
    stream.end(body)
  })

/** An error of one stream in the words of Go's client. */
function asGoError(error: unknown, stream: ClientHttp2Stream | undefined): unknown {
  const { code } = error as { readonly code?: string }
  if (code !== 'ERR_HTTP2_STREAM_ERROR' || !stream) return error
  const reason = ERROR_CODES[stream.rstCode] ?? `unknown error code 0x${stream.rstCode.toString(16)}`
  return new Error(`stream error: stream ID ${stream.id}; ${reason}; received from peer`, { cause: error })
}

/** By RFC 9113, section 7. */
const ERROR_CODES: readonly string[] = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
]
const REFUSED_STREAM = 7
