// list: the objects of a collection at one revision, whole or page by page.

import { type Awaitable, andThen, orElse } from '../../base/awaitable.js'
import { throwIfAborted } from '../../base/cancellation.js'
import { startTurns } from '../../base/turns.js'
import { resourceOf } from '../../kinds/kind-names.js'
import { hasReason, internalError, type StatusCause, StatusError, storageReadError } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import { canBeKey, continueExpired, encodeContinue, listExpired } from '../../meta/options/continue-token.js'
import type { ListOptions } from '../../meta/options/list-options.js'
import {
  keyPrefixOf,
  type ListState,
  type ObjectAttributes,
  type ObjectEntry,
  type ObjectStore,
} from '../../objects/object-store.js'
import type { ObjectView } from '../../objects/object-view.js'
import { type ViewedEntries, viewSelected } from '../../objects/select-entries.js'
import { selectionOf } from '../../objects/selection.js'
import { asStatus } from '../../objects/storage-status.js'
import { Unreadable } from '../../objects/unreadable.js'
import type { ResourceRequest } from '../../request/request.js'
import { type Target } from '../../request/target.js'
import type { Entry, Revision } from '../../storage/store.js'
import { type AttributeTerm, type CachedPage, hasTerm } from '../../storage/watch-cache.js'
import type { ApiContext } from '../api-context.js'
import type { ListPages, ListResult } from '../result.js'
import { type FoundList, findKnown, keeperOf, keptItems } from './known-list.js'
import { type ListQuery, startOf } from './list-query.js'

/** How many entries are read and passed on at a time. */
const PAGE = 500
/** Fewer if they are large: a client that reads slowly holds a page in memory. */
export const PAGE_BYTES = 1024 * 1024
/** The most that a list with a limit holds. If the objects are large it has fewer of them than the limit, and continues. */
export const LIMITED_BYTES = 16 * 1024 * 1024
/** With a limit and a selector, as few as this at first. */
const MIN_PAGE = 32
/** After this many objects the time is checked, and after this long other requests get a turn. */
const VIEWED_AT_ONCE = 32
const TURN_MS = 5

/** A promise only where something must be waited for. */
export function listObjects(context: ApiContext, request: ResourceRequest<ListOptions>): Awaitable<ListResult> {
  const { target, options } = request
  const { kind, version, namespace } = target
  const selection = selectionOf(version, options)
  const store = context.objectStore(kind)
  store.listCounts.lists++
  const counted = (viewed: ViewedEntries): ViewedEntries => {
    for (const each of viewed) if (each) store.listCounts.returned++
    return viewed
  }
  const query: ListQuery = {
    target,
    store,
    prefix: keyPrefixOf(kind, namespace),
    terms: selection.terms(target),
    view(entries, hasTerms) {
      // Nothing more is read for a client that has gone, or after the deadline.
      throwIfAborted(request)
      return orElse(
        () => andThen(viewSelected(store.views, target, selection, entries, request, hasTerms), counted),
        error => failedRead(context, target, entries, each => store.views.view(target, each, request), error),
      )
    },
    isLocal: entries => entries.every(entry => store.views.isInVersion(target, entry)),
    selection,
    ...startOf(options, context.gates),
  }
  return andThen(begin(query), found => ({ type: 'list', status: 200, versioned: target, ...found }))
}

type Found = Pick<ListResult, 'continueToken' | 'remaining' | 'pages' | 'kept' | 'keep'> & {
  readonly revision: Revision
}

/** Reads what must be known before the response begins: the first entries, or all of a page with a limit. */
function begin(query: ListQuery): Awaitable<Found> {
  const { store, requested, token, target } = query
  // In a namespace whose name cannot be stored there is nothing.
  if (!canBeKey(target.namespace)) {
    return andThen(
      asStatus(requested, () => store.cache.revision()),
      revision => ({ revision, pages: once([]) }),
    )
  }
  return orElse(
    () => findNow(query) ?? andThen(findKnown(query), known => foundAgain(query, known) ?? readList(query, known)),
    error => {
      if (!hasReason(error, 'Expired')) throw error
      throw token ? continueExpired(token) : listExpired()
    },
  )
}

