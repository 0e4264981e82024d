// The discovery endpoints: the groups, versions and resources of the server. Endpoints of built-in groups check the
// method and the media types first, like all routes of built-in kinds; other endpoints accept any method.
import { keptBy, keptWhile } from '../base/memo.js'
import type { Registry } from '../kinds/registry.js'
import type { EffectiveVersion } from '../meta/effective-version.js'
import { genericResponse, noneAcceptable } from '../meta/errors/status.js'
import { compareTexts } from '../meta/go/go-text.js'
import type { ValueObject } from '../meta/values/value.js'
import { encodeValue } from '../response/encode-value.js'
import { type Encoding, MEDIA_TYPES, type OutputFormat } from '../response/output-format.js'
import { AGGREGATED, type AggregatedDocument, aggregatedDocument } from './documents/aggregated.js'
import { type ApiGroup, type ApiVersion, createApiGroups, type ExtraResources } from './documents/api-groups.js'
import { createDocument, type Document } from './documents/document.js'
import { coreVersions, groupDocument, groupList, resourceList } from './documents/legacy-documents.js'
import type { RemoteVersions } from './remote-versions.js'
import { serverVersion } from './version.js'

export interface DiscoveryOptions {
  readonly registry: Registry
  /** Resources besides the kinds of the registry: those that are not stored, and further subresources. */
  readonly extras: ExtraResources
  /** The address of the server for clients: `HOST:PORT`. */
  readonly serverAddress: () => string
  /** Group versions that other servers serve. */
  readonly remote?: RemoteVersions | undefined
  /** The release that the server behaves as, for `/version`. */
  readonly version?: EffectiveVersion | undefined
  /** Paths of other endpoints, to be listed at the root. */
  readonly otherPaths?: readonly string[] | undefined
  /** Whether lists of resources have the hashes of storage versions; they do when absent. */
  readonly hasStorageHashes?: boolean | undefined
}

export interface Discovery {
  /** The endpoint at a path, with or without a trailing slash; undefined if there is none. */
  find(path: string): Page | undefined
}

/** Throws a StatusError to refuse the request. */
export type Page = (request: PageRequest) => PageResponse

export interface PageRequest {
  readonly method: string
  /** As sent, percent-decoded. */
  readonly path: string
  /** The If-None-Match header. */
  readonly ifNoneMatch: string | undefined
  /** The first accepted format that the offer allows. */
  readonly findFormat: (offer: Offer) => OutputFormat | undefined
  /** Throws if the request accepts none of these encodings, as routes of built-in kinds do. */
  readonly checkRoute: (encodings: readonly Encoding[]) => void
}

