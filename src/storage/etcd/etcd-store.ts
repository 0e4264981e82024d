// A store on an etcd cluster. It keeps nothing of its own: any number of processes may serve the same data, with each
// other and with a kube-apiserver.

import { HISTORY_MS } from '../common/history-keeper.js'
import { checkExpected, checkKey, checkRange, checkReadAt, checkRevision, checkTarget, checkValue } from '../keys.js'
import { closed } from '../storage-error.js'
import type { Revision, Store, WriteResult } from '../store.js'
import { createEtcdClient, type EtcdClientOptions } from './etcd-client.js'
import { startCompactor } from './etcd-compactor.js'
import { createKeyLayout, DEFAULT_PREFIX } from './etcd-keys.js'
import { createEtcdReads } from './etcd-reads.js'
import { answersProgressRightly, type EtcdWatch, openEtcdWatch } from './etcd-watch.js'
import { COMPACT, CompareTarget, type RequestOp, STATUS, TXN } from './messages.js'

export interface EtcdStoreOptions extends EtcdClientOptions {
  /** All keys stand below it; `/registry`, as in Kubernetes, when not given. */
  readonly prefix?: string | undefined
  /** How long history is kept, at least; 0 leaves compaction to others. */
  readonly historyMs?: number | undefined
  /**
   * Whether an answer to a request for progress is to be believed. By default that depends on the version of etcd at
   * the other end: see etcd-watch.ts.
   */
  readonly trustRequestedProgress?: boolean | undefined
}

export interface EtcdStore extends Store {
  /**
   * Whether `Watch.requestProgress()` is answered at once. Where it is not, the answer comes with the next event or
   * with etcd's next periodic notification, ten minutes by default: for `latest`, read from the store instead.
   */
  readonly promptProgress: boolean
}

/** Answers when a member of the cluster does. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<EtcdStore> {
  const { prefix: root = DEFAULT_PREFIX, historyMs = HISTORY_MS, trustRequestedProgress } = options
  const layout = createKeyLayout(root)
  const client = createEtcdClient(options)
  const reads = createEtcdReads(client, layout)
  const watches = new Set<EtcdWatch>()
  let promptProgress = trustRequestedProgress ?? false

  /** Every write: one transaction that is done if the key is as expected, and otherwise tells how it is. */
  async function write(path: string, expected: Revision, operation: (key: Buffer) => RequestOp): Promise<WriteResult> {
    checkKey(path)
    const key = layout.keyOf(path)
    const answer = await client.call(
      TXN,
      {
        compare: [{ key, target: CompareTarget.modRevision, modRevision: expected }],
        success: [operation(key)],
        failure: [{ range: { key } }],
      },
      { isWrite: true },
    )
    if (answer.succeeded) return { done: true, revision: answer.header?.revision ?? 0 }
    const kv = answer.responses[0]?.range?.kvs[0]
    return { done: false, current: kv && layout.entryOf(kv) }
  }

  try {
    const { version } = await client.call(STATUS, {}, { withoutLeader: true })
    promptProgress = trustRequestedProgress ?? answersProgressRightly(version)
  } catch (error) {
    await client.close()
    throw error
  }
  const compactor = historyMs > 0 ? startCompactor(client, historyMs) : undefined

  return {
    embedded: false,

    get promptProgress() {
      return promptProgress
    },

    revision: reads.revision,

    async get(path, at = 'latest') {
      checkKey(path)
      checkReadAt(at)
      return reads.get(path, at)
    },

    async range(prefix, rangeOptions = {}) {
      checkRange(prefix, rangeOptions)
      return reads.range(prefix, rangeOptions)
    },

    async create(path, value) {
      checkValue(value)
      return write(path, 0, key => ({ put: { key, value } }))
    },

    async update(path, value, expected) {
      checkValue(value)
      checkExpected(expected)
      return write(path, expected, key => ({ put: { key, value } }))
    },

    async delete(path, expected) {
      checkExpected(expected)
      return write(path, expected, key => ({ deleteRange: { key } }))
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
          promptProgress = trustRequestedProgress ?? answersProgressRightly(version)
        },
        onOver: () => watches.delete(watch),
      })
      watches.add(watch)
      return watch
    },

    async compact(to) {
      checkRevision(to)
      await reads.telling(to, async () => {
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

/** Someone else went as far already: all the better. */
function ignoreCompacted(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'compacted')) throw error
}