/** What an index finds at once, if it is all that the list has. */
function findNow(query: ListQuery): Found | undefined {
  const { store, prefix, at, requested, limit, token, terms, view, isLocal } = query
  if (terms.length === 0 || token || isOneName(query)) return undefined
  const page = asStatus(requested, () =>
    store.cache.rangeNow(prefix, { at, limit: Math.min(limit ?? PAGE, PAGE), maxBytes: PAGE_BYTES, terms }),
  ) as CachedPage<ObjectAttributes> | undefined
  if (!page || page.remaining > 0 || page.entries.length === limit || !isLocal(page.entries)) return undefined
  const viewed = view(page.entries, page.isSelected)
  return viewed instanceof Promise ? undefined : { revision: page.revision, pages: once(selected(viewed)) }
}

async function readList(query: ListQuery, known: FoundList | undefined): Promise<Found> {
  const { store, prefix, at, requested, limit, selection, terms, token, target } = query
  const startAfter = token && `${prefix}${token.startAfter}`
  if (isOneName(query)) return findNamed(query, target.namespace)
  if (limit !== undefined && selection.everything) return readPage(query, limit, startAfter, known)
  if (limit !== undefined) return readSelectedPage(query, limit, startAfter)
  const keep = keeperOf(query, known)
  const first = await asStatus(requested, () =>
    store.cache.range(prefix, { at, limit: PAGE, maxBytes: PAGE_BYTES, startAfter, terms, readsAll: true }),
  )
  return { ...(await readAll(query, first)), keep: keep?.(first.revision, undefined) }
}

/** A selector that requires one name in one namespace is answered by a get. */
const isOneName = ({ selection, target, token }: ListQuery): boolean =>
  selection.name !== undefined && (target.namespace !== '' || !target.kind.namespaced) && !token

async function findNamed(query: ListQuery, namespace: string): Promise<Found> {
  const { store, prefix, at, requested: asked, selection, view: show } = query
  const { revision } = await asStatus(asked, () => store.cache.range(prefix, { at, limit: 1 }))
  const entry = await asStatus(asked, () => store.get(namespace, selection.name!, { exactly: revision }))
  return { revision, pages: once(selected(await show(entry ? [entry] : [], false))) }
}

async function readPage(
  query: ListQuery,
  limit: number,
  startAfter: string | undefined,
  known: FoundList | undefined,
): Promise<Found> {
  const { store, prefix, at, requested: asked } = query
  const keep = keeperOf(query, known)
  const { revision, entries, remaining } = await asStatus(asked, () =>
    store.cache.range(prefix, { at, limit, maxBytes: LIMITED_BYTES, startAfter }),
  )
  const pages = once(selected(await viewInTurns(query, entries, false)))
  const last = entries.at(-1)
  const end = remaining > 0 && last ? { key: last.key, remaining } : undefined
  return { revision, pages, keep: keep?.(revision, end), ...continuation(prefix, revision, end) }
}

const continuation = (prefix: string, revision: Revision, end: ListState['end']) =>
  end && { remaining: end.remaining, continueToken: tokenAfter(prefix, end.key, revision) }

/** The list is read only if it is requested in a format in which no items are kept. */
function foundAgain(query: ListQuery, known: FoundList | undefined): Found | undefined {
  if (!known?.state) return undefined
  const { list, state } = known
  const { revision } = state.mark
  const pages = readAgain(query, revision)
  return { revision, pages, kept: keptItems(list, state), ...continuation(query.prefix, revision, state.end) }
}

/** A list without a limit, or a page of one with a limit, is read when it is needed. */
function readAgain(query: ListQuery, revision: Revision): ListPages {
  const { store, prefix, requested, limit } = query
  if (limit === undefined) return pagesAt(query, revision)
  let retained = 0
  return {
    retained: () => retained,
    async *[Symbol.asyncIterator]() {
      const { entries } = await asStatus(requested, () =>
        store.cache.range(prefix, { at: { exactly: revision }, limit, maxBytes: LIMITED_BYTES }),
      )
      retained = bytesOf(entries)
      yield selected(await viewInTurns(query, entries, false))
    },
  }
}

