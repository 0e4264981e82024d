// The API servers that live on one etcd. Each keeps its address in a key below `/masterleases/`, where kube-apiservers have
// theirs, and etcd deletes a key that its server does not write again in time.
import { objectsAt, stringAt } from '../../meta/values/access.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { Store } from '../../storage/store.js'
import type { KnownServers } from './endpoint-reconciler.js'

export type TtlStore = Store & Required<Pick<Store, 'putWithTtl'>>

export const hasTtl = (store: Store): store is TtlStore => store.putWithTtl !== undefined

const PREFIX = '/masterleases/'

/** The type `lease`. `own`: the address of this server. */
export function leasedServers(store: TtlStore, own: string, ttlSeconds: number): KnownServers {
  let generation = 0

  async function addresses(): Promise<string[]> {
    const { entries } = await store.range(PREFIX)
    const all = entries.map(entry => {
      const [subset = {}] = objectsAt(decodeStored(entry), 'subsets')
      const [address = {}] = objectsAt(subset, 'addresses')
      return stringAt(address, 'ip')
    })
    return all.filter(Boolean).toSorted()
  }

  return {
    async enter() {
      const lease = {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { generation: ++generation },
        subsets: [{ addresses: [{ ip: own }] }],
      }
      await store.putWithTtl(PREFIX + own, Buffer.from(JSON.stringify(lease)), ttlSeconds)
    },
    async living() {
      const found = await addresses()
      // The key of this server was written just now, so an empty list cannot be right.
      if (found.length === 0) throw new Error('etcd has no address of an API server')
      return found
    },
    async leave() {
      const entry = await store.get(PREFIX + own)
      if (entry) await store.delete(entry.key, entry.revision)
    },
    remaining: addresses,
  }
}
