// Sends spans to a collector, in batches and in the background: nothing waits for it. Spans are sent again with later ones if the
// collector cannot be reached; those that it refuses, and those that do not fit into the queue, are dropped.
import type { Dial } from '../../base/dial.js'
import type { Logger } from '../../base/logger.js'
import type { SpanSink } from '../../base/tracing/span.js'
import { createGrpcClient, GrpcCode, GrpcError } from '../../storage/grpc.js'
import { serverIdentity } from '../observability/server-identity.js'
import type { TracingOptions } from './configuration.js'
import { EXPORT, encodeSpan, exportRequest } from './otlp.js'
import { createSpanQueue } from './span-queue.js'

export interface SpanExporter {
  readonly sink: SpanSink
  /** Sends what is left. */
  close(): Promise<void>
}

const PAUSE_MS = 5_000
const CALL_MS = 10_000
/** A stopping server does not wait longer for a collector. */
const CLOSE_MS = 1_000

const RESOURCE = { 'service.name': 'apiserver', 'service.instance.id': serverIdentity() }

/** `dial`: how the collector is reached; directly by default. */
export function createSpanExporter(
  { endpoint }: Pick<TracingOptions, 'endpoint'>,
  log: Logger,
  dial?: Dial,
  pauseMs = PAUSE_MS,
): SpanExporter {
  const client = createGrpcClient({
    endpoint: endpoint.startsWith('unix:') ? endpoint.replace(/^unix:(?!\/\/)/, 'unix://') : `http://${endpoint}`,
    dial,
    onCall() {},
  })
  const queue = createSpanQueue()
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> | undefined
  let hasFailed = false
  /** It may take what it has not taken the last time. */
  let isAway = false
  let isClosed = false

  function schedule(): void {
    timer ??= setTimeout(flush, pauseMs).unref()
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    sending ??= send(CALL_MS).finally(() => {
      sending = undefined
      if (isClosed || queue.length === 0) return
      if (isDue()) flush()
      else schedule()
    })
  }

  const isDue = (): boolean => queue.isFull && !isAway

  async function send(timeoutMs: number): Promise<void> {
    const batch = queue.take()
    if (batch.length === 0) return
    try {
      await client.call(EXPORT, exportRequest(batch, RESOURCE), timeoutMs)
      hasFailed = false
      isAway = false
    } catch (error) {
      // One line in the log for each time that it fails.
      if (!hasFailed && !isClosed) log.warn('spans cannot be sent to the collector', { endpoint, error })
      hasFailed = true
      isAway = mayPass(error)
      if (isAway) queue.putBack(batch)
    }
  }

  return {
    sink(span) {
      if (isClosed) return
      queue.push(encodeSpan(span))
      if (isDue()) flush()
      else schedule()
    },
    async close() {
      clearTimeout(timer)
      const deadline = performance.now() + CLOSE_MS
      const left = (): number => Math.max(1, deadline - performance.now())
      await Promise.race([sending, new Promise(resolve => setTimeout(resolve, CLOSE_MS).unref())])
      isClosed = true
      while (!isAway && queue.length > 0) await send(left())
      client.close()
    },
  }
}

/** The failures after which OTLP lets spans be sent again. Any other would come again, and no later span would be sent. */
const PASSING: ReadonlySet<number> = new Set([
  GrpcCode.cancelled,
  GrpcCode.deadlineExceeded,
  GrpcCode.aborted,
  GrpcCode.outOfRange,
  GrpcCode.unavailable,
  GrpcCode.dataLoss,
])

const mayPass = (error: unknown): boolean => error instanceof GrpcError && PASSING.has(error.code)
