import type { OutgoingHttpHeaders } from 'node:http'
import { expect, test } from 'vitest'
import { ANSWERED, type Exchange } from './exchange.js'
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

test('what a list keeps in memory counts while its client does not read', async () => {
  let drain = (): void => {}
  let isWaiting = (): void => {}
  const waiting = new Promise<void>(resolve => (isWaiting = resolve))
  const outgoing = {
    ...ANSWERED,
    write: () => (isWaiting(), false),
    onDrain: (listener: () => void) => (drain = listener),
  }
  const exchange = {
    method: 'GET',
    headers: {},
    retained: 0,
    begin: () => outgoing,
    onGone() {},
  } as unknown as Exchange
  async function* body() {
    yield Buffer.alloc(200_000)
  }
  const sent = createResponseWriter(exchange).sendEncoded({
    status: 200,
    mediaType: '',
    body: body(),
    retained: () => 7,
  })
  await waiting
  await Promise.resolve()
  expect(exchange.retained).toBe(7)
  drain()
  await sent
  expect(exchange.retained).toBe(0)
})
