// A store behind a simulated network: requests and responses are delayed randomly, and some are lost.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { StorageError } from '../../../src/storage/storage-error.js'
import type { Revision, Store, Watch, WatchSink, WriteResult } from '../../../src/storage/store.js'
import type { Random } from './random.js'

export interface Connection {
  /** The probability that a request is lost, and that a response is lost. */
  loss: number
}

export function createRemoteStore(store: Store, random: Random, connection: Connection): Store {
  async function travel(): Promise<void> {
    for (let turns = random.number(8); turns > 0; turns--) await nextTurn()
  }

  async function read<T>(request: () => Promise<T>): Promise<T> {
    await travel()
    if (random.chance(connection.loss)) throw new StorageError('unavailable', 'the connection broke')
    const answer = await request()
    await travel()
    return answer
  }

  async function write(request: () => Promise<WriteResult>): Promise<WriteResult> {
    if (random.chance(connection.loss)) throw new StorageError('unavailable', 'there was no connection')
    await travel()
    const lost = new StorageError('outcome-unknown', 'the connection broke')
    if (random.chance(connection.loss)) {
      // A lost request may still arrive, after its client has given up.
      if (random.chance(0.5)) void travel().then(travel).then(request)
      throw lost
    }
    const answer = await request()
    await travel()
    if (random.chance(connection.loss)) throw lost
    return answer
  }

  return {
    embedded: false,
    revision: () => read(() => store.revision()),
    get: (key, at) => read(() => store.get(key, at)),
    range: (prefix, options) => read(() => store.range(prefix, options)),
    create: (key, value) => write(() => store.create(key, value)),
    update: (key, value, expected) => write(() => store.update(key, value, expected)),
    delete: (key, expected) => write(() => store.delete(key, expected)),
    watch: (target, after, sink) => watchRemotely(store, target, after, sink, travel),
    compact: revision => store.compact(revision),
    check: () => store.check(),
    close: () => store.close(),
  }
}

/** Events arrive in order, but delayed. */
function watchRemotely(
  store: Store,
  target: string,
  after: Revision,
  sink: WatchSink,
  travel: () => Promise<void>,
): Watch {
  // biome-ignore lint/suspicious/noConfusingVoidType: the result type of sinks
  const inTransit: (() => boolean | void)[] = []
  let moving = false
  let paused = false
  let closed = false

  async function move(): Promise<void> {
    if (moving || inTransit.length === 0) return
    moving = true
    await travel()
    moving = false
    if (paused || closed) return
    if (inTransit.shift()!() === false) paused = true
    void move()
  }

  // biome-ignore lint/suspicious/noConfusingVoidType: the result type of sinks
  function send(what: () => boolean | void): void {
    inTransit.push(what)
    void move()
  }

  const watch = store.watch(target, after, {
    event: event => send(() => sink.event(event)),
    progress: revision => send(() => sink.progress?.(revision)),
    end: error => send(() => sink.end(error)),
  })
  return {
    resume() {
      paused = false
      void move()
    },
    requestProgress: () => void travel().then(() => closed || watch.requestProgress()),
    close() {
      closed = true
      watch.close()
    },
  }
}
