// Decides the names of definitions one at a time for each API group, also where several processes write definitions.
//
// A process that is about to accept names first writes the entry of the group, then reads the definitions, and stores the
// status only while the entry is as it wrote it. If another process has taken its turn meanwhile, it begins again.
import { setTimeout as sleep } from 'node:timers/promises'
import { isGuardFailure } from '../../objects/storage-status.js'
import type { Guard, Store } from '../../storage/store.js'

export interface NamesLock {
  /** Calls `decide` in the turn of a group, and again when its write was refused because the guard did not hold. */
  inTurn(group: string, decide: (guard: Guard) => Promise<void>): Promise<void>
}

/** Outside the prefixes of all kinds. */
const PREFIX = '/binnacle/crd-names/'
/** Processes that took each other's turn do not begin again at the same time. */
const MAX_PAUSE_MS = 50

export function createNamesLock(store: Store, random: () => number = Math.random): NamesLock {
  /** By group, the last call: those of this process wait for each other. */
  const turns = new Map<string, Promise<void>>()

  async function take(key: string): Promise<Guard> {
    for (;;) {
      const entry = await store.get(key)
      const value = Buffer.alloc(0)
      const taken = await (entry ? store.update(key, value, entry.revision) : store.create(key, value))
      if (taken.done) return { key, revision: taken.revision }
    }
  }

  async function run(group: string, decide: (guard: Guard) => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await decide(await take(`${PREFIX}${group}`))
      } catch (error) {
        if (!isGuardFailure(error)) throw error
      }
      await sleep(random() * MAX_PAUSE_MS)
    }
  }

  return {
    inTurn(group, decide) {
      const before = turns.get(group)
      const done = before ? before.then(() => run(group, decide)) : run(group, decide)
      const over = done
        .catch(() => {})
        .then(() => {
          if (turns.get(group) === over) turns.delete(group)
        })
      turns.set(group, over)
      return done
    },
  }
}
