// How many objects a resource has and how large they are, for the estimate of lists. Counted when a list asks, at most once
// a minute; until that is done the list is taken for a small one.
import type { ResourceStats, StatsOf } from '../../../flowcontrol/flow-control.js'
import type { Registry } from '../../../kinds/registry.js'
import type { Store } from '../../../storage/store.js'

const KEPT_MS = 60_000
const SAMPLE = { limit: 100, maxBytes: 1024 * 1024 }

export function createResourceStats(store: Store, registry: Registry, now = () => performance.now()): StatsOf {
  const known = new Map<string, { stats: ResourceStats | undefined; readonly countedAt: number }>()

  async function count(keyPrefix: string): Promise<ResourceStats> {
    const { entries, remaining } = await store.range(keyPrefix, { ...SAMPLE, at: 'any' })
    const bytes = entries.reduce((sum, { value }) => sum + value.length, 0)
    return { count: entries.length + remaining, averageBytes: entries.length === 0 ? 0 : bytes / entries.length }
  }

  return ({ group, version, resource }) => {
    const kind = registry.find(group, version, resource)?.kind
    // Also of a resource that extension servers have: its objects are not here.
    if (!kind || kind.computed) return undefined
    const { keyPrefix } = kind
    const found = known.get(keyPrefix)
    if (found && now() - found.countedAt < KEPT_MS) return found.stats
    const next = { stats: found?.stats, countedAt: now() }
    known.set(keyPrefix, next)
    count(keyPrefix).then(
      stats => void (next.stats = stats),
      // The list itself reports that the store does not answer.
      () => {},
    )
    return next.stats
  }
}
