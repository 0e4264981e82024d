// Adds the header Strict-Transport-Security to every response.
import type { Exchange } from '../../../http/exchange.js'

type Handle = (exchange: Exchange) => void

export function withStrictTransportSecurity(handle: Handle, value: string | undefined): Handle {
  if (value === undefined) return handle
  return exchange => {
    const answering = Object.create(exchange) as { -readonly [K in keyof Exchange]: Exchange[K] }
    answering.answer = (status, headers, body) =>
      exchange.answer(status, { ...headers, 'strict-transport-security': value }, body)
    answering.begin = (status, headers) => exchange.begin(status, { ...headers, 'strict-transport-security': value })
    handle(answering)
  }
}
