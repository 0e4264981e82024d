// A configuration in a file that is read again while the server runs. What is not valid changes nothing.
import { readFile } from 'node:fs/promises'
import { watchFiles } from '../../../base/files/watch-files.js'
import type { Logger } from '../../../base/logger.js'
import type { MetricsRegistry } from '../../../base/metrics.js'
import { hashLabel, serverIdentity } from '../../observability/server-identity.js'

export interface FollowedFile {
  readonly path: string
  /** What it held at the start. */
  readonly text: string
  /** In the log and in the names of metrics. */
  readonly what: 'authentication' | 'authorization' | 'encryption'
  /** Takes what the file holds now. Rejects if it is not valid; with an `UnfinishedLoad`, the same text is tried again. */
  load(bytes: Buffer): Promise<void>
  readonly metrics: MetricsRegistry
  readonly log: Logger
}

/** The text may be right later: it names another server that does not answer yet. */
export class UnfinishedLoad extends Error {}

const RETRY_MS = 60_000

export function followFile({ path, text, what, load, metrics, log }: FollowedFile): { stop(): void } {
  const record = reloadMetrics(what, metrics)
  record.current(text)
  let last = text
  let running: Promise<void> = Promise.resolve()
  let retry: NodeJS.Timeout | undefined

  async function reload(): Promise<void> {
    try {
      const bytes = await readFile(path)
      const now = bytes.toString()
      if (now === last) return
      await load(bytes).catch((error: unknown) => {
        if (!(error instanceof UnfinishedLoad)) last = now
        throw error
      })
      last = now
      record.success(now)
      log.info(`the ${what} configuration was read again`, { file: path })
    } catch (error) {
      record.failure()
      log.error(`the ${what} configuration stays as it was, because the file is not valid`, { file: path, error })
      if (error instanceof UnfinishedLoad) retry = setTimeout(changed, RETRY_MS).unref()
    }
  }

  function changed(): void {
    clearTimeout(retry)
    running = running.then(reload)
  }

  const watching = watchFiles([path], changed)
  return {
    stop() {
      watching.stop()
      clearTimeout(retry)
    },
  }
}

function reloadMetrics(what: FollowedFile['what'], metrics: MetricsRegistry) {
  const prefix = `apiserver_${what}_config_controller_`
  const labels = ['status', 'apiserver_id_hash'] as const
  const total = metrics.counter(
    `${prefix}automatic_reloads_total`,
    `Total number of automatic reloads of ${what} configuration split by status and apiserver identity.`,
    labels,
  )
  const times = metrics.gauge(
    `${prefix}automatic_reload_last_timestamp_seconds`,
    `Timestamp of the last automatic reload of ${what} configuration split by status and apiserver identity.`,
    labels,
  )
  const info = metrics.gauge(
    `${prefix}last_config_info`,
    `Information about the last applied ${what} configuration with hash as label, split by apiserver identity.`,
    ['apiserver_id_hash', 'hash'],
  )
  const server = hashLabel(serverIdentity())
  const count = (status: string): void => {
    total.with(status, server).inc()
    times.with(status, server).set(Date.now() / 1000)
  }
  const current = (text: string): void => {
    info.reset()
    info.with(server, hashLabel(text)).set(1)
  }
  return {
    current,
    failure: () => count('failure'),
    success(text: string) {
      count('success')
      current(text)
    },
  }
}
