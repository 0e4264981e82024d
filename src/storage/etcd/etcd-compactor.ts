// Keeps history short, together with all other processes on the same etcd, kube-apiservers among them.
//
// The key `compact_rev_key`, which belongs to all of them, is their common clock: how often it was written is the time.
// Once in an interval everybody tries to move the clock on from the time that they last read on it. One succeeds, and
// compacts to the revision that was the latest when that time was read, one interval ago. The others read the new time.
// So history is compacted once in an interval, however many take part, and reaches back one interval at least.
import type { Revision } from '../store.js'
import type { EtcdClient } from './etcd-client.js'
import { COMPACT, CompareTarget, TXN } from './messages.js'

export interface Compactor {
  stop(): void
}

const CLOCK = Buffer.from('compact_rev_key')

/** What was last read on the clock, and the latest revision at that moment. */
interface Reading {
  readonly time: number
  readonly revision: Revision
}

export function startCompactor(client: EtcdClient, intervalMs: number): Compactor {
  let reading: Reading = { time: 0, revision: 0 }
  let busy = false

  async function tick(): Promise<void> {
    if (busy) return
    busy = true
    try {
      reading = await turn(client, reading)
    } catch {
      // Whatever is wrong with etcd just now, the next turn tries again.
    } finally {
      busy = false
    }
  }

  const timer = setInterval(() => void tick(), intervalMs)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

async function turn(client: EtcdClient, { time, revision }: Reading): Promise<Reading> {
  const answer = await client.call(
    TXN,
    {
      compare: [{ key: CLOCK, target: CompareTarget.version, version: time }],
      success: [{ put: { key: CLOCK, value: Buffer.from(String(revision)) } }],
      failure: [{ range: { key: CLOCK } }],
    },
    { isWrite: true },
  )
  const now = answer.header?.revision ?? 0
  if (!answer.succeeded) return { time: answer.responses[0]?.range?.kvs[0]?.version ?? 0, revision: now }
  // Whoever starts the clock does not know how old anything is.
  if (revision > 0) await client.call(COMPACT, { revision }).catch(() => {})
  return { time: time + 1, revision: now }
}
