// Sends spans to a collector, in batches and in the background: nothing waits for it. Spans that a collector does not take are
// sent again with later ones; those that do not fit into the queue are dropped.
import type { Dial } from '../../base/dial.js'
import type { Logger } from '../../base/logger.js'
import type { FinishedSpan, SpanSink } from '../../base/tracing/span.js'
import { createGrpcClient } from '../../storage/grpc.js'
import { serverIdentity } from '../observability/server-identity.js'
import type { TracingOptions } from './configuration.js'
import { EXPORT, exportRequest } from './otlp.js'

export interface SpanExporter {
  readonly sink: SpanSink
  /** Sends what is left. */
  close(): Promise<void>
}

// The limits of OpenTelemetry's batches.
const MAX_QUEUE = 2048
const MAX_BATCH = 512
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
): SpanExporter {
  const client = createGrpcClient({
    endpoint: endpoint.startsWith('unix:') ? endpoint.replace(/^unix:(?!\/\/)/, 'unix://') : `http://${endpoint}`,
    dial,
    onCall() {},
  })
  let queue: FinishedSpan[] = []
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> | undefined
  let hasFailed = false
  let isClosed = false

  function schedule(): void {
    timer ??= setTimeout(flush, PAUSE_MS).unref()
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    sending ??= send(CALL_MS).finally(() => {
      sending = undefined
      if (queue.length > 0 && !isClosed) schedule()
    })
  }

  async function send(timeoutMs: number): Promise<void> {
    const batch = queue.slice(0, MAX_BATCH)
    queue = queue.slice(batch.length)
    if (batch.length === 0) return
    try {
      await client.call(EXPORT, exportRequest(batch, RESOURCE), timeoutMs)
      hasFailed = false
    } catch (error) {
      // One line in the log for each time that the collector is away.
      if (!hasFailed && !isClosed) log.warn('spans cannot be sent to the collector', { endpoint, error })
      hasFailed = true
      queue = [...batch, ...queue].slice(0, MAX_QUEUE)
    }
  }

  return {
    sink(span) {
      if (isClosed || queue.length >= MAX_QUEUE) return
      queue.push(span)
      if (queue.length >= MAX_BATCH && !hasFailed) flush()
      else schedule()
    },
    async close() {
      clearTimeout(timer)
      await Promise.race([sending, new Promise(resolve => setTimeout(resolve, CLOSE_MS).unref())])
      isClosed = true
      if (!hasFailed) await send(CLOSE_MS)
      client.close()
    },
  }
}
