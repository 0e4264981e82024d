// Refuses requests that a web page makes. A browser sends them to any address, also to 127.0.0.1, and a name that the
// page's owner controls may point there; but it cannot hide the name (Host) or the page (Origin).

import type { Exchange } from './wire/exchange.js'

/** For a listener on a loopback address where every client may do everything: only requests to that address are served. */
export const forOwnHost =
  (handle: (exchange: Exchange) => void): ((exchange: Exchange) => void) =>
  exchange => {
    const { host, origin } = exchange.headers
    const isOwn = isLoopback(`http://${host ?? ''}`) && (origin === undefined || isLoopback(origin))
    if (isOwn) return handle(exchange)
    exchange.answer(403, { 'content-type': 'text/plain; charset=utf-8' }, 'this server is not for web pages\n')
  }

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

function isLoopback(url: string): boolean {
  return URL.canParse(url) && LOOPBACK.test(new URL(url).hostname)
}
