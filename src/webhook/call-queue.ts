// How many calls may wait for a webhook that has stopped answering. Each of them holds up a request, and there are only
// so many that are worked on at a time: a webhook that hangs must not take the rest of the API with it.

/** So many may wait in any case. */
const MAX_WAITING = 100
/** How long a webhook may be silent before it counts as one that hangs. */
const SILENCE_MS = 5000

export interface Queues {
  /** Does the call, unless too many wait for the same webhook already and nothing comes of it. */
  join<T>(webhook: string, call: () => Promise<T>): Promise<T>
}

interface Queue {
  waiting: number
  /** When it last answered, or was first asked since all was quiet. */
  lastSign: number
}

export function createQueues(now: () => number = Date.now): Queues {
  const queues = new Map<string, Queue>()
  return {
    async join(webhook, call) {
      let queue = queues.get(webhook)
      if (!queue) queues.set(webhook, (queue = { waiting: 0, lastSign: now() }))
      if (queue.waiting >= MAX_WAITING && now() - queue.lastSign > SILENCE_MS) {
        throw new Error(`${queue.waiting} calls are waiting for an answer already`)
      }
      queue.waiting++
      try {
        const result = await call()
        queue.lastSign = now()
        return result
      } finally {
        queue.waiting--
        if (queue.waiting === 0) queues.delete(webhook)
      }
    },
  }
}
