// The requests and answers of a test server with their bodies, in the order of the answers, for a replay. It keeps them once
// a recording needs them, since most servers are never recorded.
import type { OutgoingHttpHeaders } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { UsageError } from '../../base/usage-error.js'
import { decodeCbor } from '../../codec/cbor.js'
import { encodeJson } from '../../codec/json.js'
import type { Exchange, Outgoing } from '../../http/exchange.js'
import type { ServedRequest } from '../../http/handler.js'
import type { UserInfo } from '../../request/user-info.js'
import { ADMINISTRATOR } from '../../server/options.js'
import { decodeObject, isEnvelope, openEnvelope } from '../../types/protobuf.js'
import { builtinTypes } from '../../types/type-table.js'
import { TESTING_PATH } from '../testing-path.js'

export interface RecordedExchange {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly user: UserInfo
  /** Those that the answer depends on. */
  readonly headers: Readonly<Record<string, string>>
  /** Text; protobuf and CBOR are kept as the JSON that they mean. */
  readonly body?: string
  /** 0 if there was no answer, such as when the connection was cut. */
  readonly status: number
  /** Of requests to resources. Of a watch, its events so far, a line each. */
  readonly answer?: string
}

export interface ExchangeLog {
  /** The exchange as the server is to have it. */
  follow(exchange: Exchange): Exchange
  /** Notes who has sent a request. */
  observe(request: ServedRequest): void
  /** Keeps exchanges from now on. The result are those since then; it throws if some of them are not kept any more. */
  begin(): () => readonly RecordedExchange[]
}

/** Older exchanges are dropped. */
const MAX_EXCHANGES = 10_000
const MAX_BYTES = 64 * 1024 * 1024
const KEPT_HEADERS = ['accept', 'content-type', 'user-agent']

interface Followed {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly isResource: boolean
  user: UserInfo | undefined
  body: Buffer | undefined
  status: number
  answerHeaders: OutgoingHttpHeaders
  readonly answer: Buffer[]
  bytes: number
}

export function createExchangeLog(): ExchangeLog {
  const kept: Followed[] = []
  const byExchange = new WeakMap<Exchange, Followed>()
  let bytes = 0
  let dropped = 0
  let isOn = false

  /** Exchanges are in the order in which their answers begin: that is nearest to the order of their effects. */
  function keep(followed: Followed): void {
    kept.push(followed)
    grow(followed, followed.body?.length ?? 0)
    if (kept.length > MAX_EXCHANGES) drop()
  }

  function grow(followed: Followed, by: number): void {
    followed.bytes += by
    bytes += by
    while (bytes > MAX_BYTES && kept.length > 1) drop()
  }

  function drop(): void {
    bytes -= kept.shift()!.bytes
    dropped++
  }

  return {
    follow(exchange) {
      const path = exchange.query === '' ? exchange.path : `${exchange.path}?${exchange.query}`
      if (!isOn || exchange.path.startsWith(TESTING_PATH)) return exchange
      const headers = KEPT_HEADERS.flatMap(name => {
        const value = exchange.headers[name]
        return typeof value === 'string' ? [[name, value] as const] : []
      })
      const followed: Followed = {
        method: exchange.method,
        path,
        headers: Object.fromEntries(headers),
        isResource: IS_RESOURCE.test(exchange.path),
        user: undefined,
        body: undefined,
        status: 0,
        answerHeaders: {},
        answer: [],
        bytes: 0,
      }
      const wrapped = followedExchange(exchange, followed, {
        answered: () => keep(followed),
        grew: by => grow(followed, by),
      })
      byExchange.set(wrapped, followed)
      return wrapped
    },
    observe({ exchange, user }) {
      const followed = byExchange.get(exchange)
      if (followed) followed.user = user
    },
    begin() {
      isOn = true
      const first = dropped + kept.length
      return () => {
        if (first < dropped) {
          throw new UsageError(
            `the record is longer than ${MAX_EXCHANGES} requests or ${MAX_BYTES / 1024 / 1024} MiB: record a shorter part of the test`,
          )
        }
        return kept.slice(first - dropped).map(recordedOf)
      }
    },
  }
}

