// Events that come in one turn of the event loop, such as those of one commit, leave each watch in one piece: a write to a
// stream costs more than the bytes in it. Watches that get the same events share the piece.
import type { Outgoing } from './exchange.js'

/** The writing end of a watch. */
export interface EventWriter {
  /** False if no more must be written until the client has read. */
  write(event: Buffer): boolean
  /** Sends what is waiting. */
  flush(): void
}

export interface EventBatches {
  /** `onReady` is called when the client has read what was written. */
  open(outgoing: Outgoing, onReady: () => void): EventWriter
}

/** More than this is sent at once, without waiting for the end of the turn. */
const MAX_BYTES = 64 * 1024

interface Batch {
  readonly outgoing: Outgoing
  waiting: Buffer[]
  bytes: number
  /** The client has not read what was written before. */
  isBlocked: boolean
}

export function createEventBatches(): EventBatches {
  /** The watches with waiting events. */
  let unsent: Batch[] = []
  /** What was joined in this turn, by its first event. */
  const joined = new Map<Buffer, { readonly parts: readonly Buffer[]; readonly bytes: Buffer }>()

  function join(parts: readonly Buffer[]): Buffer {
    const [first] = parts
    if (parts.length === 1) return first!
    const known = joined.get(first!)
    if (known?.parts.length === parts.length && parts.every((part, i) => part === known.parts[i])) return known.bytes
    const bytes = Buffer.concat(parts)
    joined.set(first!, { parts, bytes })
    return bytes
  }

  function send(batch: Batch): void {
    const { waiting } = batch
    if (waiting.length === 0) return
    batch.waiting = []
    batch.bytes = 0
    if (!batch.outgoing.write(join(waiting))) batch.isBlocked = true
  }

  function sendAll(): void {
    const batches = unsent
    unsent = []
    for (const batch of batches) if (!batch.isBlocked) send(batch)
    joined.clear()
  }

  return {
    open(outgoing, onReady) {
      const batch: Batch = { outgoing, waiting: [], bytes: 0, isBlocked: false }
      outgoing.onDrain(() => {
        batch.isBlocked = false
        send(batch)
        if (!batch.isBlocked) onReady()
      })
      return {
        write(event) {
          const { waiting } = batch
          waiting.push(event)
          batch.bytes += event.length
          if (batch.isBlocked) return false
          if (batch.bytes >= MAX_BYTES) send(batch)
          else if (waiting.length === 1) {
            if (unsent.length === 0) queueMicrotask(sendAll)
            unsent.push(batch)
          }
          return !batch.isBlocked
        },
        flush: () => send(batch),
      }
    },
  }
}
