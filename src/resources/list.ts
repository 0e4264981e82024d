// list: the objects of a collection at one revision, whole or page by page.

import {
  type ContinueToken,
  continueExpired,
  decodeContinue,
  encodeContinue,
  listExpired,
} from '../meta/continue-token.js'
import type { ListOptions } from '../meta/list-options.js'
import { parseResourceVersion } from '../meta/resource-version.js'
import { badRequest, hasReason } from '../meta/status.js'
import type { ReadAt, Revision } from '../storage/store.js'
import type { ListAnswer, Shown } from './answer.js'
import { folderOf, type KindEntry, type KindStore } from './kind-store.js'
import type { ResourceContext, Target } from './resource-context.js'
import { type Selection, selectionOf } from './selection.js'
import { showEntry } from './shown.js'
import { asStatus } from './storage-status.js'

/** How many entries are read and handed on at a time. */
const PAGE = 500

export async function listObjects(context: ResourceContext, target: Target, options: ListOptions): Promise<ListAnswer> {
  const { kind, version, namespace } = target
  const selection = selectionOf(version, options)
  const query: ListQuery = {
    store: context.storeOf(kind),
    folder: folderOf(kind, namespace),
    selection,
    ...where(options),
  }
  const { revision, continueToken, remaining, batches } = await begin(query, target)
  return {
    type: 'list',
    status: 200,
    warnings: [],
    served: target,
    revision,
    continueToken,
    remaining,
    pages: show(target, batches),
  }
}

interface ListQuery {
  readonly store: KindStore
  readonly folder: string
  readonly selection: Selection
  readonly at: ReadAt
  readonly asked: bigint
  readonly limit: number | undefined
  readonly token: ContinueToken | undefined
}

interface Found {
  readonly revision: Revision
  readonly continueToken?: string
  readonly remaining?: number
  readonly batches: AsyncIterable<readonly KindEntry[]> | Iterable<readonly KindEntry[]>
}

/** At which revision to read and from where on: the table of resourceVersion, its match, limit and continue. */
function where(options: ListOptions): Pick<ListQuery, 'at' | 'asked' | 'limit' | 'token'> {
  const { resourceVersion, resourceVersionMatch } = options
  const version = parseResourceVersion(resourceVersion)
  if (!version.ok) throw badRequest(`invalid resource version: ${version.error}`)
  const asked = version.value
  // A list that is content with anything is answered from memory, as a whole.
  const limit = options.limit > 0 && resourceVersion !== '0' ? options.limit : undefined
  if (options.continue !== '') {
    const token = decodeContinue(options.continue)
    if (!token.ok) throw badRequest(token.error)
    if (asked !== 0n) throw badRequest('specifying resource version is not allowed when using continue')
    const { revision } = token.value
    return { at: revision > 0 ? { exactly: revision } : 'latest', asked, limit, token: token.value }
  }
  if (asked === 0n) return { at: resourceVersion === '' ? 'latest' : 'any', asked, limit, token: undefined }
  const exact = resourceVersionMatch === 'Exact' || (resourceVersionMatch === '' && limit !== undefined)
  const at = exact ? { exactly: Number(asked) } : { notOlderThan: Number(asked) }
  return { at, asked, limit, token: undefined }
}

/** Reads what must be known before the answer begins: the first page, or all of it where it is limited. */
async function begin(query: ListQuery, { kind, namespace }: Target): Promise<Found> {
  const { store, folder, at, asked, limit, selection, token } = query
  const startAfter = token && `${folder}${token.startAfter}`
  try {
    const inOnePlace = namespace !== '' || !kind.namespaced
    if (selection.name !== undefined && inOnePlace && !token) return await findNamed(query, namespace)
    if (limit !== undefined && selection.everything) return await readPage(query, limit, startAfter)
    if (limit !== undefined) return await readSelectedPage(query, limit, startAfter)
    const first = await asStatus(asked, () => store.cache.range(folder, { at, limit: PAGE, startAfter }))
    return { revision: first.revision, batches: readOn(query, first.entries, first.revision, first.remaining) }
  } catch (error) {
    if (!hasReason(error, 'Expired')) throw error
    throw token ? continueExpired(token) : listExpired()
  }
}

/** Of an object that is asked for by its name the place is known. */
async function findNamed({ store, folder, at, asked, selection }: ListQuery, namespace: string): Promise<Found> {
  const { revision } = await asStatus(asked, () => store.cache.range(folder, { at, limit: 1 }))
  const entry = await asStatus(asked, () => store.get(namespace, selection.name!, { exactly: revision }))
  return { revision, batches: [entry && selection.matches(entry) ? [entry] : []] }
}

async function readPage(query: ListQuery, limit: number, startAfter: string | undefined): Promise<Found> {
  const { store, folder, at, asked } = query
  const { revision, entries, remaining } = await asStatus(asked, () =>
    store.cache.range(folder, { at, limit, startAfter }),
  )
  const last = entries.at(-1)
  if (remaining === 0 || !last) return { revision, batches: [entries] }
  return { revision, remaining, continueToken: tokenAfter(folder, last, revision), batches: [entries] }
}

/** With a selector, how many more there are is not known. */
async function readSelectedPage(query: ListQuery, limit: number, startAfter: string | undefined): Promise<Found> {
  const { store, folder, asked, selection } = query
  const matching: KindEntry[] = []
  let { at } = query
  let from = startAfter
  for (;;) {
    const page = await asStatus(asked, () => store.cache.range(folder, { at, limit: PAGE, startAfter: from }))
    for (const entry of page.entries) {
      if (!selection.matches(entry)) continue
      if (matching.length === limit) {
        const continueToken = tokenAfter(folder, matching.at(-1)!, page.revision)
        return { revision: page.revision, continueToken, batches: [matching] }
      }
      matching.push(entry)
    }
    if (page.remaining === 0) return { revision: page.revision, batches: [matching] }
    at = { exactly: page.revision }
    from = page.entries.at(-1)!.key
  }
}

async function* readOn(
  { store, folder, asked, selection }: ListQuery,
  first: readonly KindEntry[],
  revision: Revision,
  remaining: number,
): AsyncIterable<readonly KindEntry[]> {
  const select = (entries: readonly KindEntry[]) =>
    selection.everything ? entries : entries.filter(entry => selection.matches(entry))
  yield select(first)
  let left = remaining
  let from = first.at(-1)?.key
  while (left > 0) {
    const page = await asStatus(asked, () =>
      store.cache.range(folder, { at: { exactly: revision }, limit: PAGE, startAfter: from }),
    )
    yield select(page.entries)
    left = page.remaining
    from = page.entries.at(-1)?.key
  }
}

const tokenAfter = (folder: string, { key }: KindEntry, revision: Revision): string =>
  encodeContinue({ revision, startAfter: key.slice(folder.length) })

async function* show(
  target: Target,
  batches: AsyncIterable<readonly KindEntry[]> | Iterable<readonly KindEntry[]>,
): AsyncIterable<readonly Shown[]> {
  for await (const batch of batches) {
    const shown: Shown[] = []
    for (const entry of batch) {
      const each = showEntry(target, entry)
      // Only a conversion has to be waited for.
      shown.push(each instanceof Promise ? await each : each)
    }
    yield shown
  }
}
