// A controller of workloads: changes of shared objects put keys into its queue.
import { type Controller, createControllerQueue } from '../../controllers/start-controllers.js'
import type { WorkloadObject } from '../api/objects.js'
import type { ChangeHandler, SharedObjects } from './shared-objects.js'
import type { WorkloadEnv } from './workload-env.js'

export interface Queue {
  add(key: string): void
  /** Adds it after a delay by the server's clock, instead of any later one that was asked for before. */
  addLater(key: string, ms: number): void
}

/** Starts to follow the objects of a kind; the result ends it. */
export type Follow = () => () => void

/** Follows a kind: `keys` gives the keys of the objects to reconcile after a change. */
export const follow =
  <T extends WorkloadObject>(
    objects: SharedObjects<T>,
    queue: () => Queue,
    keys: (object: T, now: T | undefined) => Iterable<string>,
  ): Follow =>
  () => {
    const handler: ChangeHandler<T> = (now, before) => {
      if (now) for (const key of keys(now, now)) queue().add(key)
      if (before) for (const key of keys(before, now)) queue().add(key)
    }
    return objects.follow(handler)
  }

export interface WorkloadControllerOptions {
  /** The name of the queue in logs and metrics. */
  readonly name: string
  follow(queue: () => Queue): readonly Follow[]
  /** Rejects when the key is to be tried again. */
  reconcile(key: string, queue: Queue): Promise<void>
  /** How many keys are worked on at once. */
  readonly concurrency?: number
}

export function startWorkloadController(
  { env }: WorkloadEnv,
  { name, follow: followed, reconcile, concurrency }: WorkloadControllerOptions,
): Controller {
  const delays = new Map<string, { readonly at: number; cancel(): void }>()
  const work = createControllerQueue(name, env, key => reconcile(key, queue), concurrency)
  const queue: Queue = {
    add: work.add,
    addLater(key, ms) {
      const at = env.clock.now() + ms
      const planned = delays.get(key)
      if (planned && planned.at <= at) return
      planned?.cancel()
      const cancel = env.clock.after(ms, () => {
        delays.delete(key)
        work.add(key)
      })
      delays.set(key, { at, cancel })
    },
  }
  const ends = followed(() => queue).map(start => start())
  return {
    idle: () => work.idle(),
    stop() {
      for (const end of ends) end()
      for (const { cancel } of delays.values()) cancel()
      work.stop()
    },
  }
}

/** The key of an object in a queue. */
export const keyOf = ({ metadata: { namespace = '', name } }: WorkloadObject): string => `${namespace}/${name}`

export function readKey(key: string): [namespace: string, name: string] {
  const slash = key.indexOf('/')
  return [key.slice(0, slash), key.slice(slash + 1)]
}
