// A proxy for tests: it opens what is asked for by HTTP CONNECT.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export interface TestProxy {
  readonly port: number
  /** The targets that were asked for. */
  readonly targets: string[]
  close(): void
}

/** `refusal`: what is answered in the place of a connection. `at`: the path of a socket, or a free port. */
export async function startConnectProxy(options: { refusal?: string; at?: string } = {}): Promise<TestProxy> {
  const targets: string[] = []
  const sockets = new Set<Duplex>()
  const server: Server = createServer()
  server.on('connect', ({ url = '' }: IncomingMessage, client: Duplex) => {
    targets.push(url)
    sockets.add(client)
    client.on('error', () => {})
    if (options.refusal !== undefined) return void client.end(options.refusal)
    const target = new URL(`http://${url}`)
    const upstream: Socket = connect(Number(target.port), target.hostname, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(client)
      client.pipe(upstream)
    })
    sockets.add(upstream)
    upstream.on('error', () => client.destroy())
    upstream.on('close', () => client.destroy())
    client.on('close', () => upstream.destroy())
  })
  await new Promise<void>(resolve => {
    if (options.at === undefined) server.listen(0, '127.0.0.1', resolve)
    else server.listen(options.at, resolve)
  })
  return {
    port: options.at === undefined ? (server.address() as AddressInfo).port : 0,
    targets,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
