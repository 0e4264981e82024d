// Certificates for clients that ask for certain names. The certificate is chosen before the handshake: Node's own choice by
// name keeps the chain of the default certificate, and prefers the default where the two have keys of different types.
import type { Socket } from 'node:net'
import { createServer, type Server, type TLSSocket, type TlsOptions } from 'node:tls'
import { INCOMPLETE, requestedName } from './client-hello.js'

export interface NamedServers {
  /** Takes a connection to the server that has the certificate for it. */
  accept(socket: Socket): void
  /** By name: the options of a server with that certificate. */
  set(options: ReadonlyMap<string, TlsOptions>): void
}

/** `byDefault` takes the connections of clients that ask for none of the names. */
export function createNamedServers(
  byDefault: (socket: Socket) => void,
  onSecure: (socket: TLSSocket) => void,
  timeoutMs: number,
): NamedServers {
  let servers: ReadonlyMap<string, Server> = new Map()

  /** A client that names no host may mean an address. */
  const serverFor = (name: string | undefined, socket: Socket): Server | undefined => {
    if (name === undefined) return servers.get(socket.localAddress ?? '')
    const plain = name.replace(/\.$/, '')
    return servers.get(plain) ?? servers.get(plain.replace(/^[^.]*/, '*'))
  }

  return {
    accept(socket) {
      if (servers.size === 0) return byDefault(socket)
      let seen: Buffer = Buffer.alloc(0)
      const timer = setTimeout(() => socket.destroy(), timeoutMs).unref()
      const look = (): void => {
        const chunk = socket.read() as Buffer | null
        if (chunk === null) return
        seen = Buffer.concat([seen, chunk])
        const name = requestedName(seen)
        if (name === INCOMPLETE) return
        leave()
        // TLS begins with what was read.
        socket.unshift(seen)
        const server = serverFor(name, socket)
        if (server) server.emit('connection', socket)
        else byDefault(socket)
      }
      const leave = (): void => {
        clearTimeout(timer)
        socket.off('readable', look)
        socket.off('error', leave)
        socket.off('close', leave)
      }
      socket.on('readable', look)
      socket.on('error', leave)
      socket.on('close', leave)
    },
    set(options) {
      const made = new Map<TlsOptions, Server>()
      const serverOf = (each: TlsOptions): Server => {
        const server = createServer(each, onSecure)
        server.on('tlsClientError', () => {})
        made.set(each, server)
        return server
      }
      servers = new Map([...options].map(([name, each]) => [name, made.get(each) ?? serverOf(each)]))
    },
  }
}
