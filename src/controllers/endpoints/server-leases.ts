// The API servers that live on one etcd. Each keeps its address in a key below `/masterleases/`, where kube-apiservers have
// theirs, and etcd deletes a key that its server does not write again in time.
import { objectsAt, stringAt } from '../../meta/values/access.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { Store } from '../../storage/store.js'

export type TtlStore = Store & Required<Pick<Store, 'putWithTtl'>>

export const hasTtl = (store: Store): store is TtlStore => store.putWithTtl !== undefined

export interface ServerLeases {
  /** The addresses of the living servers, in order. */
  addresses(): Promise<string[]>
  renew(address: string): Promise<void>
  remove(address: string): Promise<void>
}

const PREFIX = '/masterleases/'

export function createServerLeases(store: TtlStore, ttlSeconds: number): ServerLeases {
  let generation = 0
  return {
    async addresses() {
      const { entries } = await store.range(PREFIX)
      const all = entries.map(entry => {
        const [subset = {}] = objectsAt(decodeStored(entry), 'subsets')
        const [address = {}] = objectsAt(subset, 'addresses')
        return stringAt(address, 'ip')
      })
      return all.filter(Boolean).toSorted()
    },
    async renew(address) {
      const lease = {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { generation: ++generation },
        subsets: [{ addresses: [{ ip: address }] }],
      }
      await store.putWithTtl(PREFIX + address, Buffer.from(JSON.stringify(lease)), ttlSeconds)
    },
    async remove(address) {
      const entry = await store.get(PREFIX + address)
      if (entry) await store.delete(entry.key, entry.revision)
    },
  }
}
