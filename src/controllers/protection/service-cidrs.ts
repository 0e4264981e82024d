// ServiceCIDRs: one that is being deleted stays as long as a Service has an address that no other range contains. The
// condition `Ready` says which ranges new addresses may be of.
import { type AddressRange, canHave, rangesOf, readyCondition } from '../../builtin/service-addresses.js'
import type { Kind } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { mapAt, stringAt } from '../../meta/values/access.js'
import { printTime } from '../../meta/values/time.js'
import { objectKeyOf } from '../../objects/object-store.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { ApiContext } from '../../verbs/api-context.js'
import type { SystemObjects } from '../../verbs/system-writes.js'
import type { Controller, ControllerEnv } from '../common/controller.js'
import { startProtection } from './protection.js'

export interface ServiceCidrKinds {
  readonly serviceCidrs: Kind
  readonly addresses: Kind
}

/** Other API servers may still take addresses of a range that was deleted just now. */
const GRACE_MS = 10_000

const READY: ReadyCondition = { status: 'True', reason: '', message: 'Kubernetes Service CIDR is ready' }
const TERMINATING: ReadyCondition = {
  status: 'False',
  reason: 'Terminating',
  message: 'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
}

export const startServiceCidrs = (
  context: ApiContext,
  { serviceCidrs, addresses }: ServiceCidrKinds,
  env: ControllerEnv,
): Promise<Controller> =>
  startProtection(
    context,
    {
      controller: 'service-cidrs-controller',
      applyManager: 'service-cidr-controller',
      queue: 'ipaddresses',
      kind: serviceCidrs,
      finalizer: 'networking.k8s.io/service-cidr-finalizer',
      // Another range may take over the addresses of this one.
      users: [addresses, serviceCidrs],
      graceMs: GRACE_MS,
      isUsed: object => hasOwnAddresses(context, { serviceCidrs, addresses }, object),
      sayState: (object, isKept, objects) =>
        applyReady(objects, serviceCidrs, object, isKept ? TERMINATING : READY, context.now()),
    },
    env,
  )

interface ReadyCondition {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

/** Applies the condition `Ready`, unless the object has it already. */
async function applyReady(
  objects: SystemObjects,
  kind: Kind,
  object: ApiObject,
  wanted: ReadyCondition,
  now: number,
): Promise<void> {
  const current = readyCondition(object)
  const fields = ['status', 'reason', 'message'] as const
  if (current && fields.every(field => stringAt(current, field) === wanted[field])) return
  await objects.apply(kind, readyStatus(metaOf(object).name ?? '', wanted, now), 'status')
}

/** What is applied to the status. */
const readyStatus = (name: string, condition: ReadyCondition, now: number) => ({
  metadata: { name },
  status: { conditions: [{ type: 'Ready', ...condition, lastTransitionTime: printTime(now) }] },
})

/** Whether a Service has an address that would be in no range without this object. */
async function hasOwnAddresses(context: ApiContext, kinds: ServiceCidrKinds, object: ApiObject): Promise<boolean> {
  const { name } = metaOf(object)
  const { entries } = await context.objectStore(kinds.serviceCidrs).cache.range(kinds.serviceCidrs.keyPrefix)
  const stored = entries.map(decodeStored)
  const others = stored.filter(each => metaOf(each).name !== name).flatMap(rangesOf)
  const own = rangesOf(object)
  const open = own.filter(range => !others.some(other => contains(other, range)))
  if (open.length === 0) return false
  const taken = await context.objectStore(kinds.addresses).cache.range(kinds.addresses.keyPrefix)
  return taken.entries.some(entry => {
    const address = objectKeyOf(kinds.addresses, entry.key).name
    return (
      own.some(range => canHave(range, address)) &&
      !others.some(range => canHave(range, address)) &&
      mapAt(decodeStored(entry).metadata, 'labels')['ipaddress.kubernetes.io/managed-by'] === 'ipallocator.k8s.io'
    )
  })
}

/** Whether the inner range is a part of the outer one, or the same. */
const contains = (outer: AddressRange, inner: AddressRange): boolean =>
  outer.family === inner.family &&
  outer.size >= inner.size &&
  inner.network >= outer.network &&
  inner.network < outer.network + outer.size
