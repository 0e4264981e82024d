// Aggregated discovery: everything about all groups in one document. It is put together from one piece of JSON for
// each group, which is kept by the group, so that a change costs no more than its own group and the joining.
import { createHash } from 'node:crypto'
import { encodeJson } from '../codec/json-encode.js'
import type { Value, ValueObject } from '../meta/value.js'
import type { ApiGroup, ApiVersion } from './api-groups.js'
import { createDocument, type Document } from './document.js'
import { type ListedResource, named } from './listed-resources.js'

/** What a media type's parameters must name to get it. */
export const AGGREGATED = { kind: 'APIGroupDiscoveryList', group: 'apidiscovery.k8s.io', version: 'v2' } as const

export interface AggregatedDocument extends Document {
  /** The same for all encodings: they vary by what is accepted. */
  readonly etag: string
}

export function aggregatedDocument(groups: readonly ApiGroup[]): AggregatedDocument {
  const head = encodeJson({
    kind: AGGREGATED.kind,
    apiVersion: `${AGGREGATED.group}/${AGGREGATED.version}`,
    metadata: {},
  })
  const json = Buffer.from(`${head.slice(0, -1)},"items":[${groups.map(pieceOf).join(',')}]}\n`)
  const { bytes } = createDocument(
    () => JSON.parse(json.toString()) as ValueObject,
    () => json,
  )
  return { bytes, etag: `"${createHash('sha512').update(json).digest('hex').toUpperCase()}"` }
}

const pieces = new WeakMap<ApiGroup, string>()

function pieceOf(group: ApiGroup): string {
  let piece = pieces.get(group)
  if (piece === undefined) {
    piece = encodeJson(groupItem(group))
    pieces.set(group, piece)
  }
  return piece
}

// ---- one group

const groupItem = ({ name, versions }: ApiGroup): ValueObject => ({
  metadata: name === '' ? {} : { name },
  versions: versions.map(version => ({
    version: version.name,
    resources: resourceItems(version),
    freshness: 'Current',
  })),
})

function resourceItems(version: ApiVersion): Value[] {
  const subresources = new Map<string, ListedResource[]>()
  const resources: ListedResource[] = []
  for (const resource of version.resources()) {
    const [parent = '', part] = resource.name.split('/')
    if (part === undefined) resources.push(resource)
    else subresources.set(parent, [...(subresources.get(parent) ?? []), resource])
  }
  return resources.map(resource => resourceItem(version, resource, subresources.get(resource.name) ?? []))
}

function resourceItem(version: ApiVersion, resource: ListedResource, subresources: readonly ListedResource[]): Value {
  return {
    resource: resource.name,
    responseKind: responseKind(version, resource),
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singularName ?? '',
    verbs: resource.verbs as Value,
    ...named(resource),
    ...(subresources.length > 0 && {
      subresources: subresources.map(part => ({
        subresource: part.name.slice(resource.name.length + 1),
        responseKind: responseKind(version, part),
        verbs: part.verbs as Value,
      })),
    }),
  }
}

/** Built-in kinds leave out the group and version that they stand in; clients fill them in. */
const responseKind = ({ isRouted, group, name }: ApiVersion, resource: ListedResource): Value => ({
  group: resource.group ?? (isRouted ? '' : group),
  version: resource.version ?? (isRouted ? '' : name),
  kind: resource.kind,
})
