// A map with sorted keys.
import { createOrderedKeys, type OrderedKeys } from './ordered-keys.js'

export interface OrderedMap<V> extends Pick<OrderedKeys, 'size' | 'delete' | 'keys' | 'rank'> {
  has(key: string): boolean
  get(key: string): V | undefined
  set(key: string, value: V): void
}

export function createOrderedMap<V>(): OrderedMap<V> {
  const values = new Map<string, V>()
  const ordered = createOrderedKeys()
  return {
    get size() {
      return values.size
    },
    has: key => values.has(key),
    get: key => values.get(key),
    set(key, value) {
      if (!values.has(key)) ordered.add(key)
      values.set(key, value)
    },
    delete: key => values.delete(key) && ordered.delete(key),
    keys: (start, end) => ordered.keys(start, end),
    rank: key => ordered.rank(key),
  }
}
