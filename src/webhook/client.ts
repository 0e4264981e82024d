// An HTTPS client for webhooks. Request and response bodies are bytes here. Connections are reused.
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dials } from '../base/dial.js'
import { type Attributes, outgoingTraceHeaders, SpanKind, traced } from '../base/tracing/span.js'
import { genericResponse } from '../meta/errors/status.js'
import { createCallQueues } from './call-queue.js'
import {
  type ClientConfig,
  type Destination,
  destinationOf,
  redirectedTo,
  type ServiceReference,
} from './client-config.js'
import { createConnections, type WebhookCall } from './connections.js'
import type { Address, Endpoint, HostOverrides } from './host-overrides.js'
import { errorOfMediaType } from './media-type.js'
import { isOwnService, type OwnServer, throughOwnServer } from './own-server.js'
import { asWebhookError, timedOut, WebhookError } from './webhook-error.js'
import { UnreadableBody, type WebhookResponse } from './webhook-response.js'

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
  /** This server, once it listens: for webhooks behind the Service `kubernetes` of `default`. */
  readonly ownServer?: (() => OwnServer | undefined) | undefined
  /** How connections are opened: to Services those of the cluster, to URLs those of the control plane. */
  readonly dials?: Dials | undefined
  /** Called with the host before each call. It may wait, and reject as a connection to it would. */
  readonly beforeCall?: ((host: string) => Promise<void>) | undefined
  /** The current time in milliseconds; `Date.now` by default. */
  readonly now?: (() => number) | undefined
}

export type FindService = (service: ServiceReference & { readonly port: number }) => Promise<Endpoint>

/** So much of a response that is no Status is quoted in an error, as client-go does. */
const MAX_QUOTED_BYTES = 2048

export function createWebhooks({
  hosts = new Map(),
  findService,
  ownServer,
  dials: { cluster, controlPlane } = {},
  beforeCall,
  now,
}: WebhookOptions = {}): Webhooks {
  const direct = createConnections()
  const toUrls = controlPlane ? createConnections(controlPlane) : direct
  const toServices = cluster ? createConnections(cluster) : direct
  const queues = createCallQueues(now)
  const running = new Set<AbortController>()

  /** The address to connect to; undefined if the host name itself is used. */
  async function addressOf({ host, port, service, own }: Destination): Promise<Address | undefined> {
    if (own) return own
    const override = hosts.get(host.toLowerCase())
    if (override || !service || !findService) return override
    return findService({ ...service, port })
  }

  function route(destination: Destination): Destination {
    const { service, host } = destination
    const own = service && isOwnService(service) && !hosts.has(host) ? ownServer?.() : undefined
    return own ? throughOwnServer(destination, own) : destination
  }

  async function send(call: WebhookCall, at: Place, signal: AbortSignal): Promise<WebhookResponse> {
    at.address = await addressOf(at.destination)
    await beforeCall?.(at.destination.host)
    return traced(
      `HTTP ${call.method}`,
      () => callAttributes(call, at.destination),
      async span => {
        const headers = outgoingTraceHeaders(span)
        const { service, own } = at.destination
        const connections = own ? direct : service ? toServices : toUrls
        const response = await connections.send({ ...call, headers }, at.destination, at.address, signal)
        span?.set({ 'http.response.status_code': response.status })
        return response
      },
      SpanKind.client,
    )
  }

  /** Follows redirections, and calls again where the webhook asks for it, as client-go does. */
  async function answerTo(body: string, at: Place, signal: AbortSignal): Promise<WebhookResponse> {
    let call: WebhookCall = { method: 'POST', body }
    for (let redirections = 0, repetitions = 0; ; ) {
      const response = await send(call, at, signal)
      const { location } = response.headers
      const seconds = repetitions < MAX_REPETITIONS ? secondsToWait(response) : undefined
      if (REDIRECTIONS.has(response.status) && location !== undefined) {
        if (++redirections > MAX_REDIRECTIONS) throw new Error(`stopped after ${MAX_REDIRECTIONS} redirects`)
        if (response.status < 307) call = { method: 'GET', body: '' }
        at.destination = redirectedTo(at.destination, location)
      } else if (seconds !== undefined) {
        repetitions++
        await sleep(seconds * 1000, undefined, { signal })
      } else return response
    }
  }

  return {
    async post(config, body, timeoutMs, signal) {
      signal?.throwIfAborted()
      const destination = route(destinationFor(config, timeoutMs))
      const abort = new AbortController()
      const timer = setTimeout(() => abort.abort(timedOut()), timeoutMs)
      const onAbort = (): void => abort.abort(signal?.reason)
      if (signal) {
        // Webhooks that are called side by side listen to one request. Node.js would warn about more than ten.
        setMaxListeners(0, signal)
        signal.addEventListener('abort', onAbort)
      }
      running.add(abort)
      const at: Place = { destination, address: undefined }
      try {
        return await queues.join(`${destination.host}:${destination.port}`, async () =>
          bodyOf(await answerTo(body, at, abort.signal)),
        )
      } catch (error) {
        if (signal?.aborted) throw signal.reason
        if (error instanceof WebhookError) throw error
        const cause: unknown = abort.signal.aborted ? abort.signal.reason : error
        if (error instanceof UnreadableBody) throw unreadable(cause)
        throw asWebhookError(cause, at.destination, at.address)
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        running.delete(abort)
      }
    },
    close() {
      for (const abort of running) abort.abort(new Error('the server is stopping'))
      for (const connections of new Set([direct, toUrls, toServices])) connections.close()
    },
  }
}

const callAttributes = (
  { method }: WebhookCall,
  { protocol, authority, host, port, path }: Destination,
): Attributes => ({
  'http.request.method': method,
  'server.address': host,
  'server.port': port,
  'url.full': `${protocol}//${authority}${path}`,
})

/** Where a call goes, which a redirection changes. */
interface Place {
  destination: Destination
  /** Where to connect to instead of the host. */
  address: Address | undefined
}

const REDIRECTIONS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const MAX_REDIRECTIONS = 10
const MAX_REPETITIONS = 10

/** How long a webhook that has no time asks to wait; undefined if it does not. */
function secondsToWait({ status, headers }: WebhookResponse): number | undefined {
  const after = headers['retry-after'] ?? ''
  const isBusy = status === 429 || (status >= 500 && status <= 599)
  return isBusy && /^\d{1,9}$/.test(after) ? Number(after) : undefined
}

const unreadable = (cause: unknown): WebhookError =>
  new WebhookError(
    `unexpected error when reading response body. Please retry. Original error: ${(cause as Error).message}`,
  )

function destinationFor(config: ClientConfig, timeoutMs: number): Destination {
  try {
    return destinationOf(config, timeoutMs)
  } catch (error) {
    throw new WebhookError(error instanceof Error ? error.message : String(error))
  }
}

function bodyOf({ status, headers, body }: WebhookResponse): Buffer {
  const { 'content-type': given = '' } = headers
  const mistake = given === '' ? undefined : errorOfMediaType(given)
  if (mistake !== undefined) throw new WebhookError(`Internal error occurred: mime: ${mistake}`)
  // client-go's own type where there is none; and a change of the protocol is no error to it.
  const contentType = given || 'application/json'
  if (status === 101 || (status >= 200 && status <= 206)) {
    if (body.length > 0) return body
    throw new WebhookError(`0-length response with status code: ${status} and content type: ${contentType}`)
  }
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
