// Forwards TCP connections to servers that are ready. TLS passes through, so clients verify the server itself, and sign in to
// it. Connections to a server that is away are closed, so that clients open new ones and continue their watches elsewhere.
import { type AddressInfo, createServer, connect as openConnection, type Server, type Socket } from 'node:net'

/** `stopping`: it still serves the connections that it has, and ends them itself. `unknown`: not asked yet. */
export type Readiness = 'unknown' | 'ready' | 'stopping' | 'away'

export interface Target {
  readonly host: string
  readonly port: number
}

export interface Balancer {
  readonly address: Target
  /** Connections come and go by this. */
  setReadiness(target: Target, readiness: Readiness): void
  /** Closes all connections. */
  stop(): Promise<void>
}

interface Backend {
  readonly target: Target
  readiness: Readiness
  readonly links: Set<Link>
}

interface Link {
  readonly client: Socket
  readonly server: Socket
}

const CONNECT_MS = 2000
const KEEP_ALIVE_MS = 10_000
const ORDER: readonly Readiness[] = ['ready', 'unknown', 'stopping', 'away']

export async function startBalancer(targets: readonly Target[], listen: Target): Promise<Balancer> {
  const backends: readonly Backend[] = targets.map(target => ({ target, readiness: 'unknown', links: new Set() }))
  const waiting = new Set<Socket>()

  const listener = createServer({ allowHalfOpen: true, pauseOnConnect: true }, client => {
    client.on('error', () => client.destroy())
    waiting.add(client)
    client.once('close', () => waiting.delete(client))
    void forward(client)
  })
  await listening(listener, listen)
  const { address, port } = listener.address() as AddressInfo

  /** To the first server that accepts the connection: those that are ready before others, those with fewer connections first. */
  async function forward(client: Socket): Promise<void> {
    const rank = ({ readiness, links }: Backend): number => ORDER.indexOf(readiness) * 1e9 + links.size
    for (const backend of backends.toSorted((a, b) => rank(a) - rank(b))) {
      const server = await connected(backend.target)
      if (client.destroyed) return void server?.destroy()
      if (server) return join(backend, { client, server })
      if (backend.readiness === 'ready') setReadiness(backend, 'away')
    }
    client.destroy()
  }

  function join({ links }: Backend, link: Link): void {
    const { client, server } = link
    links.add(link)
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.setNoDelay(true)
      socket.setKeepAlive(true, KEEP_ALIVE_MS)
      socket.on('error', () => socket.destroy())
      // What was received is still sent on.
      socket.once('close', () => {
        links.delete(link)
        other.destroySoon()
      })
      socket.pipe(other)
    }
  }

  function setReadiness(backend: Backend, readiness: Readiness): void {
    backend.readiness = readiness
    // A connection to a server that is away is better than none.
    if (!backends.some(each => each.readiness === 'ready')) return
    for (const each of backends) if (each.readiness === 'away') each.links.forEach(cut)
  }

  return {
    address: { host: address, port },
    setReadiness(target, readiness) {
      setReadiness(backends.find(backend => backend.target === target)!, readiness)
    },
    async stop() {
      const closed = new Promise(resolve => listener.close(resolve))
      for (const client of waiting) client.destroy()
      for (const { links } of backends) links.forEach(cut)
      await closed
    },
  }
}

function cut({ client, server }: Link): void {
  client.destroy()
  server.destroy()
}

/** Undefined if the server does not accept the connection. */
function connected({ host, port }: Target): Promise<Socket | undefined> {
  return new Promise(resolve => {
    const socket = openConnection({ host, port, allowHalfOpen: true })
    const fail = (): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(undefined)
    }
    const timer = setTimeout(fail, CONNECT_MS)
    socket.once('error', fail)
    socket.once('connect', () => {
      clearTimeout(timer)
      socket.off('error', fail)
      resolve(socket)
    })
  })
}

const listening = (listener: Server, { host, port }: Target): Promise<void> =>
  new Promise((resolve, reject) => {
    listener.once('error', reject)
    listener.listen(port, host, () => {
      listener.off('error', reject)
      // For example, no more files may be opened: the client tries again.
      listener.on('error', () => {})
      resolve()
    })
  })
