// Aggregated discovery: one document about all groups. It is joined from pieces of JSON, one for each group, and for
// custom kinds one for each kind, which are cached by their source. So a change costs only its own kind and the joining.
import { createHash } from 'node:crypto'
import { encodeJson } from '../../codec/json.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import type { RemoteVersion } from '../remote-versions.js'
import type { ApiGroup, ApiVersion } from './api-groups.js'
import { createDocument, type Document } from './document.js'
import { type ListedResource, named } from './listed-resources.js'

/** The parameters of the media type that select it. */
export const AGGREGATED = { kind: 'APIGroupDiscoveryList', group: 'apidiscovery.k8s.io', version: 'v2' } as const

export interface AggregatedDocument extends Document {
  /** The same for all encodings; the response varies by Accept. */
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
    piece = groupItem(group)
    pieces.set(group, piece)
  }
  return piece
}

// ---- one group

function groupItem({ name, versions }: ApiGroup): string {
  const metadata = encodeJson(name === '' ? {} : { name })
  return `{"metadata":${metadata},"versions":[${versions.map(versionItem).join(',')}]}`
}

const versionItem = (version: ApiVersion): string => (version.remote ? remoteItem(version.remote) : localItem(version))

const remoteItem = ({ version, resources, freshness }: RemoteVersion): string =>
  encodeJson({ version, ...(resources.length > 0 && { resources: resources as Value }), freshness })

const localItem = (version: ApiVersion): string =>
  `{"version":${encodeJson(version.name)},"resources":[${resourceItems(version).join(',')}],"freshness":"Current"}`

function resourceItems(version: ApiVersion): string[] {
  const subresources = new Map<string, ListedResource[]>()
  const resources: ListedResource[] = []
  for (const resource of version.resources()) {
    const slash = resource.name.indexOf('/')
    if (slash < 0) resources.push(resource)
    else {
      const parent = resource.name.slice(0, slash)
      subresources.set(parent, [...(subresources.get(parent) ?? []), resource])
    }
  }
  return resources.map(resource => resourcePiece(version, resource, subresources.get(resource.name) ?? []))
}

const resourcePieces = new WeakMap<ListedResource, string>()

/** The piece of a custom kind is cached by its resource; that of a built-in one may include subresources of others. */
function resourcePiece(version: ApiVersion, resource: ListedResource, subresources: readonly ListedResource[]): string {
  if (version.isRouted) return encodeJson(resourceItem(version, resource, subresources))
  let piece = resourcePieces.get(resource)
  if (piece === undefined) {
    piece = encodeJson(resourceItem(version, resource, subresources))
    resourcePieces.set(resource, piece)
  }
  return piece
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

/** Built-in kinds omit their own group and version; clients add them. */
const responseKind = ({ isRouted, group, name }: ApiVersion, resource: ListedResource): Value => ({
  group: resource.group ?? (isRouted ? '' : group),
  version: resource.version ?? (isRouted ? '' : name),
  kind: resource.kind,
})
