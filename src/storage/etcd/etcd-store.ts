// A store on an etcd cluster. It has no state of its own: any number of processes, including kube-apiservers, may use
// the same data.

import { randomInt } from 'node:crypto'
import { HISTORY_MS } from '../common/history-keeper.js'
import { checkExpected, checkKey, checkRange, checkReadAt, checkRevision, checkTarget, checkValue } from '../keys.js'
import { closed, guardChanged } from '../storage-error.js'
import { eachGuard, type Guard, type Revision, type Store, type WriteResult } from '../store.js'
import { createEtcdClient, type EtcdClientOptions } from './client/etcd-client.js'
import { COMPACT, CompareTarget, LEASE_GRANT, type RequestOp, STATUS, TXN } from './client/messages.js'
import { startCompactor } from './etcd-compactor.js'
import { createKeyLayout, DEFAULT_PREFIX } from './etcd-keys.js'
import { createEtcdReads } from './etcd-reads.js'
import { type EtcdWatch, hasReliableProgress, openEtcdWatch } from './etcd-watch.js'

export interface EtcdStoreOptions extends EtcdClientOptions {
  /** The prefix of all keys; `/registry`, as in Kubernetes, by default. */
  readonly prefix?: string | undefined
  /** How long history is kept at least; 0 leaves compaction to other processes. */
  readonly historyMs?: number | undefined
  /**
   * Whether answers to progress requests are reliable. By default that depends on the version of etcd: see
   * etcd-watch.ts.
   */
  readonly trustRequestedProgress?: boolean | undefined
  /** Called when etcd has other data than before, for each watch that finds it. */
  readonly onReplaced?: ((reason: string) => void) | undefined
}

export interface EtcdStore extends Store {
  /**
   * Whether `Watch.requestProgress()` is answered at once. If not, the answer comes with the next event or with etcd's
   * next periodic notification, by default after ten minutes; `latest` reads must go to the store then.
   */
  readonly promptProgress: boolean
}

/** Resolves when a member of the cluster has answered. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<EtcdStore> {
  const { prefix: root = DEFAULT_PREFIX, historyMs = HISTORY_MS, trustRequestedProgress } = options
  const layout = createKeyLayout(root)
  const client = createEtcdClient(options)
  const reads = createEtcdReads(client, layout)
  const watches = new Set<EtcdWatch>()
  let promptProgress = trustRequestedProgress ?? false

  /** Every write is one transaction: applied if the key has the expected revision, otherwise it returns the entry. */
  async function write(
    path: string,
    expected: Revision,
    operation: (key: Buffer) => RequestOp,
    guard?: Guard,
  ): Promise<WriteResult> {
    checkKey(path)
    const key = layout.keyOf(path)
    const guards = Array.from(eachGuard(guard), each => ({ each, storedKey: layout.keyOf(each.key) }))
    const answer = await client.call(
      TXN,
      {
        compare: [
          { key, target: CompareTarget.modRevision, modRevision: expected },
          ...guards.map(({ storedKey, each: { revision } }) => {
            return { key: storedKey, target: CompareTarget.modRevision, modRevision: revision }
          }),
        ],
        success: [operation(key)],
        failure: [
          { range: { key } },
          ...guards.map(({ storedKey }) => ({ range: { key: storedKey, keysOnly: true } })),
        ],
      },
      { isWrite: true },
    )
    if (answer.succeeded) return { done: true, revision: answer.header?.revision ?? 0 }
    for (const [i, { each }] of guards.entries()) {
      if ((answer.responses[1 + i]?.range?.kvs[0]?.modRevision ?? 0) !== each.revision) throw guardChanged(each.key)
    }
    const kv = answer.responses[0]?.range?.kvs[0]
    return { done: false, current: kv && layout.entryOf(kv) }
  }

  try {
    const { version } = await client.call(STATUS, {}, { withoutLeader: true })
    promptProgress = trustRequestedProgress ?? hasReliableProgress(version)
  } catch (error) {
    await client.close()
    throw error
  }
  const compactor = historyMs > 0 ? startCompactor(client, historyMs) : undefined

  return {
    embedded: false,

    async size() {
      const { dbSize } = await client.call(STATUS, {}, { withoutLeader: true })
      return dbSize
    },

    get promptProgress() {
      return promptProgress
    },

    revision: reads.revision,
    check: reads.check,

    async get(path, at = 'latest') {
      checkKey(path)
      checkReadAt(at)
      return reads.get(path, at)
    },

    async range(prefix, rangeOptions = {}) {
      checkRange(prefix, rangeOptions)
      return reads.range(prefix, rangeOptions)
    },

    async create(path, value, guard) {
      checkValue(value)
      return write(path, 0, key => ({ put: { key, value } }), guard)
    },

    async update(path, value, expected, guard) {
      checkValue(value)
      checkExpected(expected)
      return write(path, expected, key => ({ put: { key, value } }), guard)
    },

    async delete(path, expected) {
      checkExpected(expected)
      return write(path, expected, key => ({ deleteRange: { key } }))
    },

    async putWithTtl(path, value, seconds) {
      checkKey(path)
      checkValue(value)
      // A new lease each time, as kube-apiserver does. That of the write before has no key any more, and ends by itself.
      const lease = randomInt(1, MAX_LEASE_ID)
      await client.call(LEASE_GRANT, { id: lease, ttl: seconds }, { isWrite: true })
      const put = { key: layout.keyOf(path), value, lease }
      await client.call(TXN, { compare: [], success: [{ put }] }, { isWrite: true })
    },

    watch(target, after, sink) {
      if (client.isClosed) throw closed()
      checkTarget(target)
      checkRevision(after)
      const watch = openEtcdWatch({
        client,
        reads,
        layout,
        target,
        after,
        sink,
        trustRequestedProgress,
        onVersion(version) {
          promptProgress = trustRequestedProgress ?? hasReliableProgress(version)
        },
        onReplaced: reason => options.onReplaced?.(reason),
        onOver: () => watches.delete(watch),
      })
      watches.add(watch)
      return watch
    },

    async compact(to) {
      checkRevision(to)
      await reads.withRevisionDetails(to, async () => {
        if (client.isClosed) throw closed()
        if (to === 0) return
        await client.call(COMPACT, { revision: to }).catch(ignoreCompacted)
      })
    },

    async close() {
      compactor?.stop()
      for (const watch of watches) watch.end(closed())
      await client.close()
    },
  }
}

/** The largest range of `randomInt`. */
const MAX_LEASE_ID = 2 ** 48 - 1

/** Another process has compacted to this revision already. */
function ignoreCompacted(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'compacted')) throw error
}
