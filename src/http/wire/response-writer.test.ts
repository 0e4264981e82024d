import type { OutgoingHttpHeaders } from 'node:http'
import { expect, test } from 'vitest'
import type { Exchange } from './exchange.js'
import { createResponseWriter } from './response-writer.js'

async function headersOfLarge(headers: OutgoingHttpHeaders): Promise<OutgoingHttpHeaders> {
  let sent: OutgoingHttpHeaders = {}
  const exchange = {
    method: 'GET',
    headers: { 'accept-encoding': 'gzip' },
    answer: (_: number, all: OutgoingHttpHeaders) => void (sent = all),
  } as unknown as Exchange
  await createResponseWriter(exchange).whole(200, headers, Buffer.alloc(1024 * 1024))
  return sent
}

test('a compressed response adds Accept-Encoding to Vary', async () => {
  expect(await headersOfLarge({})).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
  expect(await headersOfLarge({ vary: 'Accept' })).toMatchObject({ vary: 'Accept, Accept-Encoding' })
})
