// Owners above an object and dependents below it. Owners are named in the object; dependents are found by looking through
// the kinds that the user may list, since the API has no index of them.
import { getJson, query } from '../../api/client.js'
import { findKind, resources } from '../../api/discovery.js'
import { getObject } from '../../api/objects.js'
import {
  type ApiObject,
  collectionPath,
  type ObjectMeta,
  type OwnerReference,
  objectPath,
  type Resource,
  splitGroupVersion,
} from '../../api/resource.js'

export interface RelatedObject {
  readonly resource: Resource | undefined
  readonly kind: string
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly isController: boolean
  /** A reference to an object that is not there. */
  readonly isMissing: boolean
  readonly children: readonly RelatedObject[]
}

const MAX_DEPTH = 8
const CONCURRENT = 6
const PAGE = 500

/** The chain of owners, the nearest first. */
export async function readOwners(object: ApiObject, signal: AbortSignal): Promise<readonly RelatedObject[]> {
  const visit = async (
    references: readonly OwnerReference[],
    namespace: string,
    depth: number,
  ): Promise<RelatedObject[]> =>
    Promise.all(
      references.map(async reference => {
        const { apiVersion, kind, name, uid, controller = false } = reference
        const resource = findKind(splitGroupVersion(apiVersion).group, kind)
        const within = resource?.namespaced === false ? '' : namespace
        const found =
          resource === undefined
            ? undefined
            : await getObject(objectPath(resource, within, name), signal).catch(() => undefined)
        const isMissing = found === undefined || found.metadata.uid !== uid
        const above = found?.metadata.ownerReferences ?? []
        const children = isMissing || depth >= MAX_DEPTH ? [] : await visit(above, within, depth + 1)
        return { resource, kind, name, namespace: within, uid, isController: controller, isMissing, children }
      }),
    )
  return visit(object.metadata.ownerReferences ?? [], object.metadata.namespace ?? '', 0)
}

interface Candidate {
  readonly resource: Resource
  readonly metadata: ObjectMeta
}

/** The tree of dependents. `progress` is called with the share of kinds that were looked through. */
export async function readDependents(
  object: ApiObject,
  signal: AbortSignal,
  progress: (share: number) => void,
): Promise<readonly RelatedObject[]> {
  const { namespace = '', uid = '' } = object.metadata
  // A namespaced owner has dependents in its namespace only.
  const kinds = resources
    .peek()
    .filter(
      ({ verbs, namespaced, name }) => verbs.includes('list') && (namespaced || namespace === '') && name !== 'events',
    )
  const candidates: Candidate[] = []
  const queue = kinds.values()
  let done = 0
  const run = async (): Promise<void> => {
    for (const resource of queue) {
      for (const metadata of await listMeta(resource, namespace, signal)) {
        if ((metadata.ownerReferences ?? []).length > 0) candidates.push({ resource, metadata })
      }
      progress(++done / kinds.length)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT }, run))
  return dependentsOf(uid, candidates)
}

export function dependentsOf(
  uid: string,
  candidates: readonly Candidate[],
  seen = new Set<string>([uid]),
): readonly RelatedObject[] {
  return candidates.flatMap(({ resource, metadata }) => {
    const reference = metadata.ownerReferences?.find(owner => owner.uid === uid)
    const own = metadata.uid ?? ''
    if (reference === undefined || seen.has(own)) return []
    const { name, namespace = '' } = metadata
    const children = dependentsOf(own, candidates, new Set([...seen, own]))
    const isController = reference.controller ?? false
    return [{ resource, kind: resource.kind, name, namespace, uid: own, isController, isMissing: false, children }]
  })
}

async function listMeta(resource: Resource, namespace: string, signal: AbortSignal): Promise<readonly ObjectMeta[]> {
  const accept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
  const found: ObjectMeta[] = []
  let next = ''
  try {
    do {
      const path = collectionPath(resource, namespace) + query({ limit: PAGE, continue: next })
      const list = await getJson<{ metadata: { continue?: string }; items: { metadata: ObjectMeta }[] }>(path, {
        accept,
        signal,
        isSearch: true,
      })
      found.push(...list.items.map(({ metadata }) => metadata))
      next = list.metadata.continue ?? ''
    } while (next !== '')
  } catch {
    // A kind that the user may not list has no dependents to show.
  }
  return found
}
