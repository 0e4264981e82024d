// The graph of the stored objects, kept up to date by an informer of each kind.
import type { Logger } from '../../base/logger.js'
import type { Kind } from '../../kinds/kind.js'
import { startInformer, whenStarted } from '../../objects/informer.js'
import { objectKeyOf } from '../../objects/object-store.js'
import type { ObjectStores } from '../../objects/object-stores.js'
import { decodeStored } from '../../objects/stored-object.js'
import { createNodeGraph, type NodeGraph, type SourceKind } from './node-graph.js'

/** Resolves when all stored objects are in it. Kinds whose feature gate is off are left out. */
export async function startNodeGraph(
  stores: Pick<ObjectStores, 'objectStore'>,
  kinds: Readonly<Partial<Record<SourceKind, Kind>>>,
  log?: Logger,
): Promise<Pick<NodeGraph, 'isRelated'> & { stop(): void }> {
  const graph = createNodeGraph()
  const informers = Object.entries(kinds).map(([source, kind]) => {
    let known = new Set<string>()
    let missing = new Set<string>()
    const put = (key: string, revision: number, value: Buffer | undefined): void => {
      const { namespace, name } = objectKeyOf(kind, key)
      graph.put(source as SourceKind, namespace, name, value && decodeStored({ key, value, revision }))
    }
    return startInformer(
      stores.objectStore(kind).cache,
      kind.keyPrefix,
      {
        begin() {
          missing = known
          known = new Set()
        },
        entry({ key, revision, value }) {
          known.add(key)
          missing.delete(key)
          put(key, revision, value)
        },
        // What was there before and is not any more was deleted while nothing was watched.
        complete() {
          for (const key of missing) put(key, 0, undefined)
        },
        event({ key, revision, value }) {
          if (value) known.add(key)
          else known.delete(key)
          put(key, revision, value)
        },
      },
      log,
    )
  })
  await Promise.all(informers.map(whenStarted))
  return {
    isRelated: graph.isRelated,
    stop() {
      for (const informer of informers) informer.stop()
    },
  }
}
