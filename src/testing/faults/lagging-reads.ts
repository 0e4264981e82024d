// What a server shows whose watch cache lags behind: objects as they were at an earlier revision, also to a get and to a
// watch that begins with the objects that exist.
import { resourceOf } from '../../kinds/kind-names.js'
import { notFound } from '../../meta/errors/status.js'
import { parseListOptions } from '../../meta/options/list-options.js'
import { printFieldSelector } from '../../meta/selectors/field-selectors.js'
import type { Request } from '../../request/request.js'
import type { Target } from '../../request/target.js'
import type { ListResult, ObjectResult } from '../../verbs/result.js'
import type { Verbs } from '../../verbs/verbs.js'
import type { EventSink, OpenWatch, PreparedWatch } from '../../verbs/watch.js'

/** Whether a reader is content with an old state: it requires no resourceVersion, and does not go on with a list. */
export function allowsOldState(query: URLSearchParams): boolean {
  const required = query.get('resourceVersion') ?? ''
  return (required === '' || required === '0') && !query.has('continue')
}

export function exactlyAt(revision: string, query: URLSearchParams): URLSearchParams {
  const exact = new URLSearchParams(query)
  exact.set('resourceVersion', revision)
  exact.set('resourceVersionMatch', 'Exact')
  return exact
}

export async function laggingGet(
  verbs: Verbs,
  request: Request,
  target: Target,
  revision: string,
): Promise<ObjectResult> {
  const fieldSelector = printFieldSelector([{ field: 'metadata.name', operator: '=', value: target.name }])
  const query = exactlyAt(revision, new URLSearchParams({ fieldSelector }))
  const { versioned, pages } = await verbs.list(request, { ...target, name: '', subresource: '' }, query)
  for await (const [object] of pages) if (object) return { type: 'object', status: 200, versioned, object }
  throw notFound(resourceOf(target.kind), target.name)
}

/** A watch that begins with the old objects, and goes on with all that was written since. */
export async function laggingWatch(
  verbs: Verbs,
  request: Request,
  target: Target,
  query: URLSearchParams,
  revision: string,
): Promise<PreparedWatch> {
  const { sendInitialEvents, allowWatchBookmarks } = parseListOptions(query)
  if (!sendInitialEvents) return verbs.watch(request, target, query)
  const selectors = new URLSearchParams(query)
  for (const name of ['watch', 'sendInitialEvents', 'limit']) selectors.delete(name)
  const list = await verbs.list(request, target, exactlyAt(revision, selectors))
  const later = new URLSearchParams(query)
  for (const name of ['sendInitialEvents', 'resourceVersionMatch']) later.delete(name)
  later.set('resourceVersion', revision)
  const watch = await verbs.watch(request, target, later)
  return { ...watch, start: sink => startAfter(list, allowWatchBookmarks ? Number(revision) : undefined, watch, sink) }
}

/** `bookmarkAt` is the revision of the bookmark after the objects, if there is to be one. */
function startAfter(
  { pages }: ListResult,
  bookmarkAt: number | undefined,
  watch: PreparedWatch,
  sink: EventSink,
): OpenWatch {
  let open: OpenWatch | undefined
  let isStopped = false
  /** Continues after the sink can take more. */
  let wake = (): void => {}
  const drained = (): Promise<void> => new Promise(resolve => (wake = resolve))

  async function begin(): Promise<void> {
    for await (const page of pages) {
      for (const object of page) {
        if (isStopped) return
        if (!sink.event('ADDED', object, undefined)) await drained()
      }
    }
    if (isStopped) return
    if (bookmarkAt !== undefined && !sink.bookmark(bookmarkAt, true)) await drained()
    if (!isStopped) open = watch.start(sink)
  }
  begin().catch(() => {
    if (!isStopped) sink.end()
  })

  return {
    resume() {
      if (open) open.resume()
      else wake()
    },
    stop() {
      isStopped = true
      wake()
      open?.stop()
    },
  }
}
