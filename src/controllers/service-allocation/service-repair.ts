// Allocates the addresses of Services that were stored without: by another API server, or by hand in the store.
import { canHave, canonicalAddress } from '../../builtin/service-addresses.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt, stringsAt } from '../../meta/values/access.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { Controller, ControllerEnv } from '../common/controller.js'
import { queueKey, readQueueKey, startKindController } from '../common/kind-controller.js'
import type { RepairParts } from './repair.js'

export function startServiceRepair(parts: RepairParts, env: ControllerEnv): Promise<Controller> {
  const { context, kinds, ranges } = parts
  const services = context.objectStore(kinds.services)
  const addresses = context.objectStore(kinds.addresses)

  async function reconcile(key: string): Promise<void> {
    const { namespace, name } = readQueueKey(key)
    const entry = await services.get(namespace, name)
    if (!entry) return
    const service = decodeStored(entry)
    for (const address of stringsAt(objectAt(service, 'spec'), 'clusterIPs')) {
      if (address === 'None' || (await addresses.get('', canonicalAddress(address)))) continue
      const known = await ranges.all()
      if (!known.some(range => canHave(range, address)) || !(await parts.claim(address, service))) continue
      // It may have been deleted, and its address released, meanwhile.
      const now = await services.get(namespace, name)
      if (!now || metaOf(decodeStored(now)).uid !== metaOf(service).uid) await parts.release(address, service)
    }
  }

  return startKindController(context, {
    name: 'ipallocator-repair-controller',
    env,
    reconcile,
    follow: [{ kind: kinds.services, keys: change => (change.isDeleted ? [] : [queueKey(change)]) }],
  })
}
