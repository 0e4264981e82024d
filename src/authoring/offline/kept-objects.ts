// The objects that plugins of admission see offline: those of the input.

import { groupVersionKind } from '../../meta/group-version.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import type { Lister } from '../../objects/lister.js'

export interface KeptObjects extends Lister {
  add(object: ApiObject): void
  /** The objects of a kind without namespaces. */
  of(group: string, kind: string): readonly ApiObject[]
  /** Incremented with every object. */
  readonly generation: number
}

export function createKeptObjects(): KeptObjects {
  const byKind = new Map<string, Map<string, ApiObject>>()
  let generation = 0
  const objectsOf = (group: string, kind: string): Map<string, ApiObject> | undefined => byKind.get(`${group}/${kind}`)
  const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`
  return {
    add(object) {
      generation++
      const { group, kind } = groupVersionKind(object.apiVersion, object.kind)
      const { namespace = '', name = '' } = metaOf(object)
      const known = objectsOf(group, kind)
      if (known) known.set(keyOf(namespace, name), object)
      else byKind.set(`${group}/${kind}`, new Map([[keyOf(namespace, name), object]]))
    },
    of: (group, kind) => [...(objectsOf(group, kind)?.values() ?? [])],
    get generation() {
      return generation
    },
    async find({ group, kind }, namespace, name) {
      return objectsOf(group, kind)?.get(keyOf(namespace, name))
    },
    async all({ group, kind }, namespace, labels = {}) {
      const wanted = Object.entries(labels)
      return [...(objectsOf(group, kind)?.values() ?? [])].filter(object => {
        const { labels: own = {}, namespace: its = '' } = metaOf(object)
        return its === namespace && wanted.every(([name, value]) => own[name] === value)
      })
    },
  }
}
