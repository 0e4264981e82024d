// Sends audit events to a server, in batches. Requests do not wait for it: events are kept in a buffer, and are lost, and
// counted as lost, when it is full or the server does not take them after several tries.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../base/logger.js'
import type { MetricsRegistry } from '../../base/metrics.js'
import type { Webhooks } from '../../webhook/client.js'
import type { ClientConfig } from '../../webhook/client-config.js'
import type { AuditSink } from './audit-log.js'
import { auditErrors, type TruncateOptions } from './truncate.js'

export interface AuditWebhookOptions {
  readonly target: () => Promise<ClientConfig>
  readonly batch: BatchOptions
  readonly initialBackoffMs: number
  /** Undefined: events of any size are sent. */
  readonly truncate: TruncateOptions | undefined
}

export interface BatchOptions {
  /** How many events wait at most. */
  readonly bufferSize: number
  /** How many characters of events are kept at most, those included that are being sent: batches do not wait for each other. */
  readonly maxKept?: number | undefined
  readonly maxSize: number
  readonly maxWaitMs: number
  /** Batches in a second, and at once after a pause; undefined: as fast as they come. */
  readonly throttle: { readonly qps: number; readonly burst: number } | undefined
}

export interface AuditWebhookParts {
  readonly webhooks: Pick<Webhooks, 'post'>
  readonly metrics: MetricsRegistry
  readonly log: Logger
  readonly random: () => number
}

const CALL_MS = 30_000
const MAX_KEPT = 128 * 2 ** 20
/** As kube-apiserver tries again. */
const TRIES = 5
const FACTOR = 1.5
const JITTER = 0.2
/** How long a stop waits for events that are not sent yet. */
const STOP_MS = 10_000

export function openAuditWebhook(
  { target, batch, initialBackoffMs, truncate }: AuditWebhookOptions,
  { webhooks, metrics, log, random }: AuditWebhookParts,
): AuditSink & { close(): Promise<void> } {
  const { maxKept = MAX_KEPT } = batch
  const errors = auditErrors(metrics)
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()
  const throttle = createThrottle(batch.throttle)
  let waiting: string[] = []
  /** Characters of all events that are neither sent nor lost. */
  let kept = 0
  /** Of the batch that is being filled. */
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> | undefined
  /** Also a batch that is not full. */
  let sendsAll = false

  function lost(plugin: string, events: number, reason: string): void {
    errors.with(plugin).inc(events)
    log.error('audit events are lost', { plugin, events, reason })
  }

  const isDue = (): boolean => waiting.length >= batch.maxSize || (sendsAll && waiting.length > 0)

  /** Batches begin one after the other, as fast as the throttle lets them, and do not wait for the answers. */
  async function sendAll(): Promise<void> {
    while (isDue()) {
      await throttle(stopping.signal)
      const events = waiting.slice(0, batch.maxSize)
      waiting = waiting.slice(batch.maxSize)
      for (const part of partsOf(events, truncate?.maxBatchBytes)) start(part)
    }
    sendsAll = false
  }

  function start(events: readonly string[]): void {
    const sent = send(events)
      .catch((error: Error) => lost('webhook', events.length, error.message))
      .finally(() => {
        running.delete(sent)
        for (const event of events) kept -= event.length
      })
    running.add(sent)
  }

  async function send(events: readonly string[]): Promise<void> {
    const body = `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${events.join(',')}]}\n`
    let delay = initialBackoffMs
    for (let tries = 1; ; tries++) {
      try {
        await webhooks.post(await target(), body, CALL_MS)
        return
      } catch (error) {
        if (tries === TRIES || stopping.signal.aborted) throw error
        log.warn('an audit webhook is called again', { reason: (error as Error).message })
      }
      await sleep(delay * (1 + JITTER * random()), undefined, { signal: stopping.signal, ref: false }).catch(() => {})
      delay *= FACTOR
    }
  }

  function flush(all: boolean): void {
    clearTimeout(timer)
    timer = undefined
    sendsAll ||= all
    sending ??= sendAll().finally(() => {
      sending = undefined
      if (waiting.length > 0) timer ??= setTimeout(() => flush(true), batch.maxWaitMs).unref()
    })
  }

  return {
    write(line) {
      const event = itemOf(line)
      if (waiting.length >= batch.bufferSize || kept + event.length > maxKept) {
        lost('buffered', 1, 'audit buffer queue blocked')
        return true
      }
      kept += event.length
      waiting.push(event)
      if (waiting.length >= batch.maxSize) flush(false)
      else if (!sending) timer ??= setTimeout(() => flush(true), batch.maxWaitMs).unref()
      return true
    },
    async close() {
      stopping.abort()
      flush(true)
      await sending
      const late = sleep(STOP_MS, 'late', { ref: false })
      if ((await Promise.race([Promise.all(running), late])) === 'late') {
        log.error('audit events are not sent yet and are lost', { batches: running.size })
      }
    },
  }
}

/** In a list, events do not say their kind. */
const HEAD = '{"kind":"Event","apiVersion":"audit.k8s.io/v1",'
const itemOf = (line: string): string => {
  const text = line.trimEnd()
  return text.startsWith(HEAD) ? `{${text.slice(HEAD.length)}` : text
}

function partsOf(events: readonly string[], maxBytes = Number.POSITIVE_INFINITY): string[][] {
  const parts: string[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const event of events) {
    const size = Buffer.byteLength(event)
    if (bytes + size > maxBytes || parts.length === 0) {
      parts.push([])
      bytes = 0
    }
    parts.at(-1)!.push(event)
    bytes += size
  }
  return parts
}

/** A bucket of tokens: resolves when there is one. Throws nothing; at a stop it lets everything pass. */
function createThrottle(limit: BatchOptions['throttle']): (signal: AbortSignal) => Promise<void> {
  if (!limit) return async () => {}
  let tokens = limit.burst
  let at = performance.now()
  return async signal => {
    for (;;) {
      const now = performance.now()
      tokens = Math.min(limit.burst, tokens + ((now - at) / 1000) * limit.qps)
      at = now
      if (tokens >= 1 || signal.aborted) {
        tokens -= 1
        return
      }
      await sleep(((1 - tokens) / limit.qps) * 1000, undefined, { signal, ref: false }).catch(() => {})
    }
  }
}
