// Calls to an etcd cluster. Each goes to the connected member, and is retried on other members while that is safe and
// its time limit allows.
import type { Dial } from '../../../base/dial.js'
import type { RequestFields } from '../../../base/http2/request-encoder.js'
import { type Attributes, activeSpan, outgoingTraceHeaders, SpanKind, traced } from '../../../base/tracing/span.js'
import { closed, StorageError } from '../../storage-error.js'
import type { Connection, TlsOptions } from './connection.js'
import { createEndpoints, type Endpoints } from './endpoints.js'
import { classifyFailure } from './etcd-errors.js'
import { callHeaders, grpcTimeout, unary } from './grpc.js'
import type { Method } from './message-types.js'
import { STATUS } from './messages.js'

export interface EtcdClientOptions {
  /** Such as `http://127.0.0.1:2379`; several for the members of one cluster. */
  readonly endpoints: readonly string[]
  readonly tls?: TlsOptions | undefined
  /** How connections are opened; directly by default. */
  readonly dial?: Dial | undefined
  /** The time limit of an operation, including all its attempts. A write that was sent may take twice as long. */
  readonly timeoutMs?: number | undefined
}

export interface CallKind {
  /** It changes data: it must not be sent twice if the first one may have arrived. */
  readonly isWrite?: boolean
  /** It may be answered by a member that has no leader. */
  readonly withoutLeader?: boolean
  /** The time limit of this call; that of the client by default. */
  readonly timeoutMs?: number
}

export interface EtcdClient {
  readonly endpoints: Endpoints
  readonly timeoutMs: number
  readonly isClosed: boolean
  call<Request, Response>(method: Method<Request, Response>, request: Request, kind?: CallKind): Promise<Response>
  /** The version of etcd at the other end of a connection; undefined if it cannot be read. */
  versionAt(connection: Connection): Promise<string | undefined>
  /** Waits for running calls, but only a short time. */
  close(): Promise<void>
}

const DEFAULT_TIMEOUT_MS = 5_000
const CONNECT_TIMEOUT_MS = 2_000
const CLOSE_TIMEOUT_MS = 1_000
const RETRY_MS = 50

/** Makes a member without a leader refuse at once instead of waiting until the timeout. */
export const REQUIRE_LEADER = { hasleader: 'true' }

export function createEtcdClient({
  endpoints: urls,
  tls,
  dial,
  timeoutMs = DEFAULT_TIMEOUT_MS,
}: EtcdClientOptions): EtcdClient {
  checkEndpoints(urls)
  const endpoints = createEndpoints(urls, { tls, dial, connectTimeoutMs: Math.min(timeoutMs, CONNECT_TIMEOUT_MS) })
  const versions = new WeakMap<Connection, Promise<string | undefined>>()
  const headers = new WeakMap<Connection, Map<string, RequestFields>>()
  let isClosed = false
  let underWay = 0
  /** Called when no call is running any more. */
  let onIdle: (() => void) | undefined

  function attempt(connection: Connection, path: string, frame: Buffer, deadline: number, withoutLeader: boolean) {
    const left = Math.max(1, deadline - performance.now())
    const fields = headersFor(connection, path, left, withoutLeader)
    return activeSpan() === undefined
      ? unary(connection, fields, frame, left)
      : tracedCall(connection, path, fields, frame, left)
  }

  /** The headers of a call are kept, with their encoding. */
  function headersFor(connection: Connection, path: string, left: number, withoutLeader: boolean): RequestFields {
    const limit = grpcTimeout(left)
    const id = `${path} ${limit} ${withoutLeader}`
    let known = headers.get(connection)
    if (!known) headers.set(connection, (known = new Map()))
    let fields = known.get(id)
    if (!fields) {
      fields = callHeaders(connection, path, { 'grpc-timeout': limit, ...(!withoutLeader && REQUIRE_LEADER) })
      known.set(id, fields)
    }
    return fields
  }

  /** Waits for a connection; prefers the error of an earlier attempt over "no connection". */
  async function connect(deadline: number, earlier: StorageError | undefined): Promise<Connection> {
    try {
      return await endpoints.connect(deadline)
    } catch (error) {
      throw isClosed ? closed() : (earlier ?? error)
    }
  }

  function finishOne(): void {
    if (--underWay === 0) onIdle?.()
  }

  return {
    endpoints,
    timeoutMs,
    get isClosed() {
      return isClosed
    },

    async call(method, request, { isWrite = false, withoutLeader = false, timeoutMs: limit = timeoutMs } = {}) {
      if (isClosed) throw closed()
      const frame = method.encode(request)
      const deadline = performance.now() + limit
      let earlier: StorageError | undefined
      underWay++
      try {
        for (;;) {
          const connection = endpoints.current ?? (await connect(deadline, earlier))
          try {
            // etcd gives up on a write after seven seconds. A client that stops waiting earlier does not learn the outcome.
            const answerBy = isWrite ? deadline + limit : deadline
            return method.decode(await attempt(connection, method.path, frame, answerBy, withoutLeader))
          } catch (thrown) {
            const failure = classifyFailure(thrown, isWrite)
            if (failure.failOver) endpoints.failOver(connection)
            if (isClosed && failure.retryable) throw closed()
            if (!failure.retryable || performance.now() + RETRY_MS >= deadline) throw failure.error
            earlier = failure.error
          }
          // If the connection is gone, connecting again is delay enough.
          if (endpoints.current) await pause()
        }
      } finally {
        finishOne()
      }
    },

    versionAt(connection) {
      const cached = versions.get(connection)
      if (cached) return cached
      const requested = attempt(connection, STATUS.path, STATUS.encode({}), performance.now() + timeoutMs, true)
        .then(answer => STATUS.decode(answer).version)
        .catch(() => void versions.delete(connection))
      versions.set(connection, requested)
      return requested
    },

    async close() {
      if (isClosed) return
      isClosed = true
      endpoints.refuse(closed())
      if (underWay > 0) await idleOrLate()
      endpoints.close()
    },
  }

  function idleOrLate(): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, CLOSE_TIMEOUT_MS)
      onIdle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/** A call for a request that is traced: etcd continues the trace. */
const tracedCall = (
  connection: Connection,
  path: string,
  fields: RequestFields,
  frame: Buffer,
  timeoutMs: number,
): Promise<Buffer> =>
  traced(
    path.slice(1),
    () => rpcAttributes(connection, path),
    async span => {
      const answer = await unary(
        connection,
        [...fields, ...Object.entries(outgoingTraceHeaders(span)).flat()],
        frame,
        timeoutMs,
      )
      span?.set({ 'rpc.response.status_code': 'OK' })
      return answer
    },
    SpanKind.client,
  )

function rpcAttributes({ endpoint }: Connection, path: string): Attributes {
  const { hostname, port } = new URL(endpoint)
  return {
    'rpc.method': path.slice(1),
    'rpc.system.name': 'grpc',
    'server.address': hostname,
    ...(port !== '' && { 'server.port': Number(port) }),
  }
}

function checkEndpoints(urls: readonly string[]): void {
  if (urls.length === 0) throw new StorageError('unavailable', 'no endpoint of etcd is given')
  for (const url of urls) {
    const protocol = URL.canParse(url) ? new URL(url).protocol : undefined
    if (protocol !== 'http:' && protocol !== 'https:' && protocol !== 'unix:') {
      throw new StorageError(
        'unavailable',
        `${JSON.stringify(url)} is not an endpoint of etcd: it must be an http, https or unix URL`,
      )
    }
  }
}

const pause = (): Promise<void> => new Promise(resolve => setTimeout(resolve, RETRY_MS * (0.5 + Math.random())))
