// Limits the calls that wait for a webhook that has stopped answering. Each waiting call blocks an API request, and the
// number of concurrent requests is limited: a webhook that hangs must not block the rest of the API.

/** The number of calls that may always wait. */
const MAX_WAITING = 100
/** A webhook without a response for this long counts as hanging. */
const SILENCE_MS = 5000

export interface CallQueues {
  /** Makes the call, unless the webhook hangs and too many calls wait for it already. */
  join<T>(webhook: string, call: () => Promise<T>): Promise<T>
}

interface Queue {
  waiting: number
  /** The time of the last response, or of the first call since no call was waiting. */
  lastResponse: number
}

export function createCallQueues(now: () => number = Date.now): CallQueues {
  const queues = new Map<string, Queue>()
  return {
    async join(webhook, call) {
      let queue = queues.get(webhook)
      if (!queue) queues.set(webhook, (queue = { waiting: 0, lastResponse: now() }))
      if (queue.waiting >= MAX_WAITING && now() - queue.lastResponse > SILENCE_MS) {
        throw new Error(`${queue.waiting} calls are waiting for an answer already`)
      }
      queue.waiting++
      try {
        const result = await call()
        queue.lastResponse = now()
        return result
      } finally {
        queue.waiting--
        if (queue.waiting === 0) queues.delete(webhook)
      }
    },
  }
}
