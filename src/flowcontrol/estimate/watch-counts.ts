// How many watches there are of a resource, a namespace or an object, for the estimate of writes.
import { parseFieldSelector, requiredField } from '../../meta/selectors/field-selectors.js'
import type { RequestInfo } from '../../request/request-info.js'

export interface WatchCounts {
  /** Counts a watch. The result forgets it. */
  add(info: RequestInfo): () => void
  /** The watches of the resource, of the namespace and of the object that a write may concern. */
  of(info: RequestInfo): number
}

export function createWatchCounts(): WatchCounts {
  const counts = new Map<string, number>()

  function change(key: string, by: number): void {
    const count = (counts.get(key) ?? 0) + by
    if (count === 0) counts.delete(key)
    else counts.set(key, count)
  }

  return {
    add(info) {
      if (isOfOneNode(info)) return () => {}
      const key = keyOf(info, info.namespace, info.name)
      change(key, 1)
      return () => change(key, -1)
    },
    of(info) {
      if (counts.size === 0) return 0
      const { namespace, name } = info
      let count = counts.get(keyOf(info, '', '')) ?? 0
      if (namespace !== '') count += counts.get(keyOf(info, namespace, '')) ?? 0
      if (name !== '') count += counts.get(keyOf(info, namespace, name)) ?? 0
      return count
    },
  }
}

const keyOf = ({ group, resource }: RequestInfo, namespace: string, name: string): string =>
  `${group}/${resource}/${namespace}/${name}`

/** Events reach the watches of the pods of one node by an index, so that they cost next to nothing. */
function isOfOneNode({ resource, query }: RequestInfo): boolean {
  const text = query.get('fieldSelector')
  if (resource !== 'pods' || !text) return false
  const selector = parseFieldSelector(text)
  return selector.ok && !!requiredField(selector.value, 'spec.nodeName')
}