/** `/api/v1/pods`, and not `/apis/apps/v1`. */
const IS_RESOURCE = /^\/(?:api|apis\/[^/]+)\/[^/]+\/[^/]/

interface Progress {
  answered(): void
  grew(bytes: number): void
}

/** The exchange, with a copy of what passes through it. */
function followedExchange(exchange: Exchange, followed: Followed, { answered, grew }: Progress): Exchange {
  let isKept = false
  const begun = (status: number, headers: OutgoingHttpHeaders): void => {
    if (isKept) return
    isKept = true
    followed.status = status
    followed.answerHeaders = headers
    answered()
  }
  const add = (chunk: Buffer | string): void => {
    if (!followed.isResource) return
    const bytes = Buffer.from(chunk as string)
    followed.answer.push(bytes)
    grew(bytes.length)
  }
  const following = (outgoing: Outgoing): Outgoing => ({
    write(chunk) {
      add(chunk)
      return outgoing.write(chunk)
    },
    onDrain: listener => outgoing.onDrain(listener),
    end: () => outgoing.end(),
    abort: () => outgoing.abort(),
  })
  return {
    method: exchange.method,
    path: exchange.path,
    query: exchange.query,
    headers: exchange.headers,
    rawHeaders: exchange.rawHeaders,
    peer: exchange.peer,
    get gone() {
      return exchange.gone
    },
    onGone: listener => exchange.onGone(listener),
    get retained() {
      return exchange.retained
    },
    set retained(bytes) {
      exchange.retained = bytes
    },
    get held() {
      return exchange.held
    },
    async body(limit, onBytes) {
      const body = await exchange.body(limit, onBytes)
      followed.body = Buffer.from(body)
      return body
    },
    pipeBody: to => exchange.pipeBody(to),
    answer(status, headers, body) {
      exchange.answer(status, headers, body)
      begun(status, headers)
      if (body !== undefined) add(body)
    },
    begin(status, headers) {
      const outgoing = exchange.begin(status, headers)
      begun(status, headers)
      return following(outgoing)
    },
    cut() {
      exchange.cut()
      // What it wrote may have been stored.
      begun(0, {})
    },
    ...(exchange.openWebSocket && { openWebSocket: (isText: boolean) => exchange.openWebSocket!(isText) }),
    ...(exchange.takeConnection && { takeConnection: () => exchange.takeConnection!() }),
  }
}

// ---- what is kept of it

function recordedOf(followed: Followed): RecordedExchange {
  const { method, path, headers, status, isResource } = followed
  const body = followed.body && textOf(followed.body, headers['content-type'] ?? '')
  const answer = isResource ? textOf(answerOf(followed), contentTypeOf(followed.answerHeaders)) : undefined
  return {
    method,
    path,
    // A watch that is still open has no user yet. It was allowed, so that the administrator sees the same.
    user: followed.user ?? { ...ADMINISTRATOR },
    headers: { ...headers, ...(body?.isJson && { 'content-type': 'application/json' }) },
    ...(body && { body: body.text }),
    status,
    ...(answer && { answer: answer.text }),
  }
}

const contentTypeOf = ({ 'content-type': type }: OutgoingHttpHeaders): string => (typeof type === 'string' ? type : '')

function answerOf({ answer, answerHeaders }: Followed): Buffer {
  const bytes = Buffer.concat(answer)
  return answerHeaders['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes
}

interface BodyText {
  readonly text: string
  /** It was not JSON before. */
  readonly isJson: boolean
}

/** Undefined: there is none, or it cannot be read, as a watch in protobuf. */
function textOf(bytes: Buffer, mediaType: string): BodyText | undefined {
  if (bytes.length === 0) return undefined
  try {
    if (isEnvelope(bytes)) {
      const envelope = openEnvelope(bytes)
      const object = { ...decodeObject(builtinTypes(), envelope), apiVersion: envelope.apiVersion, kind: envelope.kind }
      return { text: encodeJson(object), isJson: true }
    }
    if (mediaType.includes('protobuf')) return undefined
    if (mediaType.includes('cbor')) return { text: encodeJson(decodeCbor(bytes).value), isJson: true }
  } catch {
    return undefined
  }
  return { text: bytes.toString(), isJson: false }
}
