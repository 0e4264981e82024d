// A TCP proxy on loopback that a test can make fail: it cuts, refuses, swallows or delays the data between a client and
// a server.
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'

export interface Proxy {
  /** The port for clients. */
  readonly port: number
  /** How many connections were accepted since it was started. */
  readonly accepted: number
  /** Breaks all connections, like a failing router; new ones are forwarded. */
  cut(): void
  /** Breaks all connections and refuses new ones, until `heal`. */
  refuse(): Promise<void>
  /** Accepts connections and discards all data, until `heal` cuts them. */
  swallow(): void
  /** Delays the data in one direction, on open and new connections, until `heal` forwards it. */
  stall(direction: Direction): void
  /** Forwards again. */
  heal(): Promise<void>
  close(): Promise<void>
}

export type Direction = 'to-server' | 'to-client'

interface Link {
  readonly client: Socket
  readonly server: Socket
}

export async function startProxy(target: { port: number; host?: string }): Promise<Proxy> {
  const links = new Set<Link>()
  const stalled = new Set<Direction>()
  let accepted = 0
  let swallowing = false
  let refusing = false

  const listener = createServer(client => {
    accepted++
    const server = createConnection(target.port, target.host ?? '127.0.0.1')
    const link = { client, server }
    links.add(link)
    for (const socket of [client, server]) {
      socket.setNoDelay(true)
      socket.on('error', () => breakLink(link))
      socket.on('close', () => breakLink(link))
    }
    forward(client, server, 'to-server')
    forward(server, client, 'to-client')
  })

  /** Not `pipe`, because data that is read while swallowing must be discarded. */
  function forward(from: Socket, to: Socket, direction: Direction): void {
    from.on('data', (chunk: Buffer) => {
      if (swallowing) return
      if (to.write(chunk)) return
      from.pause()
      to.once('drain', () => stalled.has(direction) || from.resume())
    })
    from.on('end', () => swallowing || to.end())
    if (stalled.has(direction)) from.pause()
  }

  function breakLink({ client, server }: Link): void {
    client.destroy()
    server.destroy()
    for (const link of links) if (link.client === client) links.delete(link)
  }

  function cut(): void {
    // A reset, not an orderly end: data in transit is lost, and both sides notice at once.
    for (const link of links) {
      link.client.resetAndDestroy()
      link.server.resetAndDestroy()
    }
    links.clear()
  }

  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      listener.once('error', reject)
      listener.listen(port, '127.0.0.1', () => {
        listener.removeListener('error', reject)
        resolve()
      })
    })

  await listen(0)
  const { port } = listener.address() as AddressInfo

  return {
    port,
    get accepted() {
      return accepted
    },
    cut,

    async refuse() {
      if (refusing) return
      refusing = true
      const down = new Promise(resolve => listener.close(resolve))
      cut()
      await down
    },

    swallow() {
      swallowing = true
    },

    stall(direction) {
      stalled.add(direction)
      for (const { client, server } of links) (direction === 'to-server' ? client : server).pause()
    },

    async heal() {
      // Connections that lost bytes cannot be used any more.
      if (swallowing) cut()
      swallowing = false
      stalled.clear()
      for (const { client, server } of links) {
        client.resume()
        server.resume()
      }
      if (refusing) await listen(port)
      refusing = false
    },

    async close() {
      const down = new Promise(resolve => listener.close(resolve))
      cut()
      await down
    },
  }
}