/**
 * With a selector, it is not known how many objects remain. The reading stops at the limit, so that a page may continue
 * although no object after it matches.
 */
async function readSelectedPage(query: ListQuery, limit: number, startAfter: string | undefined): Promise<Found> {
  const { store, prefix, terms, requested: asked } = query
  const matching: ObjectView[] = []
  let bytes = 0
  let { at } = query
  let from = startAfter
  // Most selectors match much of what there is, or little: a page of a few objects need not examine hundreds.
  let size = Math.min(PAGE, Math.max(MIN_PAGE, 2 * limit))
  for (;;) {
    const page = await asStatus(asked, () =>
      store.cache.range(prefix, { at, limit: size, maxBytes: PAGE_BYTES, startAfter: from, terms }),
    )
    for (const [i, each] of (await viewInTurns(query, page.entries, page.isSelected)).entries()) {
      if (!each) continue
      matching.push(each)
      bytes += page.entries[i]!.value.length
      if (matching.length < limit && bytes < LIMITED_BYTES) continue
      const { revision } = page
      const found = { revision, pages: once(matching) }
      const last = page.entries[i]!
      const isRest = i < page.entries.length - 1 || page.remaining > 0
      const paging = pagingTerm(query)
      // An index of the selector holds only what matches.
      const mayContinue = isRest || page.isSelected === true
      const continues = (isRest && !paging) || (mayContinue && (await hasEntryAfter(query, last.key, revision, paging)))
      return continues ? { ...found, continueToken: tokenAfter(prefix, last.key, revision) } : found
    }
    if (page.remaining === 0) return { revision: page.revision, pages: once(matching) }
    at = { exactly: page.revision }
    from = page.entries.at(-1)!.key
    size = Math.min(PAGE, 2 * size)
  }
}

/**
 * kube-apiserver has an index of one field of a few kinds, in which it looks for what follows the first page, unless a
 * certain revision is requested.
 */
function pagingTerm({ target, terms, token, at }: ListQuery): AttributeTerm | undefined {
  const field = target.kind.traits.pagedByField
  const isExact = typeof at === 'object' && 'exactly' in at
  if (field === undefined || token || isExact) return undefined
  return terms.find(({ source, name }) => source === 'indexedFields' && name === field)
}

/** Whether anything follows a key, or anything with the term. */
async function hasEntryAfter(
  { store, prefix, requested }: ListQuery,
  key: string,
  at: Revision,
  term: AttributeTerm | undefined,
): Promise<boolean> {
  const terms = term && [term]
  const limit = term ? PAGE : 1
  for (let startAfter = key; ; ) {
    const page = await asStatus(requested, () =>
      store.cache.range(prefix, { at: { exactly: at }, limit, startAfter, terms, maxBytes: PAGE_BYTES }),
    )
    if (page.entries.some(entry => !term || page.isSelected || hasTerm(entry, term))) return true
    if (page.remaining === 0) return false
    startAfter = page.entries.at(-1)!.key
  }
}

type FirstPage = Awaited<ReturnType<ObjectStore['cache']['range']>>

/**
 * All objects, read while they are sent. If a webhook converts them, all are read first, because it may fail and that must
 * be known before the response begins.
 */
async function readAll(query: ListQuery, first: FirstPage): Promise<Found> {
  const { revision } = first
  const shownFirst = query.view(first.entries, first.isSelected)
  const view = await shownFirst
  if (first.remaining === 0) return { revision, pages: once(selected(view)) }
  const pages = pagesAt(query, revision, { ...first, view })
  return { revision, pages: shownFirst instanceof Promise ? once(await gathered(pages)) : pages }
}

interface ViewedPage extends Pick<FirstPage, 'entries' | 'remaining'> {
  readonly view: ViewedEntries
}

