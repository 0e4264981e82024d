// What is here: the pages that tell clients which groups, versions and resources the server has. Each path has a page,
// and a page answers a request in the form that it asks for. Pages of built-in groups look at the method and the media
// types first, as all routes of built-in kinds do; all other pages take any method.
import type { Registry } from '../kinds/registry.js'
import { genericResponse, noneAcceptable } from '../meta/errors/status.js'
import { compareTexts } from '../meta/go/go-text.js'
import type { ValueObject } from '../meta/values/value.js'
import { encodeValue } from '../response/encode-value.js'
import { type Encoding, type Form, MEDIA_TYPES } from '../response/output-format.js'
import { AGGREGATED, type AggregatedDocument, aggregatedDocument } from './documents/aggregated.js'
import { type ApiGroup, type ApiVersion, createApiGroups, type ExtraResources } from './documents/api-groups.js'
import { createDocument, type Document } from './documents/document.js'
import { coreVersions, groupDocument, groupList, resourceList } from './documents/legacy-documents.js'
import { serverVersion } from './version.js'

export interface DiscoveryOptions {
  readonly registry: Registry
  /** What is served besides the kinds of the registry: kinds that are not stored, and further subresources. */
  readonly extras: ExtraResources
  /** Where clients reach the server: `HOST:PORT`. */
  readonly serverAddress: () => string
  /** Paths that others serve, to be listed at the root. */
  readonly otherPaths?: readonly string[] | undefined
}

export interface Discovery {
  /** The page at a path, with or without a slash at its end; undefined if there is none. */
  find(path: string): Page | undefined
}

/** Refuses by throwing a StatusError. */
export type Page = (request: PageRequest) => PageAnswer

export interface PageRequest {
  readonly method: string
  /** As it was sent, percent-decoded. */
  readonly path: string
  /** The header of that name. */
  readonly ifNoneMatch: string | undefined
  /** The first of the forms that the request accepts which the offer allows. */
  readonly findForm: (offer: Offer) => Form | undefined
  /** Refuses a request that names none of these encodings, as routes do before anyone looks closer. */
  readonly checkRoute: (encodings: readonly Encoding[]) => void
}

