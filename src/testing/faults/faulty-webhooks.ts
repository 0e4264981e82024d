// Calls of webhooks that are late or do not arrive.
import { setTimeout as sleep } from 'node:timers/promises'
import { millisecondsOf } from './fault.js'
import type { FaultInjector } from './faults.js'

/** Rejects as a connection that is refused. */
export async function callWebhook(host: string, injector: Pick<FaultInjector, 'takeCall'>): Promise<void> {
  for (const { latency } of injector.takeCall(host)) {
    if (latency === undefined) throw Object.assign(new Error('an injected fault'), { code: 'ECONNREFUSED' })
    await sleep(millisecondsOf(latency))
  }
}
