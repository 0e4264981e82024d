// Requests of one connection of HTTP/1.1 are served one after the other, as by Go's server: a request may depend on what the
// one before it does, and a client that sends many and reads no response would otherwise have all of them served at once.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** With so many requests that wait, nothing more is read of the connection. */
const MAX_WAITING = 16

/** `serve` is called when all earlier responses on the connection have been sent, and not if the connection ends before. */
export function createRequestOrder(): (socket: Socket, response: ServerResponse, serve: () => void) => void {
  interface Queue {
    /** Whether a response has begun that has not been sent. Deno's responses do not say it of themselves. */
    isBusy: boolean
    readonly waiting: { readonly response: ServerResponse; readonly serve: () => void }[]
  }
  const queues = new WeakMap<Socket, Queue>()

  function begin(socket: Socket, queue: Queue, response: ServerResponse, serve: () => void): void {
    queue.isBusy = true
    response.once('close', () => next(socket, queue))
    serve()
  }

  function next(socket: Socket, queue: Queue): void {
    queue.isBusy = false
    const first = queue.waiting.shift()
    if (!first || socket.destroyed) return
    if (queue.waiting.length < MAX_WAITING) socket.resume()
    begin(socket, queue, first.response, first.serve)
  }

  return (socket, response, serve) => {
    let queue = queues.get(socket)
    if (!queue) queues.set(socket, (queue = { isBusy: false, waiting: [] }))
    if (!queue.isBusy) return begin(socket, queue, response, serve)
    queue.waiting.push({ response, serve })
    if (queue.waiting.length >= MAX_WAITING) socket.pause()
  }
}