export interface PageAnswer {
  readonly status: number
  /** By lower-case name; those that every answer carries are not among them. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** What can be had: the encodings in order of preference, and what documents may be converted to. */
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

/** A request that accepts this gets it, however much it would like something else. */
const WHOLE: Offer = {
  encodings: PLAIN.encodings,
  allows: (_, as) => as?.kind === AGGREGATED.kind && as.group === AGGREGATED.group && as.version === AGGREGATED.version,
}

export function createDiscovery({ registry, extras, serverAddress, otherPaths = [] }: DiscoveryOptions): Discovery {
  const groups = createApiGroups(registry, extras)
  const core = (): ApiGroup | undefined => groups.find('')
  const groupsPage = keptWhile(groups.named, all => createDocument(() => groupList(all)))
  const aggregated = keptWhile(groups.named, aggregatedDocument)
  const aggregatedCore = keptWhile(core, group => aggregatedDocument(group ? [group] : []))

  function findCore([version, ...rest]: readonly string[]): Page | undefined {
    if (rest.length > 0) return undefined
    if (version === undefined) return coreRoot
    const found = core()?.versions.find(({ name }) => name === version)
    return found ? versionPage(found) : nothing
  }

  function findGroup([name, version, ...rest]: readonly string[]): Page | undefined {
    if (rest.length > 0) return undefined
    if (name === undefined) return root
    // The core group has no name, and no page under this path.
    const group = name === '' ? undefined : groups.find(name)
    if (!group || version === undefined) return group && plainPage(groupPages(group))
    const found = group.versions.find(each => each.name === version)
    if (found) return versionPage(found)
    return group.versions.some(({ isRouted }) => isRouted) ? nothing : undefined
  }

  const coreRoot: Page = request => {
    checkRoute(request, PLAIN.encodings)
    return (
      showAggregated(request, aggregatedCore) ??
      show(
        request,
        createDocument(() => coreVersions(core(), serverAddress())),
        PLAIN,
      )
    )
  }

  const root: Page = request =>
    // With a slash at its end, the path is that of the list alone.
    (request.path.endsWith('/') ? undefined : showAggregated(request, aggregated)) ?? show(request, groupsPage(), PLAIN)

  const index: Page = () => forPeople({ paths: paths() })

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
    // Every page is also there with a slash at its end.
    const [, prefix, ...rest] = (path.endsWith('/') ? path.slice(0, -1) : path).split('/')
    switch (prefix) {
      case 'version':
        return rest.length === 0 ? versionOfServer : nothing
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

// ---- pages

/** Where routes of built-in kinds lead nowhere. */
const nothing: Page = () => {
  throw genericResponse(404)
}

const plainPage =
  (document: Document): Page =>
  request =>
    show(request, document, PLAIN)

const versionPage =
  (version: ApiVersion): Page =>
  request => {
    const offer = version.isRouted ? ROUTED : PLAIN
    if (version.isRouted) checkRoute(request, offer.encodings)
    return show(request, versionPages(version), offer)
  }

const versionOfServer: Page = request => {
  checkRoute(request, ['json'])
  return forPeople(serverVersion())
}

function checkRoute(request: PageRequest, encodings: readonly Encoding[]): void {
  if (request.method !== 'GET') throw genericResponse(405)
  request.checkRoute(encodings)
}

// ---- answers

function show({ findForm }: PageRequest, document: Document, offer: Offer): PageAnswer {
  const form = findForm(offer)
  if (!form) throw noneAcceptable(offer.encodings.map(encoding => MEDIA_TYPES[encoding]))
  return { status: 200, headers: { 'content-type': MEDIA_TYPES[form.encoding] }, body: document.bytes(form) }
}

/** Undefined if the request does not ask for it. */
function showAggregated(
  { findForm, ifNoneMatch }: PageRequest,
  document: () => AggregatedDocument,
): PageAnswer | undefined {
  const form = findForm(WHOLE)
  // A request that accepts anything asks for nothing in particular.
  if (!form?.as) return undefined
  const { etag, bytes } = document()
  const headers = { etag, vary: 'Accept', 'cache-control': 'public' }
  if (ifNoneMatch === etag) return { status: 304, headers, body: Buffer.alloc(0) }
  const { group, version, kind } = AGGREGATED
  const type = `${MEDIA_TYPES[form.encoding]};g=${group};v=${version};as=${kind}`
  return { status: 200, headers: { ...headers, 'content-type': type }, body: bytes(form) }
}

/** Documents that have only one form. */
const forPeople = (value: ValueObject): PageAnswer => ({
  status: 200,
  headers: { 'content-type': MEDIA_TYPES.json },
  body: encodeValue(value, { encoding: 'json', pretty: true }),
})

// ---- what is kept

const groupPages = keptBy((group: ApiGroup) => createDocument(() => groupDocument(group)))
const versionPages = keptBy((version: ApiVersion) => createDocument(() => resourceList(version)))

/** Made once for each source, and gone with it. */
function keptBy<Source extends object, T>(make: (source: Source) => T): (source: Source) => T {
  const kept = new WeakMap<Source, T>()
  return source => {
    let made = kept.get(source)
    if (made === undefined) {
      made = make(source)
      kept.set(source, made)
    }
    return made
  }
}

/** Made again whenever the source is another one. */
function keptWhile<Source, T>(source: () => Source, make: (source: Source) => T): () => T {
  let kept: { readonly from: Source; readonly made: T } | undefined
  return () => {
    const from = source()
    if (!kept || kept.from !== from) kept = { from, made: make(from) }
    return kept.made
  }
}
