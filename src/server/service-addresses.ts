// Services get addresses and node ports that no other service has. Which ones are taken follows from the services that
// are stored, whoever stored them; what is given to a service that is about to be stored is kept for it for a while.
import { addressPool } from '../builtin/address-pool.js'
import { type AddressPool, type Assigned, assignAddresses, releaseAddresses } from '../builtin/service-addresses.js'
import type { ApiObject, Kind, KindVersion } from '../kinds/kind.js'
import { groupKindOf } from '../kinds/kind-names.js'
import { metaOf } from '../meta/object-meta.js'
import { invalid } from '../meta/status.js'
import { follow } from '../resources/follow.js'
import type { ResourceContext } from '../resources/resource-context.js'
import { decodeStored } from '../resources/stored-object.js'

export interface ServiceAddresses {
  /** The kind of services, which from now on get what they lack. */
  readonly kind: Kind
  /** Learns what is taken, and follows it; answers when all that is stored is known. */
  follow(context: ResourceContext): Promise<{ stop(): void }>
}

/** How long something is kept for a service that does not get stored, because it is refused or a dry run. */
const KEPT_MS = 5_000

export function serviceAddresses(services: Kind, range: string): ServiceAddresses {
  const pool = addressPool({ range })
  const kept = createKeeper()
  const kind = withAddresses(services, pool, kept)
  return { kind, follow: context => followServices(context, kind, pool, kept) }
}

function withAddresses(kind: Kind, pool: AddressPool, kept: Keeper): Kind {
  function assign(service: ApiObject, old: ApiObject | undefined): ApiObject {
    const assigned = assignAddresses(service, old, pool)
    const { name = '', uid = '' } = metaOf(service)
    if (assigned.errors.length > 0) throw invalid(groupKindOf(kind), name, assigned.errors)
    kept.put(uid, assigned)
    return service
  }
  const wrap = (version: KindVersion): KindVersion => {
    const { rules } = version
    return {
      ...version,
      rules: {
        ...rules,
        forCreate: (service, now) => assign(rules.forCreate(service, now), undefined),
        forUpdate: (service, old, now) => assign(rules.forUpdate(service, old, now), old),
      },
    }
  }
  return { ...kind, versions: kind.versions.map(wrap) }
}

async function followServices(
  context: ResourceContext,
  kind: Kind,
  pool: AddressPool,
  kept: Keeper,
): Promise<{ stop(): void }> {
  const known = new Map<string, ApiObject>()
  let missing = new Set<string>()

  function see(key: string, value: Buffer | undefined): void {
    missing.delete(key)
    const old = known.get(key)
    const service = value && decodeStored({ key, value, revision: 0 })
    if (service) {
      known.set(key, service)
      kept.release(metaOf(service).uid ?? '')
      // Takes what others have given it; what we gave it ourselves is taken already, and cannot be taken again.
      assignAddresses(structuredClone(service), old, pool)
    } else known.delete(key)
    if (old) releaseAddresses(old, service, pool)
  }

  const following = follow(context.storeOf(kind).cache, kind.folder, {
    begin: () => void (missing = new Set(known.keys())),
    entry: ({ key, value }) => see(key, value),
    complete: () => [...missing].forEach(key => see(key, undefined)),
    event: ({ key, value }) => see(key, value),
  })
  await following.started
  return {
    stop() {
      following.stop()
      kept.stop()
    },
  }
}

interface Keeper {
  /** Keeps what was assigned to the service of that uid. */
  put(uid: string, assigned: Assigned): void
  /** The service is stored: what it has is its own from now on. */
  release(uid: string): void
  stop(): void
}

function createKeeper(): Keeper {
  const timers = new Map<string, NodeJS.Timeout>()
  return {
    put(uid, { undo }) {
      clearTimeout(timers.get(uid))
      const timer = setTimeout(() => {
        timers.delete(uid)
        undo()
      }, KEPT_MS)
      timer.unref()
      timers.set(uid, timer)
    },
    release(uid) {
      clearTimeout(timers.get(uid))
      timers.delete(uid)
    },
    stop() {
      for (const timer of timers.values()) clearTimeout(timer)
    },
  }
}
