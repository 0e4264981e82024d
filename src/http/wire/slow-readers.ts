// Bounds what the server holds for clients that do not read their responses. Every connection is looked at from time to
// time, so that writing a response costs nothing more.
//
// - A connection whose client has read nothing for long, although there is something to read, is cut.
// - A connection for which too much is held is cut sooner.
// - If too much is held for all together, those are cut that hold the most and do not read. Until then, requests that
//   read are refused.

export interface Reader {
  /** Bytes that are written and not sent. */
  readonly held: number
  /** Changes whenever the client reads. */
  readonly sent: number
  /** Ends single responses that have stood still for that long. */
  cutStalled?(now: number, stallMs: number): void
  cut(): void
}

export interface SlowReaderLimits {
  readonly maxHeld: number
  readonly maxHeldByConnection: number
  readonly stallMs: number
  /** The same for a connection for which too much is held, or while too much is held for all. */
  readonly shortStallMs: number
}

export const SLOW_READER_LIMITS: SlowReaderLimits = {
  maxHeld: 512 * 1024 * 1024,
  maxHeldByConnection: 64 * 1024 * 1024,
  stallMs: 60_000,
  shortStallMs: 5_000,
}

export interface SlowReaders {
  /** The connection is looked at until the returned function is called. */
  add(reader: Reader): () => void
  /** So many bytes more are held, until the next look finds out how many it really are. */
  grew(bytes: number): void
  /** Too much is held: nothing large may be added. */
  readonly isFull: boolean
  readonly held: number
}

interface Seen {
  sent: number
  /** Since when the client has read nothing. */
  since: number
}

const LOOK_MS = 1_000
/** When much is added at once, the next look comes sooner than that. */
const SOON_MS = 100

export function createSlowReaders(
  limits: SlowReaderLimits = SLOW_READER_LIMITS,
  now: () => number = () => performance.now(),
): SlowReaders {
  const { maxHeld, maxHeldByConnection, stallMs, shortStallMs } = limits
  const readers = new Map<Reader, Seen>()
  let held = 0
  let lastLook = now()
  /** Runs while there are connections. */
  let timer: NodeJS.Timeout | undefined

  function look(): void {
    const time = now()
    lastLook = time
    held = 0
    const stalled: { reader: Reader; bytes: number }[] = []
    for (const [reader, seen] of readers) {
      const bytes = reader.held
      held += bytes
      if (bytes === 0 || reader.sent !== seen.sent) {
        seen.sent = reader.sent
        seen.since = time
      }
      reader.cutStalled?.(time, stallMs)
      const still = time - seen.since
      if (still >= (bytes > maxHeldByConnection ? shortStallMs : stallMs)) cut(reader, bytes)
      else if (still >= shortStallMs) stalled.push({ reader, bytes })
    }
    stalled.sort((a, b) => b.bytes - a.bytes)
    for (const { reader, bytes } of stalled) {
      if (held <= maxHeld) break
      cut(reader, bytes)
    }
  }

  function cut(reader: Reader, bytes: number): void {
    held -= bytes
    remove(reader)
    reader.cut()
  }

  function remove(reader: Reader): void {
    if (!readers.delete(reader) || readers.size > 0) return
    clearInterval(timer)
    timer = undefined
    held = 0
  }

  return {
    add(reader) {
      readers.set(reader, { sent: reader.sent, since: now() })
      timer ??= setInterval(look, LOOK_MS).unref()
      return () => remove(reader)
    },
    grew(bytes) {
      held += bytes
      if (held > maxHeld && now() - lastLook > SOON_MS) look()
    },
    get isFull() {
      return held > maxHeld
    },
    get held() {
      return held
    },
  }
}
