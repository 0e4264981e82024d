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
  let kinds = new Map<string, Kind>()
  let generation = -1
  return key => {
    if (generation !== registry.generation) {
      kinds = new Map([...registry.all()].map(kind => [kind.keyPrefix, kind]))
      generation = registry.generation
    }
    const first = key.indexOf('/', 1)
    const second = key.indexOf('/', first + 1)
    const prefix = [key.slice(0, first + 1), key.slice(0, second + 1)].find(each => kinds.has(each))
    if (prefix === undefined) return undefined
    const kind = kinds.get(prefix)!
    const rest = key.slice(prefix.length)
    const slash = rest.indexOf('/')
    return slash === -1
      ? { kind, namespace: '', name: rest }
      : { kind, namespace: rest.slice(0, slash), name: rest.slice(slash + 1) }
  }
}
