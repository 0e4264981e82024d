// Connections on which no request has come yet: in the TLS handshake, or silent, or with half a request. They cost memory
// and file descriptors without any credentials, so that there may be only so many of them and for so long. If there are
// too many, the oldest is closed: a client that means well has sent its request long before.

import type { Socket } from 'node:net'

export interface NewConnections {
  add(socket: Socket): void
  /** A request has come on the connection of this socket, which may be the TLS socket over the one that was added. */
  served(socket: Pick<Socket, 'remoteAddress' | 'remotePort'>): void
  /** Closes all of them. */
  closeAll(): void
  readonly count: number
}

export interface NewConnectionLimits {
  readonly max: number
  /** How long a client has for its first request. */
  readonly firstRequestMs: number
}

/** The time is kube-apiserver's for the header of a request. */
const LIMITS: NewConnectionLimits = { max: 1_000, firstRequestMs: 32_000 }

const SWEEP_MS = 1_000

export function createNewConnections({ max, firstRequestMs } = LIMITS): NewConnections {
  /** Oldest first. The key is the same for a TLS socket and the socket below it. */
  const connections = new Map<string, { readonly socket: Socket; readonly since: number }>()
  /** A connection comes again when a request on it asks for another protocol in vain. */
  const known = new WeakSet<Socket>()
  let timer: NodeJS.Timeout | undefined

  function closeOldest(): void {
    const [oldest] = connections
    if (!oldest) return
    connections.delete(oldest[0])
    oldest[1].socket.destroy()
  }

  function sweep(): void {
    const limit = performance.now() - firstRequestMs
    for (const { since } of connections.values()) {
      if (since > limit) break
      closeOldest()
    }
    if (connections.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
  }

  return {
    add(socket) {
      if (known.has(socket)) return
      known.add(socket)
      const key = keyOf(socket)
      connections.set(key, { socket, since: performance.now() })
      socket.once('close', () => {
        if (connections.get(key)?.socket === socket) connections.delete(key)
      })
      if (connections.size > max) closeOldest()
      timer ??= setInterval(sweep, SWEEP_MS).unref()
    },
    served: socket => void connections.delete(keyOf(socket)),
    closeAll() {
      while (connections.size > 0) closeOldest()
      clearInterval(timer)
    },
    get count() {
      return connections.size
    },
  }
}

const keyOf = ({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string =>
  `${remoteAddress} ${remotePort}`
