// Reads from etcd: the latest state through the leader, older or any state from the connected member.
import { shareRoundTrips } from '../common/shared-round-trips.js'
import { futureRevision, StorageError } from '../storage-error.js'
import type { Entry, Page, RangeOptions, ReadAt, Revision } from '../store.js'
import type { EtcdClient } from './client/etcd-client.js'
import { type Header, type KeyValue, RANGE, type RangeRequest, type RangeResponse } from './client/messages.js'
import type { KeyLayout } from './etcd-keys.js'

export interface EtcdReads {
  revision(): Promise<Revision>
  /** Rejects with the reason if the cluster does not answer within a short time. */
  check(): Promise<void>
  get(path: string, at: ReadAt): Promise<Entry | undefined>
  range(prefix: string, options: RangeOptions): Promise<Page>
  /**
   * Fails unless the revision is reached and not compacted. Returns the header of the answer and, of a key that is given,
   * what it was at that revision, without its value.
   */
  checkHistory(revision: Revision, path?: string): Promise<{ header: Header; found: KeyValue | undefined }>
  /** Adds the requested revision, and the available one, to errors about revisions. */
  withRevisionDetails<T>(requested: Revision, action: () => Promise<T>): Promise<T>
}

/** A long range is read in pages of about this many bytes, and of at most `MAX_PAGE_KEYS` keys. */
const PAGE_BYTES = 16 * 1024 * 1024
const FIRST_PAGE_KEYS = 200
const MAX_PAGE_KEYS = 10_000

/** How long a health check waits for an answer. */
const CHECK_MS = 1000

/** How often a long range is restarted because its revision was compacted meanwhile. */
const RANGE_ATTEMPTS = 3

