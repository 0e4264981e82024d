// Compacts etcd's history, together with all other processes on the same etcd, including kube-apiservers.
//
// The shared key `compact_rev_key` serves as a clock: its version, the number of writes to it, is the time. Once per
// interval every process tries to advance the clock from the time that it last read. One of them succeeds, and compacts
// to the revision that was the latest when it read that time, one interval ago. The others read the new time.
// So history is compacted once per interval, by any number of processes, and is at least one interval long.
import type { Revision } from '../store.js'
import type { EtcdClient } from './client/etcd-client.js'
import { COMPACT, CompareTarget, TXN } from './client/messages.js'

export interface Compactor {
  stop(): void
}

const CLOCK = Buffer.from('compact_rev_key')

/** The time last read from the clock, and the latest revision at that moment. */
interface ClockReading {
  readonly time: number
  readonly revision: Revision
}

export function startCompactor(client: EtcdClient, intervalMs: number): Compactor {
  let reading: ClockReading = { time: 0, revision: 0 }
  let busy = false

  async function tick(): Promise<void> {
    if (busy) return
    busy = true
    try {
      reading = await advanceClock(client, reading)
    } catch {
      // etcd may be unavailable now; the next interval tries again.
    } finally {
      busy = false
    }
  }

  const timer = setInterval(() => void tick(), intervalMs)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

async function advanceClock(client: EtcdClient, { time, revision }: ClockReading): Promise<ClockReading> {
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
  // The process that starts the clock has no revision that is one interval old.
  if (revision > 0) await client.call(COMPACT, { revision }).catch(() => {})
  return { time: time + 1, revision: now }
}
