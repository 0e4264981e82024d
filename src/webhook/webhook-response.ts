// What a webhook answers, over either version of HTTP.

export interface WebhookResponse {
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
}

/** The webhook did not begin with the call, for all that is known: it can be made again over another connection. */
export class NotProcessed extends Error {}

/** The body as a whole. `requestBytes`: an answer is about as long as the objects that were sent. */
export async function readResponseBody(response: AsyncIterable<Buffer>, requestBytes: number): Promise<Buffer> {
  const maxBytes = 4 * 1024 * 1024 + 4 * requestBytes
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    size += chunk.length
    if (size > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}
