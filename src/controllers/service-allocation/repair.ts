// Makes the allocated addresses and ports agree with the stored Services. A process that is killed while it creates a
// Service leaves what it has allocated behind.
import { canHave, canonicalAddress, nodePortsOf } from '../../builtin/service-addresses.js'
import type { Kind } from '../../kinds/kind.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { objectAt, stringsAt } from '../../meta/values/access.js'
import { startInformer } from '../../objects/informer.js'
import { objectKeyOf } from '../../objects/object-store.js'
import { decodeReadable } from '../../objects/stored-object.js'
import type { Entry, Revision, Store } from '../../storage/store.js'
import { type ApiContext } from '../../verbs/api-context.js'
import type { Controller, ControllerEnv } from '../common/controller.js'
import { PORTS_KEY, PORTS_PREFIX, type PortClaims } from './port-claims.js'
import type { ServiceRanges } from './service-ranges.js'

export interface AddressKinds {
  readonly services: Kind
  readonly addresses: Kind
  readonly serviceCidrs: Kind
}

export interface RepairParts {
  readonly context: ApiContext
  readonly kinds: AddressKinds
  readonly ports: PortClaims
  readonly ranges: ServiceRanges
  /** Allocates the address of a stored Service. */
  claim(address: string, service: ApiObject): Promise<boolean>
  /** Gives the address back, unless it belongs to another Service. */
  release(address: string, service: ApiObject): Promise<void>
  /** Whether the address was allocated for a Service, and not created by a user. */
  isOurs(address: ApiObject): boolean
}

/** At the start. Only a process that is alone may release: others may be about to store a Service. */
export async function repair(parts: RepairParts, isAlone: boolean): Promise<void> {
  const { context, kinds, ports } = parts
  const claimed = await all(context, kinds.addresses)
  const { addresses, ports: usedPorts, isComplete } = await usedBy(parts)
  const isOurs = createIsOurs(parts)
  const mayRelease = isAlone && isComplete
  await ports.reset(usedPorts, mayRelease)
  for (const entry of claimed) {
    const { name } = objectKeyOf(kinds.addresses, entry.key)
    if (addresses.delete(name) || !mayRelease || !isOurs(entry)) continue
    await context.objectStore(kinds.addresses).delete('', name, entry.revision)
  }
  const ranges = await parts.ranges.all()
  for (const [address, service] of addresses) {
    // A Service that is older than the ranges keeps an address of none of them.
    if (ranges.some(range => canHave(range, address))) await parts.claim(address, service)
  }
}

export interface RepairTimes {
  readonly intervalMs: number
  /** What was allocated for this long and is not used is released. Longer than a request may take. */
  readonly abandonedMs: number
}

/** A request allocates first, then calls webhooks, and may store the Service up to its deadline. */
export const repairTimes = (requestTimeoutMs: number): RepairTimes => ({
  intervalMs: 30_000,
  abandonedMs: requestTimeoutMs + 30_000,
})

/**
 * While other processes allocate too. How long something is allocated is measured from when this process saw it, by its
 * monotonic clock, because the clocks of the others may differ.
 */
export function startRepair(
  parts: RepairParts,
  store: Store,
  { log }: ControllerEnv,
  { intervalMs, abandonedMs }: RepairTimes,
): Controller {
  const { context, kinds, ports } = parts
  const { cache } = context.objectStore(kinds.addresses)
  const isOurs = createIsOurs(parts)
  /** When each port was seen to be taken since it was free. */
  const portsSince = new Map<number, number>()
  /** When each address was first seen; another revision is another allocation. */
  let addressesSince = new Map<Revision, number>()
  /** That of the ports as they were last seen. What was taken and freed before it was seen too, unless the watch was interrupted. */
  let portsRevision: Revision = 0
  let round = Promise.resolve()
  let isStopped = false

  const seePorts = (entry: Entry | undefined): void => {
    portsRevision = entry?.revision ?? 0
    const taken = ports.takenIn(entry)
    for (const port of portsSince.keys()) if (!taken.has(port)) portsSince.delete(port)
    for (const port of taken) if (!portsSince.has(port)) portsSince.set(port, performance.now())
  }
  const informer = startInformer(
    store,
    PORTS_PREFIX,
    {
      // A port may have been freed and taken again meanwhile.
      begin: () => portsSince.clear(),
      entry: seePorts,
      event: ({ key, value, revision }) => seePorts(value && { key, value, revision }),
    },
    log,
  )

  /** Allocations are read before the Services: a Service that is stored meanwhile is seen. */
  async function repairOnce(): Promise<void> {
    const entry = await store.get(PORTS_KEY)
    const { entries } = await cache.range(kinds.addresses.keyPrefix)
    const used = await usedBy(parts)
    const since = performance.now() - abandonedMs
    const isAbandoned = (at: number | undefined): boolean => at !== undefined && at <= since
    if (!used.isComplete) return
    const freePorts = [...ports.takenIn(entry)].filter(
      port => !used.ports.has(port) && isAbandoned(portsSince.get(port)),
    )
    if (entry?.revision === portsRevision && freePorts.length > 0) await ports.releaseAt(entry, freePorts)
    const seen = new Map<Revision, number>()
    for (const address of entries) {
      const { name } = objectKeyOf(kinds.addresses, address.key)
      if (used.addresses.has(name) || !isOurs(address)) continue
      const at = addressesSince.get(address.revision) ?? performance.now()
      seen.set(address.revision, at)
      if (isAbandoned(at)) await context.objectStore(kinds.addresses).delete('', name, address.revision)
    }
    addressesSince = seen
  }

  const timer = setInterval(() => {
    round = round.then(repairOnce).catch((error: unknown) => {
      if (!isStopped) log.warn('allocated addresses and ports cannot be compared with the Services', { error })
    })
  }, intervalMs)
  timer.unref()

  return {
    idle: () => round,
    stop() {
      isStopped = true
      clearInterval(timer)
      informer.stop()
    },
  }
}

/** An address that cannot be read is left alone. */
const createIsOurs =
  (parts: RepairParts) =>
  (entry: Entry): boolean =>
    decodeReadable([entry]).some(parts.isOurs)

interface Used {
  /** False if there are Services that cannot be read: then nothing is released. */
  readonly isComplete: boolean
  readonly addresses: Map<string, ApiObject>
  readonly ports: Set<number>
}

async function usedBy({ context, kinds }: RepairParts): Promise<Used> {
  const stored = await all(context, kinds.services)
  const services = decodeReadable(stored)
  const used: Used = { isComplete: services.length === stored.length, addresses: new Map(), ports: new Set() }
  for (const service of services) {
    const spec = objectAt(service, 'spec')
    for (const address of stringsAt(spec, 'clusterIPs'))
      if (address !== 'None') used.addresses.set(canonicalAddress(address), service)
    for (const port of nodePortsOf(spec)) used.ports.add(port)
  }
  return used
}

async function all(context: ApiContext, kind: Kind): Promise<readonly Entry[]> {
  return (await context.objectStore(kind).cache.range(kind.keyPrefix)).entries
}
