// Finds the object that a key of the store belongs to.
import type { Kind } from '../../kinds/kind.js'
import type { Registry } from '../../kinds/registry.js'

export interface ObjectRef {
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
}

/** The reader follows the registry: a key of a kind that is not served has no object. */
export function createKeyReader(registry: Registry): (key: string) => ObjectRef | undefined {
  return key => {
    const kind = registry.ofKey(key)
    if (!kind) return undefined
    const rest = key.slice(kind.keyPrefix.length)
    const slash = rest.indexOf('/')
    return slash === -1
      ? { kind, namespace: '', name: rest }
      : { kind, namespace: rest.slice(0, slash), name: rest.slice(slash + 1) }
  }
}
