// An admission webhook on a loopback port. What it answers is set by the test, and it keeps the reviews that it gets.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { makeWebhookCertificates, type WebhookCertificates } from '../../src/server/index.js'

export interface Review {
  apiVersion: string
  kind: string
  request: Record<string, unknown> & {
    uid: string
    operation: string
    name?: string
    object: {
      apiVersion: string
      kind: string
      metadata: Record<string, unknown>
      spec?: Record<string, unknown>
    } | null
  }
}

/** The response of a review, or the whole body if it is a string. */
export type Answer = (review: Review, path: string) => object | string | Promise<object>

export interface AdmissionWebhookServer {
  readonly port: number
  readonly caBundle: string
  /** In the order in which they came, with the path of each. */
  readonly reviews: { readonly path: string; readonly review: Review }[]
  answer: Answer
  stop(): Promise<void>
}

/** `certificates`: those of the webhook, which are made for these hosts by default. */
export async function startAdmissionWebhook(
  hosts: readonly string[] = ['127.0.0.1'],
  certificates?: Omit<WebhookCertificates, 'ca'>,
): Promise<AdmissionWebhookServer> {
  const { cert, key, caBundle } = certificates ?? (await makeWebhookCertificates(hosts))
  const server = createServer({ cert, key }, (request, response) => {
    void answerTo(request, response)
  })

  async function answerTo(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const review = JSON.parse(text) as Review
    const path = request.url ?? ''
    started.reviews.push({ path, review })
    const answer = await started.answer(review, path)
    const { apiVersion, kind } = review
    response.setHeader('content-type', 'application/json')
    response.end(
      typeof answer === 'string'
        ? answer
        : JSON.stringify({ apiVersion, kind, response: { uid: review.request.uid, ...answer } }),
    )
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const started: AdmissionWebhookServer = {
    port: (server.address() as AddressInfo).port,
    caBundle,
    reviews: [],
    answer: () => ({ allowed: true }),
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return started
}
