// A watch on the wire: events go out as they come, wait while the client does not take them, and end when either side
// or the time limit says so.

import type { RequestInfo } from '../../request/request-info.js'
import { createEventEncoders } from '../../response/encode-watch.js'
import { type Form, WATCH_TYPES } from '../../response/output-format.js'
import { includeObjectOf } from '../../response/table.js'
import type { OpenWatch, PreparedWatch } from '../../verbs/watch.js'
import { checkWatchForm } from '../negotiation/negotiation.js'
import type { Reply } from './reply.js'

interface WatchRequest {
  readonly reply: Reply
  readonly info: RequestInfo
}

export interface WatchStreams {
  /** Serves the watch from now on; what is wrong with it is thrown before it begins. */
  serve(request: WatchRequest, watch: PreparedWatch, form: Form, query: URLSearchParams, ended: () => void): void
  /** Ends all, as if their time had come. */
  end(): void
  readonly count: number
  /** The requests of the watches that are open. */
  open(): Iterable<RequestInfo>
}

export interface WatchStreamOptions {
  /** A watch that does not say how long it is to last lasts this long at least, and at most twice as long. */
  readonly minRequestTimeoutMs: number
  readonly now: () => number
}

/** Timers cannot wait any longer. */
const MAX_MS = 2 ** 31 - 1

export function createWatchStreams({ minRequestTimeoutMs, now }: WatchStreamOptions): WatchStreams {
  const ends = new Map<() => void, RequestInfo>()
  const encoders = createEventEncoders(now)

  function lastsFor({ timeoutSeconds }: PreparedWatch): number {
    // A client that asks for no time at all leaves it to us, as one that does not ask.
    if (timeoutSeconds) return Math.min(Math.max(timeoutSeconds * 1000, 0), MAX_MS)
    // At random, lest watches that began together come back together.
    return Math.min(minRequestTimeoutMs * (1 + Math.random()), MAX_MS)
  }

  return {
    serve({ reply, info }, watch, form, query, ended) {
      const { exchange } = reply
      const encoder = encoders.create(watch.served, form, includeObjectOf(form, query))
      checkWatchForm(form)
      const outgoing = reply.begin(200, { 'content-type': WATCH_TYPES[form.encoding] })
      if (exchange.method === 'HEAD' || exchange.gone) {
        outgoing.end()
        return ended()
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
      const timer = setTimeout(finish, lastsFor(watch))
      ends.set(finish, info)
      exchange.onGone(finish)
      outgoing.onDrain(() => open?.resume())
      open = watch.start({
        event: (type, shown, source) => outgoing.write(encoder.event(type, shown, source)),
        bookmark: (revision, initial) => outgoing.write(encoder.bookmark(revision, initial)),
        end(status) {
          if (status) outgoing.write(encoder.error(status))
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
