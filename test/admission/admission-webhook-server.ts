// An admission webhook on a loopback port. What it answers is set by the test, and it keeps the reviews that it gets.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { makeCertificate } from '../../src/server/tls/x509.js'

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

const DAY = 86_400_000

export async function startAdmissionWebhook(hosts: readonly string[] = ['127.0.0.1']): Promise<AdmissionWebhookServer> {
  const validity = { from: new Date(Date.now() - DAY), to: new Date(Date.now() + DAY) }
  const ca = await makeCertificate({ subject: { name: 'webhook test CA' }, validity, use: 'authority' })
  const pair = await makeCertificate({ subject: { name: 'webhook' }, validity, use: 'server', hosts }, ca)
  const server = createServer({ cert: pair.cert, key: pair.key }, (request, response) => {
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
    caBundle: Buffer.from(ca.cert).toString('base64'),
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
