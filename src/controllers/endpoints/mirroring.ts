// Mirrors Endpoints that were written by hand, for Services without a selector, to EndpointSlices, which proxies read.
import type { Kind } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { has, objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import { keyPrefixOf } from '../../objects/object-store.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { systemObjects } from '../../verbs/system-writes.js'
import type { Controller, ControllerEnv } from '../common/controller.js'
import { type ObjectChange, queueKey, readQueueKey, startKindController } from '../common/kind-controller.js'
import {
  type DesiredSlice,
  desiredSlices,
  hasPorts,
  MANAGED_BY,
  MIRRORING,
  SERVICE_NAME,
  sliceMetadata,
} from './mirrored-slices.js'

export const SKIP_MIRROR = 'endpointslice.kubernetes.io/skip-mirror'
const LEADER_ELECTION = 'control-plane.alpha.kubernetes.io/leader'

export interface MirroringKinds {
  readonly endpoints: Kind
  readonly endpointSlices: Kind
  readonly services: Kind
}

export function startEndpointSliceMirroring(
  context: ApiContext,
  { endpoints, endpointSlices, services }: MirroringKinds,
  env: ControllerEnv,
): Promise<Controller> {
  const objects = systemObjects(context, 'endpointslicemirroring-controller')

  /** The slices that mirror the Endpoints of a Service. */
  async function mirrored(namespace: string, service: string): Promise<ApiObject[]> {
    const { entries } = await context.objectStore(endpointSlices).cache.range(keyPrefixOf(endpointSlices, namespace))
    return entries
      .filter(({ attributes: { data } }) => data.labels[MANAGED_BY] === MIRRORING)
      .filter(({ attributes: { data } }) => data.labels[SERVICE_NAME] === service)
      .map(decodeStored)
  }

  /** The Endpoints to mirror; undefined if there are none, or if something else makes the slices. */
  async function source(namespace: string, name: string): Promise<ApiObject | undefined> {
    const found = await objects.get(endpoints, namespace, name)
    if (!found) return undefined
    const { labels = {}, annotations = {} } = metaOf(found)
    if (labels[SKIP_MIRROR] === 'true' || annotations[LEADER_ELECTION] !== undefined) return undefined
    const service = await objects.get(services, namespace, name)
    return service && !has(objectAt(service, 'spec'), 'selector') ? found : undefined
  }

  async function reconcile(key: string): Promise<void> {
    const { namespace, name } = readQueueKey(key)
    const [from, existing] = await Promise.all([source(namespace, name), mirrored(namespace, name)])
    const metadata = from ? sliceMetadata(from) : {}
    for (const desired of from ? desiredSlices(from) : []) {
      const kept = takeFor(desired, existing)
      if (kept) await update(kept, desired, metadata)
      else await objects.create(endpointSlices, { metadata: { ...metadata, generateName: `${name}-` }, ...desired })
    }
    for (const slice of existing) await objects.delete(endpointSlices, namespace, metaOf(slice).name!)
  }

  async function update(slice: ApiObject, desired: DesiredSlice, metadata: ValueObject): Promise<void> {
    await objects.change(endpointSlices, metaOf(slice).namespace!, metaOf(slice).name!, old => {
      const { annotations: _, ...rest } = old.metadata
      const next = { ...old, metadata: { ...rest, ...metadata }, endpoints: desired.endpoints, ports: desired.ports }
      return holds(old, next) ? undefined : next
    })
  }

  return startKindController(context, {
    name: 'endpoint_slice_mirroring',
    env,
    reconcile,
    follow: [
      { kind: endpoints, keys: change => [queueKey(change)] },
      { kind: services, keys: change => [queueKey(change)] },
      { kind: endpointSlices, keys: keysOfSlice },
    ],
  })
}

/** A mirrored slice that was changed is corrected; one that was deleted is made again by the change of its Endpoints. */
function keysOfSlice(change: ObjectChange): string[] {
  const labels = metaOf(change.object() ?? {}).labels ?? {}
  const service = labels[SERVICE_NAME]
  return service === undefined || labels[MANAGED_BY] !== MIRRORING ? [] : [`${change.namespace}/${service}`]
}

/** Takes out of `existing` the slice to change: one with the same ports, or else any of the address family. */
function takeFor({ addressType, ports }: DesiredSlice, existing: ApiObject[]): ApiObject | undefined {
  const ofType = existing.filter(slice => stringAt(slice, 'addressType') === addressType)
  const taken = ofType.find(slice => hasPorts({ ports: objectsAt(slice, 'ports') }, ports)) ?? ofType[0]
  if (taken) existing.splice(existing.indexOf(taken), 1)
  return taken
}

/** Whether the slice is as it should be already. */
const holds = (old: ApiObject, next: ApiObject): boolean =>
  ['endpoints', 'ports'].every(field => equalValues(old[field], next[field])) &&
  ['labels', 'annotations', 'ownerReferences'].every(field => equalValues(old.metadata[field], next.metadata[field]))
