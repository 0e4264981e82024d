// Calls of another process by gRPC, over a Unix socket or the network. It may be started later, and again: a call waits for it
// as long as its time lets it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dial } from '../../base/dial.js'
import { type Connection, openConnection } from '../etcd/client/connection.js'
import { callHeaders, GrpcCode, GrpcError, unary } from '../etcd/client/grpc.js'
import type { Method } from '../etcd/client/message-types.js'

export interface GrpcClient {
  call<Request, Response>(method: Method<Request, Response>, request: Request, timeoutMs: number): Promise<Response>
  close(): void
}

export interface GrpcClientOptions {
  /** `unix:///run/signer.sock` or `http://127.0.0.1:4317`. */
  readonly endpoint: string
  /** How connections of the network are opened; directly by default. */
  readonly dial?: Dial | undefined
  /** Called after each call, for metrics. */
  onCall(path: string, seconds: number, error: unknown): void
}

const RECONNECT_MS = 100
/** Go's clients of gRPC take no longer message. */
const MAX_ANSWER_BYTES = 4 * 2 ** 20

/** For the socket at a path, such as `/run/signer.sock`. */
export const createSocketClient = ({
  path,
  onCall,
}: Pick<GrpcClientOptions, 'onCall'> & { readonly path: string }): GrpcClient =>
  createGrpcClient({ endpoint: `unix://${path}`, onCall })

export function createGrpcClient({ endpoint, dial, onCall }: GrpcClientOptions): GrpcClient {
  const what = endpoint.startsWith('unix://') ? `the socket ${endpoint.slice('unix://'.length)}` : endpoint
  const closing = new AbortController()
  let connected: Connection | undefined
  let connecting: Promise<Connection> | undefined

  function connect(timeoutMs: number): Promise<Connection> {
    connecting ??= openConnection(endpoint, { dial, connectTimeoutMs: timeoutMs, signal: closing.signal })
      .then(opened => (connected = opened))
      .finally(() => void (connecting = undefined))
    return connecting
  }

  async function connection(deadline: number): Promise<Connection> {
    for (;;) {
      if (connected?.usable) return connected
      try {
        return await connect(Math.max(1, deadline - performance.now()))
      } catch (cause) {
        if (closing.signal.aborted) throw new GrpcError(GrpcCode.cancelled, 'the client is closed', 'unsent')
        if (performance.now() + RECONNECT_MS >= deadline) {
          const why = cause instanceof Error ? cause.message : String(cause)
          throw new GrpcError(GrpcCode.deadlineExceeded, `${what} cannot be reached: ${why}`, 'unsent', cause)
        }
        // Keeps a process alive that waits for this while it starts.
        await sleep(RECONNECT_MS)
      }
    }
  }

  async function send<Request, Response>(
    { path: name, encode, decode }: Method<Request, Response>,
    request: Request,
    deadline: number,
  ): Promise<Response> {
    const on = await connection(deadline)
    const timeoutMs = Math.max(1, deadline - performance.now())
    const fields = callHeaders(on, name, { 'grpc-timeout': `${Math.ceil(timeoutMs)}m` })
    return decode(await unary(on, fields, encode(request), timeoutMs, MAX_ANSWER_BYTES))
  }

  return {
    async call(method, request, timeoutMs) {
      const began = performance.now()
      const finished = (error?: unknown): void => onCall(method.path, (performance.now() - began) / 1000, error)
      try {
        const response = await send(method, request, began + timeoutMs)
        finished()
        return response
      } catch (error) {
        finished(error)
        throw error
      }
    },
    close() {
      closing.abort()
      connected?.destroy()
    },
  }
}
