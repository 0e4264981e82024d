// Encoded spans that are not sent yet. Clients decide how many there are and how long the texts in them, so both are bounded.

export interface SpanQueue {
  /** Drops the span if there are too many. */
  push(span: Buffer): void
  /** Takes what is to be sent next. */
  take(): Buffer[]
  /** These were taken and not sent. Those that were pushed last are dropped if they are too many now. */
  putBack(spans: readonly Buffer[]): void
  /** There is enough for a batch that is full. */
  readonly isFull: boolean
  readonly length: number
}

// The limits of OpenTelemetry's batches.
const MAX_SPANS = 2048
const MAX_BATCH = 512
/** Collectors take messages of up to 4 MiB. */
const MAX_BATCH_BYTES = 2 ** 20
const MAX_BYTES = 16 * 2 ** 20

export function createSpanQueue(): SpanQueue {
  let spans: Buffer[] = []
  let bytes = 0

  function add(span: Buffer): void {
    if (spans.length >= MAX_SPANS || bytes + span.length > MAX_BYTES || span.length > MAX_BATCH_BYTES) return
    spans.push(span)
    bytes += span.length
  }

  return {
    push: add,
    take() {
      let count = 0
      let size = 0
      for (const span of spans) {
        if (count === MAX_BATCH || size + span.length > MAX_BATCH_BYTES) break
        count++
        size += span.length
      }
      bytes -= size
      return spans.splice(0, count)
    },
    putBack(taken) {
      const later = spans
      spans = []
      bytes = 0
      for (const span of [...taken, ...later]) add(span)
    },
    get isFull() {
      return spans.length >= MAX_BATCH || bytes >= MAX_BATCH_BYTES
    },
    get length() {
      return spans.length
    },
  }
}
