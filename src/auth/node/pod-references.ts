// The objects that a pod or a volume needs, and that its node may therefore read.
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { has, objectAt, objectOrNone, objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'

const CONTAINERS = ['initContainers', 'containers', 'ephemeralContainers']
/** Volume sources with a reference to a secret of the pod's namespace. */
const WITH_SECRET = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos']

/** Names of secrets of the pod's namespace, with repetitions. */
export function podSecrets(pod: ApiObject): string[] {
  const spec = objectAt(pod, 'spec')
  const names = objectsAt(spec, 'imagePullSecrets').map(nameOf)
  for (const container of containersOf(spec)) names.push(...environmentNames(container, 'secretRef', 'secretKeyRef'))
  for (const volume of objectsAt(spec, 'volumes')) {
    names.push(
      stringAt(objectAt(volume, 'azureFile'), 'secretName'),
      stringAt(objectAt(volume, 'secret'), 'secretName'),
      nameOf(objectAt(objectAt(volume, 'csi'), 'nodePublishSecretRef')),
      ...WITH_SECRET.map(source => nameOf(objectAt(objectAt(volume, source), 'secretRef'))),
      ...projectedNames(volume, 'secret'),
    )
  }
  return names.filter(Boolean)
}

/** Names of ConfigMaps of the pod's namespace, with repetitions. */
export function podConfigMaps(pod: ApiObject): string[] {
  const spec = objectAt(pod, 'spec')
  const names: string[] = []
  for (const container of containersOf(spec))
    names.push(...environmentNames(container, 'configMapRef', 'configMapKeyRef'))
  for (const volume of objectsAt(spec, 'volumes')) {
    names.push(nameOf(objectAt(volume, 'configMap')), ...projectedNames(volume, 'configMap'))
  }
  return names.filter(Boolean)
}

/** Names of the claims to volumes, those that are made for the pod alone among them. */
export const podVolumeClaims = (pod: ApiObject): string[] =>
  objectsAt(objectAt(pod, 'spec'), 'volumes').flatMap(volume => volumeClaim(pod, volume) ?? [])

export function volumeClaim(pod: ApiObject, volume: ValueObject): string | undefined {
  const claim = objectOrNone(volume, 'persistentVolumeClaim')
  if (claim) return stringAt(claim, 'claimName') || undefined
  return has(volume, 'ephemeral') ? `${metaOf(pod).name ?? ''}-${nameOf(volume)}` : undefined
}

/** Names of the claims to devices. Those made from a template are in the status. */
export function podResourceClaims(pod: ApiObject): string[] {
  const status = objectAt(pod, 'status')
  const made = new Map(
    objectsAt(status, 'resourceClaimStatuses').map(each => [nameOf(each), stringAt(each, 'resourceClaimName')]),
  )
  const names = objectsAt(objectAt(pod, 'spec'), 'resourceClaims').map(
    claim =>
      stringAt(claim, 'resourceClaimName') ||
      (stringAt(claim, 'resourceClaimTemplateName') === '' ? '' : (made.get(nameOf(claim)) ?? '')),
  )
  names.push(stringAt(objectAt(status, 'extendedResourceClaimStatus'), 'resourceClaimName'))
  return names.filter(Boolean)
}

/** Sources whose secret is, without a namespace of its own, in that of the claim. */
const IN_CLAIM_NAMESPACE = ['cephfs', 'flexVolume', 'rbd', 'scaleIO', 'iscsi']

/** The secrets of a volume that kubelets use, as `namespace/name`. */
export function volumeSecrets(volume: ApiObject): string[] {
  const spec = objectAt(volume, 'spec')
  const claimNamespace = stringAt(objectAt(spec, 'claimRef'), 'namespace')
  const found: string[] = []
  const add = (reference: ValueObject, initial: string): void => {
    const [namespace, name] = [stringAt(reference, 'namespace') || initial, nameOf(reference)]
    if (name !== '') found.push(`${namespace}/${name}`)
  }
  const azure = objectAt(spec, 'azureFile')
  add({ namespace: stringAt(azure, 'secretNamespace'), name: stringAt(azure, 'secretName') }, claimNamespace)
  for (const source of IN_CLAIM_NAMESPACE) add(objectAt(objectAt(spec, source), 'secretRef'), claimNamespace)
  for (const source of ['cinder', 'storageos']) add(objectAt(objectAt(spec, source), 'secretRef'), '')
  const csi = objectAt(spec, 'csi')
  for (const use of ['nodePublish', 'nodeStage', 'nodeExpand']) add(objectAt(csi, `${use}SecretRef`), '')
  return found
}

const nameOf = (object: ValueObject): string => stringAt(object, 'name')

const containersOf = (spec: ValueObject): readonly ValueObject[] =>
  CONTAINERS.flatMap(containers => objectsAt(spec, containers))

function environmentNames(container: ValueObject, whole: string, key: string): string[] {
  return [
    ...objectsAt(container, 'envFrom').map(source => nameOf(objectAt(source, whole))),
    ...objectsAt(container, 'env').map(variable => nameOf(objectAt(objectAt(variable, 'valueFrom'), key))),
  ]
}

const projectedNames = (volume: ValueObject, source: string): string[] =>
  objectsAt(objectAt(volume, 'projected'), 'sources').map(each => nameOf(objectAt(each, source)))
