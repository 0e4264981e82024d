// An HTTPS client for webhooks. Request and response bodies are bytes here. Connections are reused.
import type { ClientRequest, IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { isIP } from 'node:net'
import { checkServerIdentity } from 'node:tls'
import { genericResponse } from '../meta/errors/status.js'
import { createCallQueues } from './call-queue.js'
import { type ClientConfig, type Destination, destinationOf, type ServiceReference } from './client-config.js'
import type { Address, HostOverrides } from './host-overrides.js'
import { asWebhookError, timedOut, WebhookError } from './webhook-error.js'

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
  /** The current time in milliseconds; `Date.now` by default. */
  readonly now?: (() => number) | undefined
}

export type FindService = (service: ServiceReference & { readonly port: number }) => Promise<Required<Address>>

/** The maximum size of a response: an answer is about as long as the objects that were sent. */
const maxResponseBytes = (requestBytes: number): number => 4 * 1024 * 1024 + 4 * requestBytes
/** So much of a response that is no Status is quoted in an error, as client-go does. */
const MAX_QUOTED_BYTES = 2048
const AGENT = { keepAlive: true, maxSockets: 64, maxFreeSockets: 32, timeout: 90_000 }

export function createWebhooks({ hosts = new Map(), findService, now }: WebhookOptions = {}): Webhooks {
  const agent = new Agent(AGENT)
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
          return call(agent, destination, address, body, abort.signal)
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
      agent.destroy()
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

async function call(
  agent: Agent,
  destination: Destination,
  address: Address | undefined,
  body: string,
  signal: AbortSignal,
): Promise<Buffer> {
  for (;;) {
    const length = Buffer.byteLength(body)
    const outgoing = begin(agent, destination, address, length, signal)
    try {
      outgoing.end(body)
      return await readResponse(await responseTo(outgoing), maxResponseBytes(length))
    } catch (error) {
      // The peer closed a reused connection at the moment of this call, so the call is repeated.
      if (!outgoing.reusedSocket || !isCutOff(error) || signal.aborted) throw error
    }
  }
}

function begin(
  agent: Agent,
  { host, port, path, ca, credentials }: Destination,
  address: Address | undefined,
  length: number,
  signal: AbortSignal,
): ClientRequest {
  return request({
    agent,
    method: 'POST',
    host: address?.host ?? host,
    port: address?.port ?? port,
    path,
    headers: {
      host: `${isIP(host) === 6 ? `[${host}]` : host}:${port}`,
      'content-type': 'application/json',
      accept: 'application/json, */*',
      'content-length': length,
      'user-agent': 'binnacle',
      ...credentials?.headers,
    },
    // For any address, the certificate must be for the host name.
    servername: isIP(host) === 0 ? host : '',
    checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
    ...(ca !== undefined && { ca }),
    ...(credentials?.cert && { cert: credentials.cert, key: credentials.key }),
    // As in Go, the bundle may contain the webhook's own certificate instead of its CA.
    allowPartialTrustChain: true,
    signal,
  })
}

const isCutOff = (error: unknown): boolean => {
  const { code } = error as { readonly code?: string }
  return code === 'ECONNRESET' || code === 'EPIPE'
}

const responseTo = (outgoing: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    outgoing.on('response', resolve)
    outgoing.on('error', reject)
  })

async function readResponse(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  const body = Buffer.concat(chunks, size)
  const { statusCode = 0, headers } = response
  if (statusCode >= 200 && statusCode <= 206) return body
  const isText = headers['content-type']?.startsWith('text/') ?? false
  throw new WebhookError(
    messageIn(body) ??
      genericResponse(statusCode, 'POST', isText ? body.toString('utf8', 0, MAX_QUOTED_BYTES).trim() : 'unknown')
        .message,
    statusCode,
  )
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
