// The paths that tell how the process is, and the answer to all others.
import type { Exchange } from './exchange.js'

/** `ready` rejects with the reason why requests cannot be served. */
export function healthHandler(ready: () => Promise<void>): (exchange: Exchange) => void {
  return exchange => {
    const answer = (status: number, text: string) =>
      exchange.answer(
        status,
        { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
        text,
      )
    switch (exchange.path) {
      case '/livez':
        answer(200, 'ok')
        break
      case '/healthz':
      case '/readyz':
        ready().then(
          () => answer(200, 'ok'),
          (error: unknown) =>
            answer(500, `${exchange.path.slice(1)} check failed: ${error instanceof Error ? error.message : ''}\n`),
        )
        break
      default:
        answer(404, '404 page not found\n')
    }
  }
}
