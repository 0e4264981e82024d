// Watches of a test.
import { type Fetch, readObject, type Status, StatusError } from './fetch.js'
import type { KubernetesObject } from './kinds.js'

export interface WatchEvent<T = KubernetesObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: T
}

/** An open watch. It ends with the loop over it, with `stop`, or when the server ends it; an ERROR event is thrown. */
export interface Watch<T> extends AsyncIterableIterator<WatchEvent<T>>, AsyncDisposable {
  stop(): Promise<void>
}

/** Throws a StatusError if the server refuses it. */
export async function openWatch<T>(fetch: Fetch, path: string, signal?: AbortSignal): Promise<Watch<T>> {
  const abort = new AbortController()
  const onAbort = (): void => abort.abort()
  signal?.addEventListener('abort', onAbort)
  signal?.throwIfAborted()
  const response = await fetch(path, { signal: abort.signal })
  if (!response.ok) await readObject(response)
  const events = iterate<T>(response, abort)
  const stop = async (): Promise<void> => {
    signal?.removeEventListener('abort', onAbort)
    abort.abort()
    await events.return(undefined)
  }
  const watch: Watch<T> = {
    next: () => events.next(),
    async return() {
      await stop()
      return { done: true, value: undefined }
    },
    stop,
    [Symbol.asyncIterator]: () => watch,
    [Symbol.asyncDispose]: stop,
  }
  return watch
}

async function* iterate<T>(response: Response, abort: AbortController): AsyncGenerator<WatchEvent<T>, undefined> {
  try {
    for await (const event of eventsOf(response)) {
      if (event.type === 'ERROR') throw new StatusError(event.object as unknown as Status)
      yield event as unknown as WatchEvent<T>
    }
  } catch (error) {
    if (!abort.signal.aborted) throw error
  } finally {
    abort.abort()
  }
  return undefined
}

/** The events of a watch, as they arrive. */
export async function* eventsOf(response: Response): AsyncGenerator<WatchEvent> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line !== '') yield JSON.parse(line) as WatchEvent
  }
}
