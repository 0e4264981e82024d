// The pages of OpenAPI: `/openapi/v2` with everything, and `/openapi/v3` with an index and a document for each group
// version. Documents are made when they are first asked for, and again only when their kinds have changed. This room
// knows nothing of HTTP: a page takes what it wants to know of a request, and answers with a status, headers and bytes.
import { createHash } from 'node:crypto'
import type { TypeTable } from '../builtin/type-table.js'
import type { Registry } from '../kinds/registry.js'
import { V2, V3 } from './dialect.js'
import { joinPieces, makePiece, type Piece, versionPiece } from './document-v2.js'
import { infoOf, printDocument, versionDocument } from './document-v3.js'
import { encodeV2, encodeV3 } from './gnostic.js'
import { pageOperations } from './page-documents.js'
import { type ExtraResources, type PublishedVersion, publishedVersions } from './published-versions.js'
import { typeSchemas } from './type-schemas.js'

export interface OpenApiOptions {
  readonly registry: Registry
  /** The types of the built-in kinds. */
  readonly types: () => TypeTable
  /** What is served besides the kinds of the registry: kinds that are not stored, and further subresources. */
  readonly extras?: ExtraResources | undefined
  /** `v1.36.4`. */
  readonly serverVersion: string
  readonly now?: (() => number) | undefined
}

export interface OpenApi {
  /** The page at a path; undefined if there is none. */
  find(path: string): OpenApiPage | undefined
}

export type OpenApiPage = (request: OpenApiRequest) => OpenApiAnswer

export interface OpenApiRequest {
  /** The types of the Accept header, the most wanted first; anything if there is no such header. */
  readonly accepts: readonly { readonly type: string; readonly subtype: string }[]
  readonly ifNoneMatch: string | undefined
  /** The query parameter of that name. */
  readonly hash: string | undefined
}

export interface OpenApiAnswer {
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export function createOpenApi(options: OpenApiOptions): OpenApi {
  const { now = Date.now } = options
  const documents = createDocuments(options)

  const everything: OpenApiPage = request => {
    const form = negotiate(request, 2)
    return form ? show(documents.v2(), form, request.ifNoneMatch, {}) : empty(406)
  }

  const index: OpenApiPage = request => {
    const { etag, json } = documents.index()
    // The reference server lets the type be guessed from the bytes, and that is what it comes to.
    const headers = { 'content-type': 'text/plain; charset=utf-8', etag: quoted(etag) }
    return isKnown(etag, request.ifNoneMatch)
      ? empty(304, { etag: quoted(etag) })
      : { status: 200, headers, body: json }
  }

  const page =
    (path: string): OpenApiPage =>
    request => {
      const document = documents.v3(path)
      if (!document) return empty(404)
      const form = negotiate(request, 3)
      if (!form) return empty(406)
      const { hash, ifNoneMatch } = request
      if (!hash) return show(document, form, ifNoneMatch, {})
      if (hash !== document.etag) {
        const headers = { 'content-type': form.mediaType, etag: quoted(document.etag), vary: 'Accept' }
        return empty(301, { ...headers, location: addressOf(path, document.etag) })
      }
      const expires = new Date(now())
      expires.setUTCFullYear(expires.getUTCFullYear() + 1)
      // What is asked for by its hash never changes.
      const lasting = { 'cache-control': 'public, immutable', expires: expires.toUTCString() }
      return show(document, form, ifNoneMatch, lasting)
    }

  return {
    find(path) {
      if (path === '/openapi/v2') return everything
      if (path === '/openapi/v3') return index
      return path.startsWith('/openapi/v3/') ? page(path.slice('/openapi/v3/'.length)) : undefined
    },
  }
}

// ---- documents

interface Document {
  readonly etag: string
  readonly json: Buffer
  /** Made from the JSON when it is first asked for. */
  protobuf(): Buffer
}

interface Documents {
  v2(): Document
  /** By the path in the index: `api/v1`, `apis/apps/v1`. */
  v3(path: string): Document | undefined
  index(): { readonly etag: string; readonly json: Buffer }
}

function createDocuments({ registry, types, extras = {}, serverVersion }: OpenApiOptions): Documents {
  const versions = once(() => publishedVersions(registry, types(), extras))
  const schemas = once(() => ({ v2: typeSchemas(types(), V2), v3: typeSchemas(types(), V3) }))

  const ofVersion = keptBy((version: PublishedVersion) =>
    createDocument(versionDocument(version, schemas().v3, serverVersion), encodeV3),
  )
  const pieceOf = keptBy((version: PublishedVersion): Piece => versionPiece(version, schemas().v2))

  const byPath = keptWhile(
    () => versions().all(),
    (all): Map<string, () => Document> => {
      const pages = [...pageOperations(all)].map(([path, operations]): [string, () => Document] => [
        path,
        once(() =>
          createDocument(printDocument(infoOf(false, serverVersion), operations, schemas().v3, true), encodeV3),
        ),
      ])
      return new Map([
        ...pages,
        ...all.map((version): [string, () => Document] => [pathOf(version), () => ofVersion(version)]),
      ])
    },
  )

  const whole = keptWhile(
    () => versions().all(),
    all => {
      const pages = [...pageOperations(all).values()].map(operations => makePiece(operations, schemas().v2))
      return createDocument(joinPieces([...pages, ...all.map(pieceOf)], serverVersion), encodeV2)
    },
  )

  const index = keptWhile(byPath, all => {
    const paths = [...all]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, document]) => [path, { serverRelativeURL: addressOf(path, document().etag) }])
    const json = Buffer.from(JSON.stringify({ paths: Object.fromEntries(paths) as unknown }))
    return { etag: hashOf(json), json }
  })

  return { v2: whole, v3: path => byPath().get(path)?.(), index }
}

