// Puts the rooms together from options: opens the store, listens, and in the end lets go of both in the right order.
import { healthHandler } from '../http/health.js'
import { type ListenOptions, listen } from '../http/listener.js'
import { openStore, type StorageOptions } from '../storage/open-store.js'

export interface ServerOptions {
  readonly storage: StorageOptions
  readonly http: ListenOptions
}

export interface Server {
  readonly url: string
  /** Answers what is under way, then closes the store: nothing acknowledged is lost. */
  stop(): Promise<void>
}

export async function startServer({ storage, http }: ServerOptions): Promise<Server> {
  const store = await openStore(storage)
  try {
    const listener = await listen(
      http,
      healthHandler(async () => {
        await store.revision()
      }),
    )
    return {
      url: listener.url,
      async stop() {
        await listener.close()
        await store.close()
      },
    }
  } catch (error) {
    await store.close()
    throw error
  }
}
