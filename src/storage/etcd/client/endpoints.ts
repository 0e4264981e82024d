// The endpoints of one etcd cluster: keeps a connection to one of them, and connects to the next one when it fails.
import { StorageError } from '../../storage-error.js'
import { type Connection, type ConnectionOptions, openConnection } from './connection.js'

export interface Endpoints {
  /** The connection in use; undefined while there is none. */
  readonly current: Connection | undefined
  /** Why there is no connection, if the last attempt to connect has failed. */
  readonly failure: StorageError | undefined
  /** Waits for a connection until a point in time (as in `performance.now()`). */
  connect(deadline: number): Promise<Connection>
  /** Connects to another endpoint after this connection failed. */
  failOver(connection: Connection): void
  /** Rejects all current and later waits for a connection with `error`. */
  refuse(error: StorageError): void
  /** Closes all connections. */
  close(): void
}

const FIRST_BACKOFF_MS = 20
const MAX_BACKOFF_MS = 1_000

export function createEndpoints(urls: readonly string[], options: ConnectionOptions): Endpoints {
  const closing = new AbortController()
  const endpoints: EndpointState[] = urls.map(url => ({ url, failures: 0, notBefore: 0 }))
  /** All open connections: the current one, and retired ones that finish their calls. */
  const open = new Set<Connection>()
  const waiting = new Set<Waiter>()
  let current: Connection | undefined
  let turn = 0
  let connecting = false
  let refusal: StorageError | undefined
  let lastError: unknown

  /** Tries one endpoint after the other while there are waiters. */
  async function seek(): Promise<void> {
    if (connecting) return
    connecting = true
    try {
      while (waiting.size > 0) {
        const endpoint = nextEndpoint()
        const pause = endpoint.notBefore - performance.now()
        if (pause > 0) await delay(pause)
        if (waiting.size === 0) return
        try {
          useConnection(await openConnection(endpoint.url, { ...options, signal: closing.signal }), endpoint)
        } catch (error) {
          lastError = error
          backOff(endpoint)
        }
      }
    } finally {
      connecting = false
    }
  }

  /** The first endpoint, from `turn` on, that may be tried now; otherwise the one that may be tried soonest. */
  function nextEndpoint(): EndpointState {
    const now = performance.now()
    const inTurn = endpoints.map((_, i) => endpoints[(turn + i) % endpoints.length]!)
    return (
      inTurn.find(endpoint => endpoint.notBefore <= now) ?? inTurn.reduce((a, b) => (b.notBefore < a.notBefore ? b : a))
    )
  }

  function backOff(endpoint: EndpointState): void {
    const max = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** endpoint.failures++)
    endpoint.notBefore = performance.now() + max * (0.5 + Math.random() / 2)
    turn = (endpoints.indexOf(endpoint) + 1) % endpoints.length
  }

  function useConnection(connection: Connection, endpoint: EndpointState): void {
    if (refusal) return connection.destroy()
    open.add(connection)
    connection.onClose(() => {
      open.delete(connection)
      if (current !== connection) return
      current = undefined
      backOff(endpoint)
    })
    turn = endpoints.indexOf(endpoint)
    current = connection
    endpoint.failures = 0
    lastError = undefined
    for (const waiter of waiting) waiter.resolve(connection)
  }

  return {
    get current() {
      return current?.usable ? current : undefined
    },

    get failure() {
      return refusal ?? (current?.usable || lastError === undefined ? undefined : noConnection(urls, lastError))
    },

    connect(deadline) {
      if (refusal) return Promise.reject(refusal)
      if (current?.usable) return Promise.resolve(current)
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => waiter.reject(noConnection(urls, lastError)), deadline - performance.now())
        const leave = () => {
          clearTimeout(timer)
          waiting.delete(waiter)
        }
        const waiter: Waiter = {
          resolve(connection) {
            leave()
            resolve(connection)
          },
          reject(error) {
            leave()
            reject(error)
          },
        }
        waiting.add(waiter)
        void seek()
      })
    },

    failOver(connection) {
      if (current !== connection) return
      // With only one endpoint, a new connection would lead to the same member.
      if (endpoints.length === 1 && connection.usable) return
      current = undefined
      backOff(endpoints.find(({ url }) => url === connection.endpoint)!)
      connection.retire()
    },

    refuse(error) {
      refusal = error
      for (const waiter of waiting) waiter.reject(error)
    },

    close() {
      closing.abort()
      for (const connection of open) connection.destroy()
    },
  }
}

interface EndpointState {
  readonly url: string
  /** Consecutive failures. */
  failures: number
  /** The earliest time for the next attempt. */
  notBefore: number
}

interface Waiter {
  resolve(connection: Connection): void
  reject(error: StorageError): void
}

function noConnection(urls: readonly string[], cause: unknown): StorageError {
  const why = cause instanceof Error ? `: ${cause.message}` : ''
  return new StorageError('unavailable', `no connection to etcd at ${urls.join(', ')}${why}`, undefined, cause)
}

const delay = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms).unref())
