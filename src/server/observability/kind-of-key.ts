// The kind of a key of the store.
import type { Kind } from '../../kinds/kind.js'
import type { Registry } from '../../kinds/registry.js'

/** Finds the kind of a key by its first two parts, which are the prefix of the kind: `/apps/deployments/…`. */
export function createKindFinder(registry: Registry): (key: string) => Kind | undefined {
  let byPrefix: Map<string, Kind> | undefined
  registry.onChange(() => void (byPrefix = undefined))
  return key => {
    byPrefix ??= new Map([...registry.all()].map(kind => [kind.keyPrefix, kind]))
    for (let end = key.indexOf('/', 1); end !== -1; end = key.indexOf('/', end + 1)) {
      const kind = byPrefix.get(key.slice(0, end + 1))
      if (kind) return kind
    }
    return undefined
  }
}
