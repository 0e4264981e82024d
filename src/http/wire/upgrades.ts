// Requests of HTTP/1.1 that ask for another protocol: WebSocket or SPDY is served, the wish for any other is ignored.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as TlsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { isUpgradeRequest } from './websocket.js'

export interface UpgradeOptions {
  /** The last response on a connection. */
  lastResponse(socket: Duplex): ServerResponse | undefined
  /** The connection belongs to the other protocol from now on. */
  serve(request: IncomingMessage, socket: Duplex): void
}

export interface Upgrades {
  /** Ends the connections that Node has given away, and that it does not end itself. */
  destroy(): void
}

export function serveUpgrades(server: Server, { lastResponse, serve }: UpgradeOptions): Upgrades {
  const taken = new Set<Duplex>()
  const known = new WeakSet<Duplex>()
  const begin = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (socket.destroyed || socket.writableEnded) return
    if (!isUpgradeRequest(request)) {
      taken.delete(socket)
      return serveWithoutUpgrade(server, request, socket, head)
    }
    if (head.length > 0) socket.unshift(head)
    serve(request, socket)
  }
  server.on('upgrade', (request, socket, head) => {
    socket.off('data', ignoreData)
    taken.add(socket)
    // A connection comes again with each request that asks for another protocol in vain.
    if (!known.has(socket)) socket.once('close', () => taken.delete(socket))
    known.add(socket)
    const earlier = lastResponse(socket)
    if (!earlier || earlier.closed) return begin(request, socket, head)
    // Requests that were sent before this one are not answered yet. Nothing more is read until they are.
    const fail = (): void => void socket.destroy()
    socket.on('error', fail)
    earlier.once('close', () => {
      socket.off('error', fail)
      begin(request, socket, head)
    })
  })
  return {
    destroy() {
      for (const socket of taken) socket.destroy()
    },
  }
}

/** With a listener for data, Node's parser reads from the stream and not from the handle below it; see `tlsServer`. */
export const ignoreData = (): void => {}

/**
 * A server may ignore the wish for another protocol. Node gives the connection away once anything listens for upgrades, so
 * it is given back with the same request, without that wish.
 */
function serveWithoutUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (!UPGRADE_HEADERS.has(rawHeaders[i]!.toLowerCase())) text += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`
  }
  socket.unshift(Buffer.concat([Buffer.from(`${text}\r\n`, 'latin1'), head]))
  server.emit(server instanceof TlsServer ? 'secureConnection' : 'connection', socket)
}

const UPGRADE_HEADERS: ReadonlySet<string> = new Set(['upgrade', 'connection', 'http2-settings'])
