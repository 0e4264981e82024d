// What a webhook answers, over either version of HTTP.

import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

export interface WebhookResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** The webhook did not begin with the call, for all that is known: it can be made again over another connection. */
export class NotProcessed extends Error {}

/** A response has begun, and cannot be read to its end. */
export class UnreadableBody extends Error {}

/** The body as a whole. `requestBytes`: an answer is about as long as the objects that were sent. */
export async function readResponseBody(
  response: AsyncIterable<Buffer>,
  { 'content-encoding': encoding }: IncomingHttpHeaders,
  requestBytes: number,
): Promise<Buffer> {
  const maxBytes = 4 * 1024 * 1024 + 4 * requestBytes
  const body = await readAll(response, maxBytes)
  return encoding === 'gzip' && body.length > 0 ? unzipped(body, maxBytes) : body
}

async function readAll(response: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of response) {
      size += chunk.length
      if (size > maxBytes) break
      chunks.push(chunk)
    }
  } catch (error) {
    const { code } = error as { readonly code?: string }
    const reason = code === 'HPE_INVALID_CHUNK_SIZE' ? 'invalid byte in chunk length' : 'unexpected EOF'
    throw new UnreadableBody(reason, { cause: error })
  }
  if (size > maxBytes) throw tooLarge(maxBytes)
  return Buffer.concat(chunks, size)
}

const unzip = promisify(gunzip)

async function unzipped(body: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    return await unzip(body, { maxOutputLength: maxBytes })
  } catch (error) {
    const { code } = error as { readonly code?: string }
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes)
    throw new UnreadableBody(code === 'Z_BUF_ERROR' ? 'unexpected EOF' : 'gzip: invalid header', { cause: error })
  }
}

const tooLarge = (maxBytes: number): Error => new Error(`the answer is larger than ${maxBytes} bytes`)
