// List and watch of one collection, kept true for as long as it is wanted: pages first, then events from the version of
// the list, resumed where a connection ended, and listed again when that version is no longer kept (410).
import { ApiError, getJson, query, request, type Status } from './client.js'
import { readLines } from './watch-stream.js'

export interface Selection {
  /** `/apis/apps/v1/namespaces/a/deployments`. */
  readonly path: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Media type of lists, and of events of the watch; Tables for instance. */
  readonly accept?: string
  /** More parameters of the query, as `includeObject`. */
  readonly parameters?: Readonly<Record<string, string>>
}

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: T
}

interface ListMeta {
  readonly metadata: {
    readonly resourceVersion?: string
    readonly continue?: string
    readonly remainingItemCount?: number
  }
}

export interface ListWatchHandler<L, E> {
  /** A page of a list. `first`: forget everything before it. `last`: the list is complete. */
  readonly page: (list: L, at: { first: boolean; last: boolean }) => void
  readonly event: (event: WatchEvent<E>) => void
  readonly state?: (state: ListWatchState) => void
}

export type ListWatchState =
  | { readonly phase: 'loading' | 'live' | 'reconnecting' }
  | { readonly phase: 'failed'; readonly error: unknown }

const PAGE = 500
const FIRST_RETRY_MS = 250
const MAX_RETRY_MS = 15_000

/** Runs until the signal aborts. Errors are passed to `state`, and tried again unless they cannot go away. */
export async function listWatch<L extends ListMeta, E>(
  selection: Selection,
  handler: ListWatchHandler<L, E>,
  signal: AbortSignal,
): Promise<void> {
  let resourceVersion = ''
  let retry = FIRST_RETRY_MS
  while (!signal.aborted) {
    try {
      if (resourceVersion === '') {
        handler.state?.({ phase: 'loading' })
        resourceVersion = await listAll(selection, handler, signal)
      }
      const began = Date.now()
      resourceVersion = await watchFrom(resourceVersion, selection, handler, signal)
      // A server ends watches after a while, which is no error; one that ends them at once is not asked at full speed.
      retry = Date.now() - began > 1000 ? FIRST_RETRY_MS : Math.min(retry * 2, MAX_RETRY_MS)
      handler.state?.({ phase: 'reconnecting' })
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiError && error.code === 410) {
        resourceVersion = ''
        continue
      }
      handler.state?.({ phase: 'failed', error })
      if (error instanceof ApiError && isFinal(error)) return
      retry = Math.min(retry * 2, MAX_RETRY_MS)
    }
    await pause(retry, signal)
  }
}

const isFinal = ({ code }: ApiError): boolean => [400, 401, 403, 404, 405, 406, 422].includes(code)

async function listAll<L extends ListMeta>(
  { path, labelSelector, fieldSelector, accept, parameters }: Selection,
  handler: Pick<ListWatchHandler<L, never>, 'page'>,
  signal: AbortSignal,
): Promise<string> {
  let next = ''
  for (let first = true; ; first = false) {
    const parts = { labelSelector, fieldSelector, limit: PAGE, continue: next, ...parameters }
    const list = await getJson<L>(path + query(parts), { ...(accept && { accept }), signal })
    next = list.metadata.continue ?? ''
    handler.page(list, { first, last: next === '' })
    if (next === '') return list.metadata.resourceVersion ?? ''
  }
}

async function watchFrom<E>(
  from: string,
  { path, labelSelector, fieldSelector, accept, parameters }: Selection,
  handler: Omit<ListWatchHandler<never, E>, 'page'>,
  signal: AbortSignal,
): Promise<string> {
  let resourceVersion = from
  let failure: Status | undefined
  const parts = { watch: true, allowWatchBookmarks: true, resourceVersion, labelSelector, fieldSelector, ...parameters }
  const response = await request(path + query(parts), { ...(accept && { accept }), signal })
  handler.state?.({ phase: 'live' })
  await readLines(response, line => {
    const event = JSON.parse(line) as WatchEvent<E>
    if (event.type === 'ERROR') {
      failure = event.object as Status
      return
    }
    resourceVersion = versionOf(event.object) ?? resourceVersion
    handler.event(event)
  })
  if (failure !== undefined) throw new ApiError(failure)
  return resourceVersion
}

/** Of an object, or of the row of a Table. */
function versionOf(value: unknown): string | undefined {
  const { metadata, rows } = value as {
    metadata?: { resourceVersion?: string }
    rows?: { object?: { metadata?: { resourceVersion?: string } } }[]
  }
  return rows?.at(-1)?.object?.metadata?.resourceVersion ?? (metadata?.resourceVersion || undefined)
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    signal.addEventListener('abort', done)
  })
}
