// Lists whose encoded items are kept from one request to the next. What was written meanwhile is replaced in them, so that
// a list of which one object has changed is not read again as a whole.

import { type Awaitable, andThen } from '../../base/awaitable.js'
import {
  type KnownList,
  type ListPiece,
  type ListState,
  type ObjectAttributes,
  type ObjectEntry,
  replaceItems,
} from '../../objects/object-store.js'
import { headOfItem, splice } from '../../objects/splice.js'
import { asStatus } from '../../objects/storage-status.js'
import { compareKeys } from '../../storage/keys.js'
import type { Revision } from '../../storage/store.js'
import type { CacheChanges } from '../../storage/watch-cache.js'
import type { KeepItems, KeptItems } from '../result.js'
import type { ListQuery } from './list-query.js'

export interface FoundList {
  readonly list: KnownList
  /** The list as this request must see it. */
  readonly state: ListState | undefined
}

/**
 * What is known of this list, brought up to date. Only of lists from the beginning and of everything. A webhook may
 * convert the same objects differently the next time.
 */
export function findKnown(query: ListQuery): Awaitable<FoundList | undefined> {
  const { target, store, prefix, at, requested, selection, token, limit } = query
  const isLatest = typeof at === 'string' || 'notOlderThan' in at
  if (token || !isLatest || !selection.everything || target.kind.hasExternalConversion) return undefined
  const list = store.knownLists.find(target, prefix, limit)
  const { state } = list
  if (!state) return { list, state }
  const changes = asStatus(requested, () => store.cache.changesSince(prefix, state.mark, at))
  return andThen(changes, since => {
    const latest = since && updated(query, state, since)
    // Another request may have brought it up to date meanwhile.
    if (latest || list.state === state) list.keep(latest)
    return { list, state: latest }
  })
}

/** Takes the items of a list that is about to be read. Undefined if it is not worth to keep them. */
export function keeperOf(
  { store }: ListQuery,
  found: FoundList | undefined,
): ((revision: Revision, end: ListState['end']) => KeepItems) | undefined {
  if (!found?.list.isRepeated) return undefined
  const { list } = found
  const { epoch } = store.cache.mark(0)
  return (revision, end) => {
    const keep = (pieces: readonly ListPiece[]): KeptItems => {
      list.keep({ mark: { revision, epoch }, pieces, end })
      return keptItems(list, { pieces })
    }
    return Object.assign(keep, { gather: list.gather })
  }
}

export const keptItems = (list: KnownList, { pieces }: Pick<ListState, 'pieces'>): KeptItems => ({
  pieces,
  addForm: list.addForm,
})

/** Undefined if the list must be read again. */
function updated(
  query: ListQuery,
  { pieces, end }: ListState,
  { mark, events }: CacheChanges<ObjectAttributes>,
): ListState | undefined {
  const entries = new Map<string, ObjectEntry | undefined>()
  for (const { key, entry, previous } of events) {
    // With a limit, the list would end elsewhere.
    if (query.limit !== undefined && !(entry && previous)) return undefined
    if (!end || compareKeys(key, end.key) <= 0) entries.set(key, entry)
  }
  const items = new Map<string, Buffer | undefined>()
  for (const [key, entry] of entries) {
    const item = entry && itemOf(query, entry)
    if (entry && !item) return undefined
    items.set(key, item)
  }
  return { mark, pieces: replaceItems(pieces, items), end }
}

const NOTHING = Buffer.alloc(0)
const COMMA = Buffer.from(',')

/** With a comma before it. Undefined if there are no bytes of the object in the version of the request, or it is unreadable. */
function itemOf({ target, store }: ListQuery, entry: ObjectEntry): Buffer | undefined {
  try {
    const view = store.views.view(target, entry, undefined)
    if (view instanceof Promise || !view.entry) return undefined
    const opening = Buffer.concat([COMMA, headOfItem(target.kind, view.head)])
    return splice(view.entry, view.head, opening, NOTHING)
  } catch {
    return undefined
  }
}
