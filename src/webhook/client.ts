// Calls webhooks over https. What is asked and what is answered are bytes here. Connections are kept for the next call.
import type { ClientRequest, IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { isIP } from 'node:net'
import { checkServerIdentity } from 'node:tls'
import { genericResponse } from '../meta/errors/status.js'
import { createQueues } from './call-queue.js'
import { type ClientConfig, type Destination, destinationOf, type ServiceReference } from './client-config.js'
import type { Address, KnownHosts } from './host-overrides.js'
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
  /** Where names are found that are not asked of the DNS, be they of a URL or of a service. */
  readonly hosts?: KnownHosts | undefined
  /** Where a service is found. Rejects with an Error that says what is missing. */
  readonly findService?: FindService | undefined
  /** Milliseconds, as `Date.now` gives them. */
  readonly now?: (() => number) | undefined
}

export type FindService = (service: ServiceReference & { readonly port: number }) => Promise<Required<Address>>

/** What a webhook may say at most. */
const MAX_ANSWER = 64 * 1024 * 1024
const AGENT = { keepAlive: true, maxSockets: 64, maxFreeSockets: 32, timeout: 90_000 }

export function createWebhooks({ hosts = new Map(), findService, now }: WebhookOptions = {}): Webhooks {
  const agent = new Agent(AGENT)
  const queues = createQueues(now)
  const underWay = new Set<AbortController>()

  /** Undefined where the name itself is the address. */
  async function addressOf({ host, port, service }: Destination): Promise<Address | undefined> {
    const known = hosts.get(host.toLowerCase())
    if (known || !service || !findService) return known
    return findService({ ...service, port })
  }

  return {
    async post(config, body, timeoutMs, signal) {
      signal?.throwIfAborted()
      const destination = destinationFor(config, timeoutMs)
      const giveUp = new AbortController()
      const timer = setTimeout(() => giveUp.abort(timedOut()), timeoutMs)
      const onAbort = (): void => giveUp.abort(signal?.reason)
      signal?.addEventListener('abort', onAbort)
      underWay.add(giveUp)
      let address: Address | undefined
      try {
        return await queues.join(`${destination.host}:${destination.port}`, async () => {
          address = await addressOf(destination)
          return call(agent, destination, address, body, giveUp.signal)
        })
      } catch (error) {
        if (signal?.aborted) throw signal.reason
        if (error instanceof WebhookError) throw error
        throw asWebhookError(giveUp.signal.aborted ? giveUp.signal.reason : error, destination, address)
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        underWay.delete(giveUp)
      }
    },
    close() {
      for (const giveUp of underWay) giveUp.abort(new Error('the server is stopping'))
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
    const asking = begin(agent, destination, address, Buffer.byteLength(body), signal)
    try {
      asking.end(body)
      return await answerOf(await responseTo(asking))
    } catch (error) {
      // The other side let go of a kept connection just as it was used again: no more is known of it than before.
      if (!asking.reusedSocket || !isCutOff(error) || signal.aborted) throw error
    }
  }
}

function begin(
  agent: Agent,
  { host, port, path, ca }: Destination,
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
    },
    // Wherever it is found, its certificate must be for the name by which it is known.
    servername: isIP(host) === 0 ? host : '',
    checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
    ...(ca !== undefined && { ca }),
    // As in Go, the bundle may hold the webhook's own certificate in place of the authority that signed it.
    allowPartialTrustChain: true,
    signal,
  })
}

const isCutOff = (error: unknown): boolean => {
  const { code } = error as { readonly code?: string }
  return code === 'ECONNRESET' || code === 'EPIPE'
}

const responseTo = (asking: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    asking.on('response', resolve)
    asking.on('error', reject)
  })

async function answerOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_ANSWER) throw new Error(`the answer is larger than ${MAX_ANSWER} bytes`)
    chunks.push(chunk)
  }
  const body = Buffer.concat(chunks, size)
  const { statusCode = 0, headers } = response
  if (statusCode >= 200 && statusCode <= 206) return body
  const isText = headers['content-type']?.startsWith('text/') ?? false
  throw new WebhookError(
    messageIn(body) ?? genericResponse(statusCode, 'POST', isText ? body.toString().trim() : 'unknown').message,
  )
}

/** What an answer says of itself that is a Status. */
function messageIn(body: Buffer): string | undefined {
  try {
    const given = JSON.parse(body.toString()) as { readonly kind?: unknown; readonly message?: unknown } | null
    return given?.kind === 'Status' && typeof given.message === 'string' ? given.message : undefined
  } catch {
    return undefined
  }
}
