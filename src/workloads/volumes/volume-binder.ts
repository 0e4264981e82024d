// Binds PersistentVolumeClaims to PersistentVolumes: to one that exists and fits, or to one that is provisioned by the
// StorageClass. A claim whose class waits for a consumer is bound when the scheduler has chosen a node.
import type { Controller } from '../../controllers/start-controllers.js'
import { hasReason } from '../../meta/errors/status.js'
import { matchesLabels, selectorOf } from '../../meta/selectors/label-selectors.js'
import type { Claim, StorageClass, Volume } from '../api/objects.js'
import { amountOf } from '../common/resources.js'
import { follow, keyOf, readKey, startWorkloadController } from '../common/workload-controller.js'
import type { WorkloadEnv } from '../common/workload-env.js'
import { reaches, SELECTED_NODE } from '../scheduler/claims.js'

const COMPONENT = 'persistentvolume-controller'
const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller'
const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed'
const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by'
const NO_PROVISIONER = 'kubernetes.io/no-provisioner'
const VOLUME = 'volume:'

export function startVolumeBinder(w: WorkloadEnv): Controller {
  const writes = w.writesOf('persistent-volume-binder')
  const recorder = w.recorder(COMPONENT)

  const unboundClaims = (): string[] => [...w.claims.all()].filter(claim => claim.status?.phase !== 'Bound').map(keyOf)

  return startWorkloadController(w, {
    name: 'claims',
    // One after the other, so that no volume is given to two claims.
    concurrency: 1,
    follow: queue => [
      follow(w.claims, queue, (claim, now) => [
        ...(now ? [keyOf(claim)] : []),
        ...(claim.spec.volumeName ? [`${VOLUME}${claim.spec.volumeName}`] : []),
      ]),
      follow(w.volumes, queue, (volume, now) => [
        `${VOLUME}${volume.metadata.name}`,
        ...(now && !now.spec.claimRef ? unboundClaims() : []),
        ...(volume.spec.claimRef ? [`${volume.spec.claimRef.namespace}/${volume.spec.claimRef.name}`] : []),
      ]),
      follow(w.storageClasses, queue, unboundClaims),
    ],
    reconcile: key => (key.startsWith(VOLUME) ? syncVolume(key.slice(VOLUME.length)) : syncClaim(key)),
  })

  async function syncClaim(key: string): Promise<void> {
    const claim = w.claims.get(...readKey(key))
    if (!claim || claim.metadata.deletionTimestamp !== undefined) return
    const { volumeName } = claim.spec
    if (volumeName) {
      const volume = w.volumes.get('', volumeName)
      if (!volume) return setPhase(claim, claim.metadata.annotations?.[BIND_COMPLETED] ? 'Lost' : 'Pending')
      const { claimRef } = volume.spec
      const isOther = claimRef?.uid !== undefined && claimRef.uid !== claim.metadata.uid
      return isOther ? setPhase(claim, 'Pending') : bind(claim, volume)
    }
    const fitting = findVolume(claim)
    if (fitting) return bind(claim, fitting)
    await setPhase(claim, 'Pending')
    await provision(claim)
  }

  function classOf({ spec: { storageClassName } }: Claim): StorageClass | undefined {
    return storageClassName ? w.storageClasses.get('', storageClassName) : undefined
  }

  function waits(claim: Claim): boolean {
    return classOf(claim)?.volumeBindingMode === 'WaitForFirstConsumer'
  }

  /** The smallest volume that fits; one that names the claim comes first. */
  function findVolume(claim: Claim): Volume | undefined {
    const { spec, metadata } = claim
    const node = metadata.annotations?.[SELECTED_NODE]
    const chosen = node === undefined ? undefined : w.nodes.get('', node)
    const wanted = amountOf(spec.resources?.requests?.['storage'])
    const selector = spec.selector === undefined ? undefined : selectorOf(spec.selector)
    const named = [...w.volumes.all()].find(
      ({ spec: { claimRef } }) =>
        claimRef?.name === metadata.name &&
        claimRef.namespace === metadata.namespace &&
        (claimRef.uid === undefined || claimRef.uid === metadata.uid),
    )
    if (named) return named
    if (waits(claim) && !chosen) return undefined
    return [...w.volumes.all()]
      .filter(volume => !volume.spec.claimRef && volume.metadata.deletionTimestamp === undefined)
      .filter(({ spec: { storageClassName = '' } }) => storageClassName === (spec.storageClassName ?? ''))
      .filter(({ spec: { volumeMode = 'Filesystem' } }) => volumeMode === (spec.volumeMode ?? 'Filesystem'))
      .filter(volume => (spec.accessModes ?? []).every(mode => volume.spec.accessModes?.includes(mode)))
      .filter(volume => amountOf(volume.spec.capacity?.['storage']) >= wanted)
      .filter(volume => !selector || (selector.ok && matchesLabels(selector.value, volume.metadata.labels ?? {})))
      .filter(volume => !chosen || reaches(volume, chosen))
      .toSorted((a, b) => amountOf(a.spec.capacity?.['storage']) - amountOf(b.spec.capacity?.['storage']))[0]
  }

  async function provision(claim: Claim): Promise<void> {
    const { storageClassName } = claim.spec
    const message = 'no persistent volumes available for this claim and no storage class is set'
    if (!storageClassName) return recorder.record(claim, 'Normal', 'FailedBinding', message)
    const storageClass = classOf(claim)
    if (!storageClass) {
      const missing = `storageclass.storage.k8s.io "${storageClassName}" not found`
      return recorder.record(claim, 'Warning', 'ProvisioningFailed', missing)
    }
    if (waits(claim) && claim.metadata.annotations?.[SELECTED_NODE] === undefined) {
      const waiting = 'waiting for first consumer to be created before binding'
      return recorder.record(claim, 'Normal', 'WaitForFirstConsumer', waiting)
    }
    const { provisioner } = storageClass
    // Something else provisions, or volumes are made by hand.
    if (provisioner === NO_PROVISIONER || !w.simulates) return
    const { namespace = '', name, uid, resourceVersion } = claim.metadata
    const volumeName = `pvc-${uid}`
    try {
      await writes.create(w.volumes, {
        metadata: { name: volumeName, annotations: { [PROVISIONED_BY]: provisioner } },
        spec: {
          accessModes: claim.spec.accessModes,
          capacity: { storage: claim.spec.resources?.requests?.['storage'] },
          claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid, resourceVersion },
          csi: { driver: 'simulated.binnacle.dev', volumeHandle: volumeName },
          persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
          storageClassName,
          volumeMode: claim.spec.volumeMode,
          mountOptions: storageClass.mountOptions,
        },
      })
    } catch (error) {
      if (!hasReason(error, 'AlreadyExists')) throw error
    }
    recorder.record(claim, 'Normal', 'ProvisioningSucceeded', `Successfully provisioned volume ${volumeName}`)
  }

  // ---- binding, from both sides

  async function bind(claim: Claim, volume: Volume): Promise<void> {
    const { name, namespace = '', uid, resourceVersion } = claim.metadata
    const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion }
    let bound: Volume | undefined = volume
    if (volume.spec.claimRef?.uid !== uid) {
      bound = await writes.update(w.volumes, volume, old => {
        if (old.spec.claimRef?.uid !== undefined && old.spec.claimRef.uid !== uid) return undefined
        const mark = old.spec.claimRef
          ? {}
          : { annotations: { ...old.metadata.annotations, [BOUND_BY_CONTROLLER]: 'yes' } }
        return { ...old, metadata: { ...old.metadata, ...mark }, spec: { ...old.spec, claimRef } }
      })
      if (bound?.spec.claimRef?.uid !== uid) return
    }
    await setVolumePhase(bound, 'Bound')
    const written = await writes.update(w.claims, claim, old => ({
      ...old,
      metadata: {
        ...old.metadata,
        annotations: {
          ...old.metadata.annotations,
          ...(!old.spec.volumeName && { [BOUND_BY_CONTROLLER]: 'yes' }),
          [BIND_COMPLETED]: 'yes',
        },
      },
      spec: { ...old.spec, volumeName: volume.metadata.name },
    }))
    if (!written) return
    const { accessModes, capacity } = volume.spec
    await writes.setStatus(w.claims, written, { ...written.status, phase: 'Bound', accessModes, capacity })
  }

  async function setPhase(claim: Claim, phase: string): Promise<void> {
    await writes.setStatus(w.claims, claim, { ...claim.status, phase })
  }

  async function setVolumePhase(volume: Volume, phase: string): Promise<void> {
    if (volume.status?.phase === phase) return
    const { lastPhaseTransitionTime: _, ...status } = (volume.status ?? {}) as {
      readonly lastPhaseTransitionTime?: string
    }
    await writes.setStatus(w.volumes, volume, { ...status, phase })
  }

  async function syncVolume(name: string): Promise<void> {
    const volume = w.volumes.get('', name)
    if (!volume) return
    const { claimRef } = volume.spec
    if (!claimRef) return setVolumePhase(volume, 'Available')
    if (claimRef.uid === undefined) return setVolumePhase(volume, 'Available')
    const claim = w.claims.get(claimRef.namespace ?? '', claimRef.name ?? '')
    if (claim && claim.metadata.uid === claimRef.uid) return
    // The claim is gone: its volume is kept, or goes too.
    if (volume.spec.persistentVolumeReclaimPolicy === 'Delete' && w.simulates) {
      if (volume.metadata.deletionTimestamp === undefined) await writes.delete(w.volumes, volume)
    } else await setVolumePhase(volume, 'Released')
  }
}
