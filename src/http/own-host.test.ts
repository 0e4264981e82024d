import { expect, test } from 'vitest'
import { forOwnHost } from './own-host.js'
import type { Exchange } from './wire/exchange.js'

/** 200 if the request is served. */
function statusFor(headers: Readonly<Record<string, string>>): number {
  let status = 200
  const answer = (code: number): void => void (status = code)
  forOwnHost(() => {})({ headers, answer } as unknown as Exchange)
  return status
}

test.each([
  [{ host: '127.0.0.1:8080' }, 200],
  [{ host: 'localhost:8080' }, 200],
  [{ host: '[::1]:8080' }, 200],
  [{ host: '127.0.0.1:8080', origin: 'http://localhost:3000' }, 200],
  // A page of another site, and a name that points to this machine.
  [{ host: '127.0.0.1:8080', origin: 'https://evil.example' }, 403],
  [{ host: '127.0.0.1:8080', origin: 'null' }, 403],
  [{ host: 'evil.example:8080' }, 403],
  [{ host: '127.0.0.1.evil.example' }, 403],
  [{}, 403],
] as [Record<string, string>, number][])('a request with %j is answered %i', (headers, status) => {
  expect(statusFor(headers)).toBe(status)
})
