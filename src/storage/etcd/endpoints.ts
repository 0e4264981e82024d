// Several endpoints of one cluster as one thing to call: a connection to one of them, and to the next when it fails.
import { StorageError } from '../storage-error.js'
import { type Connection, type ConnectionOptions, openConnection } from './connection.js'

export interface Endpoints {
  /** The connection in use; undefined while there is none. */
  readonly current: Connection | undefined
  /** Waits for a connection until a point in time (as `Date.now()` tells it). */
  connect(deadline: number): Promise<Connection>
  /** Turns to another endpoint after this one let us down. */
  turnFrom(connection: Connection): void
  /** Fails whoever waits for a connection with `error`, and all who come later. */
  refuse(error: StorageError): void
  /** Ends all connections. */
  close(): void
}

const FIRST_BACKOFF_MS = 20
const MAX_BACKOFF_MS = 1_000

export function createEndpoints(urls: readonly string[], options: ConnectionOptions): Endpoints {
  const closing = new AbortController()
  const places: Place[] = urls.map(url => ({ url, failures: 0, notBefore: 0 }))
  /** All that are not closed yet: the current one, and those that finish what they began. */
  const open = new Set<Connection>()
  const waiting = new Set<Waiter>()
  let current: Connection | undefined
  let turn = 0
  let connecting = false
  let refused: StorageError | undefined
  let lastError: unknown

  /** Tries one endpoint after the other for as long as somebody waits. */
  async function seek(): Promise<void> {
    if (connecting) return
    connecting = true
    try {
      while (waiting.size > 0) {
        const place = nextPlace()
        const pause = place.notBefore - Date.now()
        if (pause > 0) await delay(pause)
        if (waiting.size === 0) return
        try {
          settle(await openConnection(place.url, { ...options, signal: closing.signal }), place)
        } catch (error) {
          lastError = error
          backOff(place)
        }
      }
    } finally {
      connecting = false
    }
  }

  /** The first endpoint, from `turn` on, that may be tried now; otherwise the one that may be tried soonest. */
  function nextPlace(): Place {
    const now = Date.now()
    const inTurn = places.map((_, i) => places[(turn + i) % places.length]!)
    return inTurn.find(place => place.notBefore <= now) ?? inTurn.reduce((a, b) => (b.notBefore < a.notBefore ? b : a))
  }

  function backOff(place: Place): void {
    const max = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** place.failures++)
    place.notBefore = Date.now() + max * (0.5 + Math.random() / 2)
    turn = (places.indexOf(place) + 1) % places.length
  }

  function settle(connection: Connection, place: Place): void {
    if (refused) return connection.destroy()
    open.add(connection)
    connection.session.once('close', () => {
      open.delete(connection)
      if (current !== connection) return
      current = undefined
      backOff(place)
    })
    turn = places.indexOf(place)
    current = connection
    place.failures = 0
    lastError = undefined
    for (const waiter of waiting) waiter.resolve(connection)
  }

  return {
    get current() {
      return current?.usable ? current : undefined
    },

    connect(deadline) {
      if (refused) return Promise.reject(refused)
      if (current?.usable) return Promise.resolve(current)
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => waiter.reject(noConnection(urls, lastError)), deadline - Date.now())
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

    turnFrom(connection) {
      if (current !== connection) return
      // Where there is only one, a new connection leads to the same place.
      if (places.length === 1 && connection.usable) return
      current = undefined
      backOff(places.find(({ url }) => url === connection.endpoint)!)
      connection.retire()
    },

    refuse(error) {
      refused = error
      for (const waiter of waiting) waiter.reject(error)
    },

    close() {
      closing.abort()
      for (const connection of open) connection.destroy()
    },
  }
}

interface Place {
  readonly url: string
  /** In a row. */
  failures: number
  /** Not to be tried again before this point in time. */
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
