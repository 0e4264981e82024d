// Writes Events about objects, as client-go's recorder does: an event that repeats is counted, many similar ones are
// combined, and an object about which there are too many gets no more for a while. So the number of Events is bounded,
// whatever a workload does.
import type { Clock } from '../../base/clock.js'
import type { Kind } from '../../kinds/kind.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { numberAt } from '../../meta/values/access.js'
import { printTime } from '../../meta/values/time.js'
import type { SystemObjects } from '../../verbs/system-writes.js'
import type { WorkloadObject } from '../api/objects.js'

export interface EventRecorder {
  record(about: WorkloadObject, type: 'Normal' | 'Warning', reason: string, message: string, fieldPath?: string): void
}

export interface EventSink {
  /** A recorder for a component, as whose source its events appear. */
  recorder(component: string, host?: string): EventRecorder
  /** Resolves when all events so far are written. */
  idle(): Promise<void>
}

/** From this many similar events on, with different messages, they are combined. */
const SIMILAR = 10
const SIMILAR_MS = 600_000
/** So many events about one object at once, then one each five minutes. */
const BURST = 25
const REFILL_MS = 300_000
const MAX_KNOWN = 4096
const MAX_MESSAGE = 1024

interface Known {
  name: string
  count: number
}

export function createEventSink(objects: SystemObjects, events: Kind, clock: Clock): EventSink {
  const known = new Map<string, Known>()
  const similar = new Map<string, { messages: Set<string>; at: number }>()
  const tokens = new Map<string, { left: number; at: number }>()
  let last = Promise.resolve()

  /** Whether the object may get another event. */
  function takeToken(key: string): boolean {
    const now = clock.now()
    const bucket = tokens.get(key) ?? { left: BURST, at: now }
    const refilled = Math.min(BURST, bucket.left + (now - bucket.at) / REFILL_MS)
    remember(tokens, key, { left: Math.max(0, refilled - 1), at: now })
    return refilled >= 1
  }

  /** The message to write, and whether it stands for several. */
  function combined(key: string, message: string): { message: string; isCombined: boolean } {
    const now = clock.now()
    const found = similar.get(key)
    const group = found && now - found.at <= SIMILAR_MS ? found : { messages: new Set<string>(), at: now }
    group.messages.add(message)
    group.at = now
    remember(similar, key, group)
    if (group.messages.size < SIMILAR) return { message, isCombined: false }
    group.messages.delete(message)
    return { message: `(combined from similar events): ${message}`, isCombined: true }
  }

  async function write(about: WorkloadObject, event: EventParts): Promise<void> {
    const { component, host, type, reason, fieldPath } = event
    const { apiVersion, kind, metadata } = about
    const source = [component, host, kind, metadata.namespace, metadata.name, metadata.uid, apiVersion, fieldPath]
    const { message, isCombined } = combined([...source, type, reason].join('\n'), event.message)
    const key = [...source, type, reason, isCombined ? '' : message].join('\n')
    if (!takeToken(source.slice(0, 7).join('\n'))) return
    const namespace = metadata.namespace ?? 'default'
    const time = printTime(clock.now())
    const before = known.get(key)
    if (before) {
      let found = false
      await objects.change(events, namespace, before.name, old => {
        found = true
        before.count = numberAt(old, 'count') + 1
        return { ...old, count: before.count, lastTimestamp: time, message }
      })
      if (found) return
    }
    const name = `${metadata.name}.${(BigInt(clock.now()) * 1_000_000n + BigInt(++sequence)).toString(16)}`
    remember(known, key, { name, count: 1 })
    await objects.create(events, {
      metadata: { name, namespace },
      involvedObject: {
        kind,
        ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
        name: metadata.name,
        uid: metadata.uid,
        apiVersion,
        resourceVersion: metaOf(about as never).resourceVersion ?? '',
        ...(fieldPath !== undefined && { fieldPath }),
      },
      reason,
      message,
      source: { component, ...(host !== undefined && { host }) },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
      type,
      reportingComponent: component,
      reportingInstance: host ?? '',
    })
  }
  let sequence = 0

  return {
    recorder: (component, host) => ({
      record(about, type, reason, message, fieldPath) {
        const event = { component, host, type, reason, message: message.slice(0, MAX_MESSAGE), fieldPath }
        // An event that cannot be written, for example because its namespace is being deleted, is lost.
        last = last.then(() => write(about, event)).catch(() => {})
      },
    }),
    idle: () => last,
  }
}

interface EventParts {
  readonly component: string
  readonly host: string | undefined
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly fieldPath: string | undefined
}

/** Puts it at the end, and forgets the oldest. */
function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > MAX_KNOWN) map.delete(map.keys().next().value!)
}
