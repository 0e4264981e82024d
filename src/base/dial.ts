// Connections that are opened in another way than directly: through a proxy that is asked by HTTP CONNECT.
import type { RequestOptions } from 'node:https'
import { connect as connectPlain, isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'

/** Opens a connection to a host and a port. It is paused until it is resumed or TLS begins on it. */
export type Dial = (host: string, port: number, timeoutMs?: number) => Promise<Socket>

/** How connections are opened, by where they lead; absent ones are direct. */
export interface Dials {
  /** To nodes, pods and Services. */
  readonly cluster?: Dial | undefined
  /** To other servers of the control plane, and to webhooks at URLs. */
  readonly controlPlane?: Dial | undefined
  readonly etcd?: Dial | undefined
}

/** The `createConnection` of an agent for https that opens its connections in this way. */
export const securedBy =
  (dial: Dial) =>
  (options: RequestOptions, connected: (error: Error | null, socket: Duplex) => void): undefined => {
    dial(String(options.host), Number(options.port)).then(
      socket => connected(null, connectTls({ ...(options as ConnectionOptions), socket })),
      connected as (error: Error) => void,
    )
  }

export interface ConnectProxy {
  /** `127.0.0.1:8080` or the path of a socket, for messages. */
  readonly name: string
  readonly at: { readonly path: string } | { readonly host: string; readonly port: number }
  /** PEM; undefined for a proxy without TLS. */
  readonly tls?: ProxyTls | undefined
}

export interface ProxyTls {
  readonly ca?: string | undefined
  readonly cert: string
  readonly key: string
  readonly servername?: string | undefined
}

const TIMEOUT_MS = 30_000
/** As Go limits the headers of a response. */
const MAX_HEAD_BYTES = 1024 * 1024
const HEAD_END = '\r\n\r\n'

/** Errors have kube-apiserver's messages. */
export const dialThrough =
  (proxy: ConnectProxy): Dial =>
  (host, port, timeoutMs = TIMEOUT_MS) =>
    new Promise((resolve, reject) => {
      const target = isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`
      const socket = openProxy(proxy)
      const timer = setTimeout(() => fail(new Error(`dialing ${target} via proxy ${proxy.name} timed out`)), timeoutMs)
      let head = Buffer.alloc(0)

      const unread = (why: string): Error =>
        new Error(`reading HTTP response from CONNECT to ${target} via proxy ${proxy.name} failed: ${why}`)
      const onEnd = (): void => fail(unread('unexpected EOF'))

      function leave(): void {
        clearTimeout(timer)
        socket.off('data', onData)
        socket.off('error', fail)
        socket.off('end', onEnd)
      }

      function fail(error: Error): void {
        leave()
        socket.on('error', () => {})
        socket.destroy()
        reject(error)
      }

      function onData(bytes: Buffer): void {
        head = Buffer.concat([head, bytes])
        const end = head.indexOf(HEAD_END)
        if (end === -1) return void (head.length > MAX_HEAD_BYTES && fail(unread('unexpected EOF')))
        const [, code, status] = /^HTTP\/1\.[01] (([0-9]{3})[^\r\n]*)/.exec(head.toString('latin1', 0, end)) ?? []
        if (code === undefined) return fail(unread(`malformed HTTP response ${JSON.stringify(firstLine(head))}`))
        if (status !== '200') {
          return fail(new Error(`proxy error from ${proxy.name} while dialing ${target}, code ${status}: ${code}`))
        }
        const rest = head.subarray(end + HEAD_END.length)
        leave()
        socket.pause()
        // What the other side has sent already.
        if (rest.length > 0) socket.unshift(rest)
        resolve(socket)
      }

      socket.on('error', fail)
      socket.on('end', onEnd)
      socket.on('data', onData)
      socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: 127.0.0.1${HEAD_END}`)
    })

const firstLine = (head: Buffer): string => head.toString('latin1').split('\r\n', 1)[0]!

function openProxy({ at, tls }: ConnectProxy): Socket {
  if (!tls) return 'path' in at ? connectPlain(at.path) : connectPlain(at)
  const { servername, ...pair } = tls
  const host = 'host' in at ? at.host : ''
  const name = servername ?? (isIP(host) === 0 ? host : undefined)
  return connectTls({
    ...pair,
    ...at,
    ...(name !== undefined && { servername: name }),
    allowPartialTrustChain: true,
  } as object)
}