const pathOf = ({ group, apiVersion }: PublishedVersion): string =>
  group === '' ? `api/${apiVersion}` : `apis/${apiVersion}`

const addressOf = (path: string, hash: string): string => `/openapi/v3/${path}?hash=${hash}`

function createDocument(text: string, encode: (json: Buffer) => Buffer): Document {
  const json = Buffer.from(text)
  return { etag: hashOf(json), json, protobuf: once(() => encode(json)) }
}

const hashOf = (bytes: Buffer): string => createHash('sha512').update(bytes).digest('hex').toUpperCase()

// ---- answers

interface DocumentForm {
  readonly mediaType: string
  readonly isProtobuf: boolean
}

/** The first type that is accepted and can be had. */
function negotiate({ accepts }: OpenApiRequest, version: 2 | 3): DocumentForm | undefined {
  const name = `com.github.proto-openapi.spec.v${version}`
  const protobuf = `${name}.v1.0+protobuf`
  for (const { type, subtype } of accepts) {
    if (type !== 'application' && type !== '*') continue
    if (subtype === 'json' || subtype === '*') return { mediaType: 'application/json', isProtobuf: false }
    // Its name was once spelt so that it was no proper media type; clients still ask for it by that.
    if (subtype === protobuf || subtype === `${name}@v1.0+protobuf`)
      return { mediaType: `application/${protobuf}`, isProtobuf: true }
  }
  return undefined
}

function show(
  document: Document,
  { mediaType, isProtobuf }: DocumentForm,
  ifNoneMatch: string | undefined,
  more: OpenApiAnswer['headers'],
): OpenApiAnswer {
  const headers = { etag: quoted(document.etag), vary: 'Accept', ...more }
  if (isKnown(document.etag, ifNoneMatch)) return empty(304, headers)
  const body = isProtobuf ? document.protobuf() : document.json
  return { status: 200, headers: { 'content-type': mediaType, ...headers }, body }
}

const empty = (status: number, headers: OpenApiAnswer['headers'] = {}): OpenApiAnswer => ({
  status,
  headers,
  body: Buffer.alloc(0),
})

const quoted = (etag: string): string => `"${etag}"`

/** Whether the client has it already, as the rules of If-None-Match have it. */
function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false
  const tags = ifNoneMatch.split(',').map(tag => tag.trim())
  return tags.some(tag => tag === '*' || tag === quoted(etag) || tag === `W/${quoted(etag)}`)
}

// ---- what is kept

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** Made once for each source, and gone with it. */
function keptBy<Source extends object, T>(make: (source: Source) => T): (source: Source) => T {
  const kept = new WeakMap<Source, { readonly made: T }>()
  return source => {
    let found = kept.get(source)
    if (found === undefined) {
      found = { made: make(source) }
      kept.set(source, found)
    }
    return found.made
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
