// What a pod needs of the API: a mirror pod, which its node runs without the API, may need nothing.

import { podConfigMaps, podSecrets } from '../../../auth/nodes.js'
import { quote } from '../../../meta/go/go-text.js'
import type { ApiObject } from '../../../meta/object/api-object.js'
import { has, objectAt, objectsAt, stringAt } from '../../../meta/values/access.js'
import type { ValueObject } from '../../../meta/values/value.js'

/** The first resource that the pod refers to; `error` if that cannot be said. */
export function apiReference(
  pod: ApiObject,
): { readonly resource: string; readonly error?: undefined } | { readonly error: string } | undefined {
  const spec = objectAt(pod, 'spec')
  const of = (resource: string) => ({ resource })
  if (stringAt(spec, 'serviceAccountName') !== '') return of('serviceaccounts')
  if (podSecrets(pod).length > 0) return of('secrets')
  if (podConfigMaps(pod).length > 0) return of('configmaps')
  if (objectsAt(spec, 'resourceClaims').length > 0) return of('resourceclaims')
  for (const volume of objectsAt(spec, 'volumes')) {
    if (WITHOUT_API.some(source => has(volume, source))) continue
    const source = Object.keys(BY_VOLUME).find(each => has(volume, each))
    if (source !== undefined) return of(BY_VOLUME[source]!)
    const name = stringAt(volume, 'name')
    if (!has(volume, 'projected')) return { error: `unknown volume type for volume  ${quote(name)}` }
    const projected = projectedReference(objectAt(volume, 'projected'))
    if (projected === undefined) continue
    return projected === '' ? { error: `unknown source for projected volume ${quote(name)}` } : of(projected)
  }
  return undefined
}

const WITHOUT_API =
  'awsElasticBlockStore azureDisk cephfs cinder downwardAPI emptyDir fc flexVolume flocker gcePersistentDisk gitRepo hostPath image iscsi nfs photonPersistentDisk portworxVolume quobyte rbd scaleIO storageos vsphereVolume'.split(
    ' ',
  )

const BY_VOLUME: Readonly<Record<string, string>> = {
  configMap: 'configmaps (via configmap volumes)',
  secret: 'secrets (via secret volumes)',
  csi: 'csidrivers (via CSI volumes)',
  glusterfs: 'endpoints (via glusterFS volumes)',
  persistentVolumeClaim: 'persistentvolumeclaims',
  ephemeral: 'persistentvolumeclaims (via ephemeral volumes)',
  azureFile: 'secrets (via azureFile volumes)',
}

const BY_PROJECTION: Readonly<Record<string, string>> = {
  configMap: 'configmaps (via projected volumes)',
  secret: 'secrets (via projected volumes)',
  serviceAccountToken: 'serviceaccounts (via projected volumes)',
  clusterTrustBundle: 'clustertrustbundles',
  podCertificate: 'podcertificates',
}

/** Empty for a source that is not known. */
function projectedReference(projected: ValueObject): string | undefined {
  for (const source of objectsAt(projected, 'sources')) {
    const known = Object.keys(BY_PROJECTION).find(each => has(source, each))
    if (known !== undefined) return BY_PROJECTION[known]!
    if (!has(source, 'downwardAPI')) return ''
  }
  return undefined
}