export interface PageResponse {
  readonly status: number
  /** By lower-case name; without the headers that every response has. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** The available encodings in order of preference, and the kinds to which documents may be converted. */
export interface Offer {
  readonly encodings: readonly Encoding[]
  allows(encoding: Encoding, as: Requested | undefined): boolean
}

export interface Requested {
  readonly kind: string
  readonly group: string
  readonly version: string
}

const PLAIN: Offer = { encodings: ['json', 'yaml', 'protobuf'], allows: (_, as) => as === undefined }
const ROUTED: Offer = { ...PLAIN, encodings: [...PLAIN.encodings, 'cbor'] }

/** A request that accepts this gets it, even with a low preference. */
const AGGREGATED_OFFER: Offer = {
  encodings: PLAIN.encodings,
  allows: (_, as) => as?.kind === AGGREGATED.kind && as.group === AGGREGATED.group && as.version === AGGREGATED.version,
}

export function createDiscovery(options: DiscoveryOptions): Discovery {
  const { registry, extras, remote, serverAddress, otherPaths = [], hasStorageHashes = true } = options
  const groups = createApiGroups(registry, extras, remote)
  const core = (): ApiGroup | undefined => groups.find('')
  const groupsPage = keptWhile(groups.named, all => createDocument(() => groupList(all)))
  const aggregated = keptWhile(groups.named, aggregatedDocument)
  const aggregatedCore = keptWhile(core, group => aggregatedDocument(group ? [group] : []))

  function findCore([version, ...rest]: readonly string[]): Page | undefined {
    if (rest.length > 0) return undefined
    if (version === undefined) return coreRoot
    const found = core()?.versions.find(({ name }) => name === version)
    return found ? versionPage(found, hasStorageHashes) : notFoundPage
  }

  function findGroup([name, version, ...rest]: readonly string[]): Page | undefined {
    if (rest.length > 0) return undefined
    if (name === undefined) return root
    // The core group has no name, and no endpoint under this path.
    const group = name === '' ? undefined : groups.find(name)
    if (!group || version === undefined) return group && plainPage(groupPages(group))
    const found = group.versions.find(each => each.name === version)
    if (found) return versionPage(found, hasStorageHashes)
    return group.versions.some(({ isRouted }) => isRouted) ? notFoundPage : undefined
  }

  const coreRoot: Page = request => {
    checkRoute(request, PLAIN.encodings)
    return (
      respondAggregated(request, aggregatedCore) ??
      respond(
        request,
        createDocument(() => coreVersions(core(), serverAddress())),
        PLAIN,
      )
    )
  }

  const root: Page = request =>
    // With a trailing slash, the path is only that of the list.
    (request.path.endsWith('/') ? undefined : respondAggregated(request, aggregated)) ??
    respond(request, groupsPage(), PLAIN)

  const index: Page = () => prettyJson({ paths: paths() })

  function paths(): string[] {
    const ofGroup = ({ name, versions }: ApiGroup): string[] => [
      `/apis/${name}`,
      ...versions.map(({ apiVersion }) => `/apis/${apiVersion}`),
    ]
    const ofCore = (core()?.versions ?? []).map(({ name }) => `/api/${name}`)
    const all = ['/api', ...ofCore, '/apis', '/apis/', ...groups.named().flatMap(ofGroup), '/version', ...otherPaths]
    return [...new Set(all)].toSorted(compareTexts)
  }

  function find(path: string): Page | undefined {
    if (path === '/' || path === '/index.html') return index
    // Every endpoint also has a path with a trailing slash.
    const [, prefix, ...rest] = (path.endsWith('/') ? path.slice(0, -1) : path).split('/')
    switch (prefix) {
      case 'version':
        return rest.length === 0 ? versionOfServer(options.version) : notFoundPage
      case 'api':
        return findCore(rest)
      case 'apis':
        return findGroup(rest)
      default:
        return undefined
    }
  }

  return { find }
}

// ---- endpoints

/** A path under a built-in group version that is not served. */
const notFoundPage: Page = () => {
  throw genericResponse(404)
}

const plainPage =
  (document: Document): Page =>
  request =>
    respond(request, document, PLAIN)

const versionPage =
  (version: ApiVersion, hasHashes: boolean): Page =>
  request => {
    const offer = version.isRouted ? ROUTED : PLAIN
    if (version.isRouted) checkRoute(request, offer.encodings)
    return respond(request, versionPages(version, hasHashes), offer)
  }

const versionOfServer =
  (version: EffectiveVersion | undefined): Page =>
  request => {
    checkRoute(request, ['json'])
    return prettyJson(serverVersion(version))
  }

function checkRoute(request: PageRequest, encodings: readonly Encoding[]): void {
  if (request.method !== 'GET') throw genericResponse(405)
  request.checkRoute(encodings)
}

// ---- responses

function respond({ findFormat: findForm }: PageRequest, document: Document, offer: Offer): PageResponse {
  const format = findForm(offer)
  if (!format) throw noneAcceptable(offer.encodings.map(encoding => MEDIA_TYPES[encoding]))
  return { status: 200, headers: { 'content-type': MEDIA_TYPES[format.encoding] }, body: document.bytes(format) }
}

/** Undefined if the request does not accept the aggregated document. */
function respondAggregated(
  { findFormat: findForm, ifNoneMatch }: PageRequest,
  document: () => AggregatedDocument,
): PageResponse | undefined {
  const format = findForm(AGGREGATED_OFFER)
  // A request that accepts any type gets the plain document.
  if (!format?.as) return undefined
  const { etag, bytes } = document()
  const headers = { etag, vary: 'Accept', 'cache-control': 'public' }
  if (ifNoneMatch === etag) return { status: 304, headers, body: Buffer.alloc(0) }
  const { group, version, kind } = AGGREGATED
  const type = `${MEDIA_TYPES[format.encoding]};g=${group};v=${version};as=${kind}`
  return { status: 200, headers: { ...headers, 'content-type': type }, body: bytes(format) }
}

/** Documents that are always pretty JSON. */
const prettyJson = (value: ValueObject): PageResponse => ({
  status: 200,
  headers: { 'content-type': MEDIA_TYPES.json },
  body: encodeValue(value, { encoding: 'json', pretty: true }),
})

// ---- caches

const groupPages = keptBy((group: ApiGroup) => createDocument(() => groupDocument(group)))
const versionPages = keptBy((version: ApiVersion, hasHashes: boolean) =>
  createDocument(() => resourceList(version, hasHashes)),
)
