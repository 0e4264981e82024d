// The response of a watch: sends events as they come, waits while the client does not read, and ends when the client has
// gone, the watch ends or its time is over.

import type { RequestInfo } from '../../request/request-info.js'
import { createEventEncoders } from '../../response/encode-watch.js'
import { type OutputFormat, WATCH_TYPES } from '../../response/output-format.js'
import { includeObjectOf } from '../../response/table.js'
import type { OpenWatch, PreparedWatch } from '../../verbs/watch.js'
import { checkWatchFormat } from '../negotiation/negotiation.js'
import type { ResponseWriter } from './response-writer.js'

interface WatchRequest {
  readonly reply: ResponseWriter
  readonly info: RequestInfo
  readonly cbor: boolean
}

export interface WatchStreams {
  /** Serves the watch. Errors are thrown before the response begins. */
  serve(
    request: WatchRequest,
    watch: PreparedWatch,
    form: OutputFormat,
    query: URLSearchParams,
    ended: () => void,
  ): void
  /** Ends all watches as if their time were over. */
  end(): void
  readonly count: number
  /** The requests of the watches that are open. */
  open(): Iterable<RequestInfo>
}

export interface WatchStreamOptions {
  /** A watch without timeoutSeconds lasts between this and twice as long. */
  readonly minRequestTimeoutMs: number
  readonly now: () => number
  /** Called when a watch begins. The observer that it returns is called for all that is sent. */
  readonly observe?: ((info: RequestInfo) => WatchObserver) | undefined
}

export interface WatchObserver {
  sent(bytes: number): void
  /** All objects that were there at the start have been sent. */
  listed(): void
}

/** The length before each message in a stream of protobuf messages. */
const LENGTH_BYTES = 4
/** The longest time of a timer. */
const MAX_MS = 2 ** 31 - 1

export function createWatchStreams({ minRequestTimeoutMs, now, observe }: WatchStreamOptions): WatchStreams {
  const ends = new Map<() => void, RequestInfo>()
  const encoders = createEventEncoders(now)

  function lastsFor({ timeoutSeconds }: PreparedWatch): number {
    // 0 is the same as no timeoutSeconds.
    if (timeoutSeconds) return Math.min(Math.max(timeoutSeconds * 1000, 0), MAX_MS)
    // Random, so that watches that began together do not end together.
    return Math.min(minRequestTimeoutMs * (1 + Math.random()), MAX_MS)
  }

  return {
    serve({ reply, info, cbor }, watch, form, query, ended) {
      const { exchange } = reply
      const encoder = encoders.create(watch.versioned, form, includeObjectOf(form, query))
      checkWatchFormat(form, cbor)
      const isText = form.encoding === 'json' || form.encoding === 'yaml'
      const outgoing = reply.beginWatch({ 'content-type': WATCH_TYPES[form.encoding] }, isText)
      if (exchange.method === 'HEAD' || exchange.gone) {
        outgoing.end()
        return ended()
      }

      // The frames of a WebSocket delimit events, so that the length before a protobuf message is left out.
      const isPrefixed = form.encoding === 'protobuf' && reply.status === 101
      const observer = observe?.(info)
      const write = (event: Buffer): boolean => {
        observer?.sent(event.length)
        return outgoing.write(isPrefixed ? event.subarray(LENGTH_BYTES) : event)
      }
      let open: OpenWatch | undefined
      let isOver = false
      const finish = (): void => {
        if (isOver) return
        isOver = true
        clearTimeout(timer)
        ends.delete(finish)
        open?.stop()
        outgoing.end()
        ended()
      }
      const timer = setTimeout(finish, lastsFor(watch)).unref()
      ends.set(finish, info)
      exchange.onGone(finish)
      outgoing.onDrain(() => open?.resume())
      open = watch.start({
        event: (type, shown, source) => write(encoder.event(type, shown, source)),
        bookmark(revision, initial) {
          if (initial) observer?.listed()
          return write(encoder.bookmark(revision, initial))
        },
        end(status) {
          if (status) write(encoder.error(status))
          finish()
        },
      })
    },
    end() {
      for (const finish of ends.keys()) finish()
    },
    get count() {
      return ends.size
    },
    open: () => ends.values(),
  }
}
