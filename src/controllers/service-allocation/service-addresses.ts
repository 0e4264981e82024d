// Cluster IPs and node ports of Services. An address in use is an IPAddress object of that name, ports in use are an entry
// of the store. Both are written by compare-and-set, so that processes on one store never assign the same one twice.

import type { MetricsRegistry } from '../../base/metrics.js'
import {
  type AddressPool,
  type AddressPoolOptions,
  addressPool,
  assignAddresses,
  type Claims,
  canonicalAddress,
  familyOf,
  NODE_PORTS,
  NotClaimable,
  releaseAddresses,
} from '../../builtin/service-addresses.js'
import type { Allocation, Kind } from '../../kinds/kind.js'
import { hasReason } from '../../meta/errors/status.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { mapAt, objectAt, stringAt } from '../../meta/values/access.js'
import { objectKeyOf } from '../../objects/object-store.js'
import { decodeStored } from '../../objects/stored-object.js'
import { forResource, systemRequest } from '../../request/request.js'
import { type UserInfo } from '../../request/user-info.js'
import type { Store } from '../../storage/store.js'
import { type ApiContext } from '../../verbs/api-context.js'
import { MADE } from '../../verbs/pipeline.js'
import { createFrom } from '../../verbs/write.js'
import type { Controller, ControllerEnv } from '../common/controller.js'
import { allocationMetrics } from './allocation-metrics.js'
import { PORTS_KEY, portClaims } from './port-claims.js'
import { type AddressKinds, type RepairParts, type RepairTimes, repair, startRepair } from './repair.js'
import { serviceRanges } from './service-ranges.js'
import { startServiceRepair } from './service-repair.js'

export interface ServiceAddresses {
  /** The kind of Services, which get addresses and ports when they are written. */
  readonly kind: Kind
  /** Makes the allocated addresses and ports agree with the stored Services. Must be done before Services are written. */
  repair(): Promise<void>
  /** Releases what processes that were killed have allocated and not used. For stores that several processes share. */
  startRepair(env: ControllerEnv, times: RepairTimes): Controller
  /** Allocates addresses of Services that are written without going through this server. */
  startServiceRepair(env: ControllerEnv): Promise<Controller>
}

/** `range` as in --service-cluster-ip-range; `isStrict` refuses addresses in other forms, such as with leading zeros. */
export interface AddressSettings extends Pick<AddressPoolOptions, 'range' | 'isStrict' | 'nodePorts'> {
  readonly metrics?: MetricsRegistry | undefined
}

export function serviceAddresses(
  context: ApiContext,
  store: Store,
  kinds: AddressKinds,
  { range, isStrict = true, nodePorts = NODE_PORTS, metrics }: AddressSettings,
): ServiceAddresses {
  const ports = portClaims(store, nodePorts)
  const ranges = serviceRanges(context, kinds.serviceCidrs)
  const measure =
    metrics &&
    allocationMetrics(metrics, {
      ranges: ranges.ready,
      addresses: () => addressesInUse(context, kinds.addresses),
      ports: async () => ports.takenIn(await store.get(PORTS_KEY)),
      nodePorts,
    })
  const poolFor = (service: ApiObject, dryRun: boolean): AddressPool => {
    const addresses = addressClaims(context, kinds.addresses, service)
    const pool = addressPool({
      range,
      readyRanges: ranges.ready,
      nodePorts,
      isStrict,
      addresses: dryRun ? onlyLook(addresses) : addresses,
      ports: dryRun ? onlyLook(ports) : ports,
      dryRun,
    })
    return measure && !dryRun ? measure(pool) : pool
  }
  // Fails here, at the start, if the range is none, and not at the first Service.
  poolFor({ apiVersion: 'v1', kind: 'Service', metadata: {} }, true)

  const allocation: Allocation = {
    async allocate(service, old, dryRun) {
      const pool = poolFor(service, dryRun)
      const { errors, undo } = await assignAddresses(service, old, pool)
      return { errors, rollback: undo, commit: async () => old && releaseAddresses(old, service, pool) }
    },
    release: service => releaseAddresses(service, undefined, poolFor(service, false)),
  }
  const kind = { ...kinds.services, allocation }
  const parts: RepairParts = {
    context,
    kinds: { ...kinds, services: kind },
    ports,
    ranges,
    claim: (address, service) => addressClaims(context, kinds.addresses, service).claim(address),
    release: (address, service) => addressClaims(context, kinds.addresses, service).release(address),
    isOurs: address => mapAt(address.metadata, 'labels')[MANAGED_BY] === ALLOCATOR_NAME,
  }
  return {
    kind,
    repair: () => repair(parts, store.embedded),
    startRepair: (env, times) => startRepair(parts, store, env, times),
    startServiceRepair: env => startServiceRepair(parts, env),
  }
}

/** The claims of a dry run: nothing is stored. */
interface Visible<T> extends Claims<T> {
  has(what: T): Promise<boolean>
}

const onlyLook = <T>({ has }: Visible<T>): Claims<T> => ({
  claim: async what => !(await has(what)),
  release: async () => {},
})

// ---- addresses

const ALLOCATOR: UserInfo = {
  name: 'system:apiserver',
  uid: '',
  groups: ['system:masters', 'system:authenticated'],
  extra: {},
}
/** The field manager of the addresses, and the value of their label. */
const ALLOCATOR_NAME = 'ipallocator.k8s.io'
const MANAGED_BY = 'ipaddress.kubernetes.io/managed-by'

/** The objects have the names of their addresses. */
async function addressesInUse({ objectStore }: ApiContext, kind: Kind): Promise<string[]> {
  const { entries } = await objectStore(kind).cache.range(kind.keyPrefix)
  return entries.map(({ key }) => objectKeyOf(kind, key).name)
}

/** The address claims of one service. */
function addressClaims(context: ApiContext, kind: Kind, service: ApiObject): Visible<string> {
  const { namespace = '', name = '' } = metaOf(service)
  const version = kind.versions.find(each => each.name === kind.storageVersion)!
  return {
    async has(address) {
      return (await context.objectStore(kind).get('', canonicalAddress(address))) !== undefined
    },
    async claim(given) {
      const address = canonicalAddress(given)
      const object: ApiObject = {
        apiVersion: `${kind.group}/${version.name}`,
        kind: kind.names.kind,
        metadata: {
          name: address,
          labels: { 'ipaddress.kubernetes.io/ip-family': familyOf(address)!, [MANAGED_BY]: ALLOCATOR_NAME },
        },
        spec: { parentRef: { group: '', resource: 'services', namespace, name } },
      }
      const target = { kind, version, namespace: '', name: '', subresource: '' } as const
      const options = { dryRun: false, fieldManager: ALLOCATOR_NAME, fieldValidation: 'Ignore' } as const
      try {
        const request = systemRequest({ user: ALLOCATOR, userAgent: ALLOCATOR_NAME, receivedAt: context.now() })
        await createFrom(context, forResource(request, target, options), object, MADE)
        return true
      } catch (error) {
        if (hasReason(error, 'AlreadyExists')) return false
        if (hasReason(error, 'Invalid')) throw new NotClaimable(error.message)
        throw error
      }
    },
    async release(given) {
      const address = canonicalAddress(given)
      const store = context.objectStore(kind)
      const entry = await store.get('', address)
      if (!entry) return
      const parent = objectAt(objectAt(decodeStored(entry), 'spec'), 'parentRef')
      // It may belong to another service by now, which keeps it.
      if (stringAt(parent, 'namespace') !== namespace || stringAt(parent, 'name') !== name) return
      await store.delete('', address, entry.revision)
    },
  }
}
