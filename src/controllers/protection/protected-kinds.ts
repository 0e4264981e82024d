// The kinds whose objects are protected while they are in use: claims by pods, volumes by claims, classes by both.
import type { Kind } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { has, objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { keyPrefixOf } from '../../objects/object-store.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { ApiContext } from '../../verbs/api-context.js'
import type { Controller, ControllerEnv } from '../common/controller.js'
import { startProtection } from './protection.js'

export const startClaimProtection = (
  context: ApiContext,
  { claims, pods }: { readonly claims: Kind; readonly pods: Kind },
  env: ControllerEnv,
): Promise<Controller> =>
  startProtection(
    context,
    {
      controller: 'pvc-protection-controller',
      queue: 'pvcprotection',
      kind: claims,
      finalizer: 'kubernetes.io/pvc-protection',
      users: [pods],
      isUsed: claim => some(context, pods, metaOf(claim).namespace ?? '', pod => usesClaim(pod, claim)),
    },
    env,
  )

export const startVolumeProtection = (context: ApiContext, volumes: Kind, env: ControllerEnv): Promise<Controller> =>
  startProtection(
    context,
    {
      controller: 'pv-protection-controller',
      queue: 'pvprotection',
      kind: volumes,
      finalizer: 'kubernetes.io/pv-protection',
      users: [],
      isUsed: volume => stringAt(objectAt(volume, 'status'), 'phase') === 'Bound',
    },
    env,
  )

export interface ClassProtectionKinds {
  readonly classes: Kind
  readonly claims: Kind
  readonly volumes: Kind
}

export const startAttributesClassProtection = (
  context: ApiContext,
  { classes, claims, volumes }: ClassProtectionKinds,
  env: ControllerEnv,
): Promise<Controller> =>
  startProtection(
    context,
    {
      controller: 'volumeattributesclass-protection-controller',
      queue: 'volumeattributesclassprotection',
      kind: classes,
      finalizer: 'kubernetes.io/vac-protection',
      users: [claims, volumes],
      async isUsed(of) {
        const { name = '' } = metaOf(of)
        const isNamed = (object: ValueObject, field: string): boolean => stringAt(object, field) === name
        return (
          (await some(context, volumes, '', volume =>
            isNamed(objectAt(volume, 'spec'), 'volumeAttributesClassName'),
          )) ||
          some(context, claims, '', claim => {
            const status = objectAt(claim, 'status')
            return (
              isNamed(objectAt(claim, 'spec'), 'volumeAttributesClassName') ||
              isNamed(status, 'currentVolumeAttributesClassName') ||
              isNamed(objectAt(status, 'modifyVolumeStatus'), 'targetVolumeAttributesClassName')
            )
          })
        )
      },
    },
    env,
  )

/** Whether some object of a namespace, or of all, satisfies the condition. */
async function some(
  context: ApiContext,
  kind: Kind,
  namespace: string,
  holds: (object: ApiObject) => boolean,
): Promise<boolean> {
  const { entries } = await context.objectStore(kind).cache.range(keyPrefixOf(kind, namespace))
  return entries.some(entry => holds(decodeStored(entry)))
}

/** A pod that no node runs cannot start any more, because its claim is being deleted. */
function usesClaim(pod: ApiObject, claim: ApiObject): boolean {
  const spec = objectAt(pod, 'spec')
  if (stringAt(spec, 'nodeName') === '') return false
  const { name = '', uid = '' } = metaOf(pod)
  const claimMeta = metaOf(claim)
  return objectsAt(spec, 'volumes').some(volume => {
    if (stringAt(objectAt(volume, 'persistentVolumeClaim'), 'claimName') === claimMeta.name) return true
    return (
      has(volume, 'ephemeral') &&
      !isShutDown(pod) &&
      claimMeta.name === `${name}-${stringAt(volume, 'name')}` &&
      (claimMeta.ownerReferences ?? []).some(owner => owner.uid === uid && owner.controller === true)
    )
  })
}

/** It waits for finalizers only. */
const isShutDown = (pod: ApiObject): boolean => {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metaOf(pod)
  return deletionTimestamp !== undefined && Number(deletionGracePeriodSeconds ?? 1) === 0
}
