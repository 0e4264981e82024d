// A simulation on the API in memory, with a clock that tests move, and without the network.
import type { TimerClock } from '../base/clock.js'
import { createLogger } from '../base/logger.js'
import { quietEnv } from '../controllers/start-controllers.js'
import type { Kind } from '../kinds/kind.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { decodeStored } from '../objects/stored-object.js'
import { createWorld } from '../verbs/api-world.suite.js'
import { systemObjects } from '../verbs/system-writes.js'
import { startWorkloads, type Workloads } from './start-workloads.js'
import { DEFAULT_WORKLOADS, type WorkloadOptions } from './workload-options.js'

const EPOCH = Date.parse('2026-01-01T00:00:00Z')

interface Timer {
  readonly at: number
  readonly run: () => void
}

/** A clock that stands still until it is advanced; each timer runs at its own time, with idle controllers in between. */
function createSteppedClock() {
  let now = EPOCH
  let timers: Timer[] = []
  const clock: TimerClock = {
    now: () => now,
    elapsed: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run }
      timers.push(timer)
      return () => void (timers = timers.filter(each => each !== timer))
    },
  }
  return {
    clock,
    /** The time is later at once, as when a test moves the clock of a server. */
    async jump(ms: number, idle: () => Promise<void>): Promise<void> {
      now += ms
      const due = timers.filter(({ at }) => at <= now).toSorted((a, b) => a.at - b.at)
      timers = timers.filter(({ at }) => at > now)
      for (const { run } of due) run()
      await idle()
    },
    async advance(ms: number, idle: () => Promise<void>): Promise<void> {
      const end = now + ms
      for (;;) {
        const next = timers.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0]
        if (!next) break
        const together = timers.filter(({ at }) => at === next.at)
        timers = timers.filter(({ at }) => at !== next.at)
        now = Math.max(now, next.at)
        for (const { run } of together) run()
        await idle()
      }
      now = end
      await idle()
    },
  }
}

/** An object of any kind; a test knows what its members are. */
// oxlint-disable-next-line no-explicit-any -- the tests of many kinds read members of their statuses
export type Loose = any

export interface SimulatedWorld {
  readonly workloads: Workloads
  /** Creates it, in the namespace `n` unless it says another. */
  create(kind: string, name: string, rest: object, metadata?: object): Promise<ApiObject>
  get(kind: string, name: string): Promise<Loose>
  list(kind: string): Promise<Loose[]>
  /** Changes the spec or anything else of an object. */
  change(kind: string, name: string, change: (object: Loose) => void, subresource?: string): Promise<void>
  delete(kind: string, name: string, options?: object): Promise<void>
  /** `reason: message` of the events about an object, in order. */
  events(name: string): Promise<string[]>
  advance(ms: number): Promise<void>
  /** The same without the times between. */
  jump(ms: number): Promise<void>
  idle(): Promise<void>
  stop(): Promise<void>
}

export interface SimulatedWorldOptions extends Partial<WorkloadOptions> {
  /** All by default. */
  readonly controllers?: readonly string[]
  readonly simulates?: boolean
}

const KINDS: Readonly<Record<string, string>> = {
  Deployment: 'apps',
  ReplicaSet: 'apps',
  StatefulSet: 'apps',
  DaemonSet: 'apps',
  ControllerRevision: 'apps',
  Job: 'batch',
  CronJob: 'batch',
  EndpointSlice: 'discovery.k8s.io',
  StorageClass: 'storage.k8s.io',
  PodDisruptionBudget: 'policy',
  HorizontalPodAutoscaler: 'autoscaling',
  Lease: 'coordination.k8s.io',
}

export const container = { name: 'c', image: 'example.com/image:1' }
export const podTemplate = (app: string, spec: object = {}, metadata: object = {}) => ({
  metadata: { labels: { app }, ...metadata },
  spec: { containers: [container], ...spec },
})

export async function startSimulatedWorld(options: SimulatedWorldOptions = {}): Promise<SimulatedWorld> {
  const { controllers, simulates = true, ...workloadOptions } = options
  const stepped = createSteppedClock()
  const world = createWorld(stepped.clock.now)
  const kindOf = (kind: string): Kind => world.registry.findKind(KINDS[kind] ?? '', kind)!
  await world.createNamespace('n')
  await world.createNamespace('kube-node-lease')
  const workloads = await startWorkloads({
    context: world.context,
    registry: world.registry,
    env: process.env['WORKLOADS_LOG']
      ? { ...quietEnv(stepped.clock), log: createLogger(line => console.log(line.message, line.fields)) }
      : quietEnv(stepped.clock),
    options: { ...DEFAULT_WORKLOADS, ...workloadOptions },
    simulates,
    isOn: name => controllers?.includes(name) ?? true,
  })
  const idle = () => workloads.idle()
  const namespaceOf = (kind: Kind): string => (kind.namespaced ? 'n' : '')
  await idle()
  const objects = systemObjects(world.context, 'test')
  return {
    workloads,
    create(kind, name, rest, metadata = {}) {
      const found = kindOf(kind)
      return world.create(found, namespaceOf(found), name, metadata, rest)
    },
    async get(kind, name) {
      const found = kindOf(kind)
      return world.find(found, namespaceOf(found), name)
    },
    async list(kind) {
      const { entries } = await world.context.objectStore(kindOf(kind)).cache.range(kindOf(kind).keyPrefix)
      return entries.map(entry => decodeStored(entry))
    },
    async change(kind, name, change, subresource) {
      const found = kindOf(kind)
      await objects.change(
        found,
        namespaceOf(found),
        name,
        old => {
          const next = structuredClone(old)
          change(next)
          return next
        },
        subresource,
      )
    },
    async delete(kind, name, deleteOptions = {}) {
      const found = kindOf(kind)
      await world.delete(found, namespaceOf(found), name, deleteOptions)
    },
    async events(name) {
      const { entries } = await world.context.objectStore(kindOf('Event')).cache.range(kindOf('Event').keyPrefix)
      return entries
        .map(entry => decodeStored(entry) as unknown as RecordedEvent)
        .filter(({ involvedObject }) => involvedObject.name === name)
        .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map(({ reason, message }) => `${reason}: ${message}`)
    },
    advance: ms => stepped.advance(ms, idle),
    jump: ms => stepped.jump(ms, idle),
    idle,
    async stop() {
      workloads.stop()
      await world.context.close()
    },
  }
}

interface RecordedEvent {
  readonly metadata: { readonly resourceVersion: string }
  readonly involvedObject: { readonly name: string }
  readonly reason: string
  readonly message: string
}