/** The pages of a list, of which one is in memory at a time. They may be read more than once. */
function pagesAt(query: ListQuery, revision: Revision, first?: ViewedPage): ListPages {
  const { store, prefix, terms, requested: asked } = query
  let begun = first
  let retained = first ? bytesOf(first.entries) : 0

  async function read(startAfter: string | undefined): Promise<ViewedPage> {
    const page = await asStatus(asked, () =>
      store.cache.range(prefix, {
        at: { exactly: revision },
        limit: PAGE,
        maxBytes: PAGE_BYTES,
        startAfter,
        terms,
      }),
    )
    retained = bytesOf(page.entries)
    return { ...page, view: await viewInTurns(query, page.entries, page.isSelected) }
  }

  return {
    retained: () => retained,
    async *[Symbol.asyncIterator]() {
      let page = begun ?? (await read(undefined))
      begun = undefined
      for (;;) {
        yield selected(page.view)
        if (page.remaining === 0) return
        page = await read(page.entries.at(-1)?.key)
      }
    },
  }
}

/** Upgrading many objects of an earlier schema takes long, so that other requests get a turn in between. */
async function viewInTurns(
  { view: show, isLocal }: ListQuery,
  entries: readonly ObjectEntry[],
  hasTerms: boolean | undefined,
): Promise<ViewedEntries> {
  if (entries.length <= VIEWED_AT_ONCE || !isLocal(entries)) return show(entries, hasTerms)
  const all: (ObjectView | undefined)[] = []
  const turns = startTurns(TURN_MS)
  for (let i = 0; i < entries.length; i += VIEWED_AT_ONCE) {
    all.push(...(await show(entries.slice(i, i + VIEWED_AT_ONCE), hasTerms)))
    if (turns.isDue()) await turns.give()
  }
  return all
}

async function gathered<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = []
  for await (const page of pages) all.push(...page)
  return all
}

/** One page. */
export const once = (only: readonly ObjectView[]): ListPages => ({
  only,
  retained: () => bytesOf(only.flatMap(({ entry }) => entry ?? [])),
  async *[Symbol.asyncIterator]() {
    yield only
  },
})

const bytesOf = (entries: readonly { readonly value: Buffer }[]): number =>
  entries.reduce((sum, { value }) => sum + value.length, 0)

const tokenAfter = (prefix: string, key: string, revision: Revision): string =>
  encodeContinue({ revision, startAfter: key.slice(prefix.length) })

const selected = (all: ViewedEntries): readonly ObjectView[] =>
  all.includes(undefined) ? all.filter(each => each !== undefined) : (all as readonly ObjectView[])

const MAX_CAUSES = 100

/** Why the object of an entry cannot be read, if it cannot. */
function causeOf(entry: Entry, view: (entry: Entry) => unknown): StatusCause[] {
  try {
    view(entry)
    return []
  } catch (error) {
    const cause = error instanceof StatusError ? error.cause : undefined
    if (!(cause instanceof Unreadable)) return []
    return [{ reason: 'UnexpectedServerResponse', message: cause.detail, field: cause.storedAt }]
  }
}

/** A list fails if one of its objects cannot be read: with the feature gate in words of its own. */
function failedRead(
  { gates }: ApiContext,
  { kind }: Target,
  entries: readonly Entry[],
  view: (entry: Entry) => unknown,
  error: unknown,
): never {
  const reason = error instanceof StatusError ? error.cause : undefined
  if (!gates.unsafeDeletion && reason instanceof Unreadable && !reason.isTransformable) {
    throw internalError(`unable to transform key ${quote(reason.storedAt)}: ${reason.message}`)
  }
  if (!gates.unsafeDeletion || !hasReason(error, 'InternalError')) throw error
  const causes = (reason instanceof Unreadable ? entries : []).flatMap(entry => causeOf(entry, view))
  const only = { reason: 'UnexpectedServerResponse', message: error.message }
  throw storageReadError(resourceOf(kind), causes.length > 0 ? causes.slice(0, MAX_CAUSES) : [only])
}
