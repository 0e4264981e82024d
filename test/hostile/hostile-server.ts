// What the tests of this folder share: a server that measures itself, requests, and the bounds of an answer.
import { expect } from 'vitest'
import { type MeasuredBinnacle, startMeasuredBinnacle } from '../components/measured-binnacle.js'
import { begin, type Response, responseTo } from '../server/request.js'

export interface HostileServer extends MeasuredBinnacle {
  send(method: string, path: string, body?: string | Buffer, headers?: Record<string, string>): Promise<Response>
}

export async function startHostileServer(...flags: string[]): Promise<HostileServer> {
  const server = await startMeasuredBinnacle('--storage=memory', ...flags)
  return {
    ...server,
    async send(method, path, body, { token = 'admin-token', ...headers } = {}) {
      const outgoing = begin(server, path, { method, token, headers })
      outgoing.end(body)
      return responseTo(outgoing)
    },
  }
}

/** `count` texts, joined by commas: the items of a list or the members of an object. */
export const many = (count: number, item: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => item(i)).join(',')

/** The most that a request may cost, on an idle machine. Times are CPU time. */
export interface Bounds {
  readonly cpuMs: number
  readonly answerBytes: number
  /** The event loop may be held for that long at a time. */
  readonly heldMs: number
}

/** The bounds for a body of that size. A patch is answered with the object, of which so many bytes are `stored`. */
export const boundsFor = (bodyBytes: number, stored = 0): Bounds => ({
  cpuMs: 1_000 + 1_500 * (bodyBytes / 2 ** 20),
  // Defaults and managedFields may be several times as long as what was sent.
  answerBytes: 1024 * 1024 + 12 * (bodyBytes + stored),
  // The first part is for what does not depend on the bytes: a collection of garbage, which comes at any request and takes
  // tens of milliseconds, and a step over the 100,000 values of an object, of which 300 KB can hold all.
  heldMs: 100 + 100 * (bodyBytes / 2 ** 20),
})

/** A measurement that is over its bounds is repeated: garbage of earlier requests or a busy machine may be the cause. */
const ATTEMPTS = 5

/** Sends a request and checks what it cost. */
export async function sendWithin(
  server: HostileServer,
  method: string,
  path: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
  stored = 0,
): Promise<Response> {
  const bounds = boundsFor(body.length, stored)
  for (let attempt = 1; ; attempt++) {
    const before = await server.slowness()
    const answer = await server.send(method, path, body, headers)
    const { cpuMs, heldMs } = await server.measure()
    // Other work on the machine may have begun or ended meanwhile.
    const slowness = Math.max(before, await server.slowness())
    const isWithin = cpuMs < bounds.cpuMs * slowness && heldMs < bounds.heldMs * slowness
    if (!isWithin && attempt < ATTEMPTS) continue
    expect.soft(answer.text.length, 'bytes of the answer').toBeLessThan(bounds.answerBytes)
    expect.soft(cpuMs, 'CPU time').toBeLessThan(bounds.cpuMs * slowness)
    expect.soft(heldMs, 'time for which the event loop was held').toBeLessThan(bounds.heldMs * slowness)
    return answer
  }
}
