// Which objects are related to which nodes: those that pods of the node use, and those that name the node.
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt, objectOrNone, stringAt } from '../../meta/values/access.js'
import { podConfigMaps, podResourceClaims, podSecrets, podVolumeClaims, volumeSecrets } from './pod-references.js'

export type RelatedType =
  | 'configmap'
  | 'pod'
  | 'podcertificaterequest'
  | 'pv'
  | 'pvc'
  | 'resourceclaim'
  | 'resourceslice'
  | 'secret'
  | 'serviceAccount'
  | 'volumeattachment'

/** The kinds of objects that relations are read from. */
export type SourceKind = 'Pod' | 'PersistentVolume' | 'VolumeAttachment' | 'ResourceSlice' | 'PodCertificateRequest'

export interface NodeGraph {
  isRelated(node: string, type: RelatedType, namespace: string, name: string): boolean
  /** Takes an object as it is now; undefined when it is gone. */
  put(kind: SourceKind, namespace: string, name: string, object: ApiObject | undefined): void
}

const MIRROR = 'kubernetes.io/config.mirror'

export function createNodeGraph(): NodeGraph {
  /** What each object was the source of, so that it can be taken away again. */
  const sources = new Map<string, Relation>()
  /** How many sources relate an object to a node: by object, then by node. */
  const counts = new Map<string, Map<string, number>>()
  /** The claim and the secrets of each volume, and the volumes that use a secret. */
  const volumes = new Map<string, { readonly claim: string; readonly secrets: readonly string[] }>()
  const volumesOfSecret = new Map<string, Set<string>>()

  function count(target: string, node: string, by: 1 | -1): void {
    let nodes = counts.get(target)
    if (!nodes) counts.set(target, (nodes = new Map()))
    const now = (nodes.get(node) ?? 0) + by
    if (now > 0) nodes.set(node, now)
    else if (nodes.delete(node) && nodes.size === 0) counts.delete(target)
  }

  function putVolume(name: string, volume: ApiObject | undefined): void {
    for (const secret of volumes.get(name)?.secrets ?? []) {
      const users = volumesOfSecret.get(secret)
      if (users?.delete(name) && users.size === 0) volumesOfSecret.delete(secret)
    }
    volumes.delete(name)
    const claim = volume && objectOrNone(objectAt(volume, 'spec'), 'claimRef')
    if (!claim) return
    const secrets = volumeSecrets(volume)
    volumes.set(name, { claim: keyOf('pvc', stringAt(claim, 'namespace'), stringAt(claim, 'name')), secrets })
    for (const secret of secrets) {
      const users = volumesOfSecret.get(secret) ?? new Set()
      volumesOfSecret.set(secret, users.add(name))
    }
  }

  const isUsedBy = (target: string, node: string): boolean => counts.get(target)?.has(node) ?? false
  const isVolumeOf = (name: string, node: string): boolean => {
    const volume = volumes.get(name)
    return volume !== undefined && isUsedBy(volume.claim, node)
  }

  return {
    isRelated(node, type, namespace, name) {
      if (type === 'pv') return isVolumeOf(name, node)
      if (isUsedBy(keyOf(type, namespace, name), node)) return true
      if (type !== 'secret') return false
      for (const volume of volumesOfSecret.get(`${namespace}/${name}`) ?? []) if (isVolumeOf(volume, node)) return true
      return false
    },
    put(kind, namespace, name, object) {
      if (kind === 'PersistentVolume') return putVolume(name, object)
      const source = `${kind} ${namespace}/${name}`
      const before = sources.get(source)
      for (const target of before?.targets ?? []) count(target, before!.node, -1)
      const relation = object && relationOf(kind, object)
      if (!relation) return void sources.delete(source)
      sources.set(source, relation)
      for (const target of relation.targets) count(target, relation.node, 1)
    },
  }
}

interface Relation {
  readonly node: string
  readonly targets: readonly string[]
}

const keyOf = (type: RelatedType, namespace: string, name: string): string => `${type} ${namespace}/${name}`

function relationOf(kind: Exclude<SourceKind, 'PersistentVolume'>, object: ApiObject): Relation | undefined {
  const node = stringAt(objectAt(object, 'spec'), 'nodeName')
  if (node === '') return undefined
  const { namespace = '', name = '' } = metaOf(object)
  if (kind === 'VolumeAttachment') return { node, targets: [keyOf('volumeattachment', '', name)] }
  if (kind === 'ResourceSlice') return { node, targets: [keyOf('resourceslice', '', name)] }
  if (kind === 'PodCertificateRequest') return { node, targets: [keyOf('podcertificaterequest', namespace, name)] }
  return { node, targets: podTargets(object) }
}

/** A mirror pod shows a pod that the node has of its own: it gives the node no rights to other objects. */
function podTargets(pod: ApiObject): string[] {
  const { namespace = '', name = '', annotations = {} } = metaOf(pod)
  const own = keyOf('pod', namespace, name)
  if (annotations[MIRROR] !== undefined) return [own]
  const of = (type: RelatedType, names: readonly string[]): string[] => names.map(each => keyOf(type, namespace, each))
  const account = stringAt(objectAt(pod, 'spec'), 'serviceAccountName')
  return [
    own,
    ...of('serviceAccount', account === '' ? [] : [account]),
    ...of('secret', podSecrets(pod)),
    ...of('configmap', podConfigMaps(pod)),
    ...of('pvc', podVolumeClaims(pod)),
    ...of('resourceclaim', podResourceClaims(pod)),
  ]
}
