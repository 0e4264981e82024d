// An HTTPS client for webhooks. Request and response bodies are bytes here. Connections are reused.
import { genericResponse } from '../meta/errors/status.js'
import { createCallQueues } from './call-queue.js'
import { type ClientConfig, type Destination, destinationOf, type ServiceReference } from './client-config.js'
import { createConnections } from './connections.js'
import type { Address, Endpoint, HostOverrides } from './host-overrides.js'
import { asWebhookError, timedOut, WebhookError } from './webhook-error.js'
import type { WebhookResponse } from './webhook-response.js'

export interface Webhooks {
  /**
   * The body of what the webhook answers to a POST of JSON. Rejects with a WebhookError, or with the reason of the signal
   * if that is aborted before.
   */
  post(config: ClientConfig, body: string, timeoutMs: number, signal?: AbortSignal): Promise<Buffer>
  /** Gives up the calls that are under way, and drops the connections that were kept. */
  close(): void
}

export interface WebhookOptions {
  /** Addresses for host names of URLs and services, used instead of DNS. */
  readonly hosts?: HostOverrides | undefined
  /** Finds the address of a service. Rejects with an Error that says what is missing. */
  readonly findService?: FindService | undefined
  /** Called with the host before each call. It may wait, and reject as a connection to it would. */
  readonly beforeCall?: ((host: string) => Promise<void>) | undefined
  /** The current time in milliseconds; `Date.now` by default. */
  readonly now?: (() => number) | undefined
}

export type FindService = (service: ServiceReference & { readonly port: number }) => Promise<Endpoint>

/** So much of a response that is no Status is quoted in an error, as client-go does. */
const MAX_QUOTED_BYTES = 2048

export function createWebhooks({ hosts = new Map(), findService, beforeCall, now }: WebhookOptions = {}): Webhooks {
  const connections = createConnections()
  const queues = createCallQueues(now)
  const running = new Set<AbortController>()

  /** The address to connect to; undefined if the host name itself is used. */
  async function addressOf({ host, port, service }: Destination): Promise<Address | undefined> {
    const override = hosts.get(host.toLowerCase())
    if (override || !service || !findService) return override
    return findService({ ...service, port })
  }

  return {
    async post(config, body, timeoutMs, signal) {
      signal?.throwIfAborted()
      const destination = destinationFor(config, timeoutMs)
      const abort = new AbortController()
      const timer = setTimeout(() => abort.abort(timedOut()), timeoutMs)
      const onAbort = (): void => abort.abort(signal?.reason)
      signal?.addEventListener('abort', onAbort)
      running.add(abort)
      let address: Address | undefined
      try {
        return await queues.join(`${destination.host}:${destination.port}`, async () => {
          address = await addressOf(destination)
          await beforeCall?.(destination.host)
          return bodyOf(await connections.post(destination, address, body, abort.signal))
        })
      } catch (error) {
        if (signal?.aborted) throw signal.reason
        if (error instanceof WebhookError) throw error
        throw asWebhookError(abort.signal.aborted ? abort.signal.reason : error, destination, address)
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        running.delete(abort)
      }
    },
    close() {
      for (const abort of running) abort.abort(new Error('the server is stopping'))
      connections.close()
    },
  }
}

function destinationFor(config: ClientConfig, timeoutMs: number): Destination {
  try {
    return destinationOf(config, timeoutMs)
  } catch (error) {
    throw new WebhookError(error instanceof Error ? error.message : String(error))
  }
}

function bodyOf({ status, contentType, body }: WebhookResponse): Buffer {
  if (status >= 200 && status <= 206) return body
  const quoted = contentType.startsWith('text/') ? body.toString('utf8', 0, MAX_QUOTED_BYTES).trim() : 'unknown'
  throw new WebhookError(messageIn(body) ?? genericResponse(status, 'POST', quoted).message, status)
}

/** The message of a response that is a Status. */
function messageIn(body: Buffer): string | undefined {
  try {
    const given = JSON.parse(body.toString()) as { readonly kind?: unknown; readonly message?: unknown } | null
    return given?.kind === 'Status' && typeof given.message === 'string' ? given.message : undefined
  } catch {
    return undefined
  }
}