export function createEtcdReads(client: EtcdClient, layout: KeyLayout): EtcdReads {
  const read = (request: RangeRequest): Promise<RangeResponse> =>
    client.call(RANGE, request, { withoutLeader: request.serializable === true })

  /** A minimal read through the leader: its response header has the latest revision. */
  const minimalRead = { key: layout.keyOf('/'), limit: 1, keysOnly: true }

  const revision = shareRoundTrips(async () => revisionOf(await read(minimalRead)))

  /** Reads with the requested freshness. */
  async function readAt(request: RangeRequest, at: ReadAt): Promise<RangeResponse> {
    if (at === 'latest') return read(request)
    if (at === 'any') return read({ ...request, serializable: true })
    if (isExact(at)) return withRevisionDetails(at.exactly, () => readExactly(request, at.exactly))
    return readNotOlderThan(request, at.notOlderThan)
  }

  /** The state at a revision never changes, so any member that has reached it may answer. */
  async function readExactly(request: RangeRequest, at: Revision): Promise<RangeResponse> {
    // etcd starts empty at revision 1, and treats 0 as "the latest".
    const pinned = { ...request, revision: Math.max(at, 1) }
    try {
      return await read({ ...pinned, serializable: true })
    } catch (error) {
      if (codeOf(error) !== 'future-revision') throw error
      return read(pinned)
    }
  }

  /** The connected member may answer if it has reached the revision; otherwise the leader does. */
  async function readNotOlderThan(request: RangeRequest, oldest: Revision): Promise<RangeResponse> {
    let answer = await read({ ...request, serializable: true })
    if (revisionOf(answer) < oldest) answer = await read(request)
    if (revisionOf(answer) < oldest) throw futureRevision(oldest, revisionOf(answer))
    return answer
  }

  /** Reads a range up to a limit in several pages, all as of the revision of the first. */
  async function readRange(start: Buffer, rangeEnd: Buffer, at: ReadAt, limit: number): Promise<Page> {
    const entries: Entry[] = []
    let page = { key: start, at, limit: Math.min(limit, limit <= MAX_PAGE_KEYS ? MAX_PAGE_KEYS : FIRST_PAGE_KEYS) }
    for (;;) {
      const answer = await readAt({ key: page.key, rangeEnd, limit: page.limit }, page.at)
      for (const kv of answer.kvs) entries.push(layout.entryOf(kv))
      const asOf = isExact(page.at) ? page.at.exactly : revisionOf(answer)
      const remaining = Math.max(0, answer.count - answer.kvs.length)
      const last = answer.kvs.at(-1)
      if (!last || remaining === 0 || entries.length >= limit) return { revision: asOf, entries, remaining }
      const nextLimit = Math.min(limit - entries.length, nextPageKeys(answer.kvs))
      page = { key: after(last.key), at: { exactly: asOf }, limit: nextLimit }
    }
  }

  async function withRevisionDetails<T>(requested: Revision, action: () => Promise<T>): Promise<T> {
    try {
      return await action()
    } catch (error) {
      const code = codeOf(error)
      if (code === 'compacted') {
        throw new StorageError(
          'compacted',
          `revision ${requested} is no longer available: it was compacted`,
          undefined,
          error,
        )
      }
      if (code === 'future-revision') throw futureRevision(requested, await revision())
      throw error
    }
  }

  return {
    revision,

    async check() {
      const { failure } = client.endpoints
      const answer = client.call(RANGE, minimalRead, { timeoutMs: CHECK_MS })
      if (failure) {
        // The call connects again; the next check sees whether that worked.
        answer.catch(() => {})
        throw failure
      }
      await answer
    },

    async get(path, at) {
      const answer = await readAt({ key: layout.keyOf(path) }, at)
      const kv = answer.kvs[0]
      return kv && layout.entryOf(kv)
    },

    async range(prefix, { at = 'latest', limit = Number.POSITIVE_INFINITY, maxBytes, startAfter }) {
      const start = startAfter === undefined ? layout.keyOf(prefix) : after(layout.keyOf(startAfter))
      for (let attempt = 1; ; attempt++) {
        try {
          return upTo(await readRange(start, layout.endOf(prefix), at, limit), maxBytes)
        } catch (error) {
          if (isExact(at) || attempt === RANGE_ATTEMPTS || codeOf(error) !== 'compacted') throw error
        }
      }
    },

    checkHistory: (requested, path) =>
      withRevisionDetails(requested, async () => {
        const request = path === undefined ? minimalRead : { key: layout.keyOf(path), keysOnly: true }
        const answer = await read({ ...request, revision: Math.max(requested, 1) })
        return { header: headerOf(answer), found: answer.kvs[0] }
      }),

    withRevisionDetails,
  }
}

/** The beginning of a page, up to the entry that brings it to so many bytes. */
function upTo(page: Page, maxBytes = Number.POSITIVE_INFINITY): Page {
  let bytes = 0
  let count = 0
  for (; count < page.entries.length && bytes < maxBytes; count++) bytes += page.entries[count]!.value.length
  const cut = page.entries.length - count
  return cut === 0 ? page : { ...page, entries: page.entries.slice(0, count), remaining: page.remaining + cut }
}

const revisionOf = (answer: RangeResponse): Revision => headerOf(answer).revision

function headerOf({ header }: RangeResponse): Header {
  if (!header) throw new StorageError('corrupt', 'etcd answered without a revision')
  return header
}

/** The smallest key after a key is the key with a NUL appended. */
const after = (key: Buffer): Buffer => Buffer.concat([key, Buffer.alloc(1)])

/** The number of keys for a page of `PAGE_BYTES`, estimated from the last page. */
function nextPageKeys(kvs: readonly KeyValue[]): number {
  const bytes = kvs.reduce((sum, kv) => sum + kv.key.length + kv.value.length, 0)
  return Math.max(1, Math.min(MAX_PAGE_KEYS, Math.floor((PAGE_BYTES * kvs.length) / Math.max(bytes, 1))))
}

const isExact = (at: ReadAt): at is { readonly exactly: Revision } => typeof at === 'object' && 'exactly' in at

const codeOf = (error: unknown): string | undefined => (error instanceof StorageError ? error.code : undefined)
