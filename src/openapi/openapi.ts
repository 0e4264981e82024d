// The OpenAPI endpoints: `/openapi/v2` with one document, and `/openapi/v3` with an index and a document for each group
// version. Documents are created on first use, and again only when their kinds have changed. HTTP is not known here: an
// endpoint takes the relevant parts of a request and returns a status, headers and bytes.
import { addressOf, createDocuments, type Document, type DocumentSource } from './documents/documents.js'

export type { ExtraResource } from './operations/published-versions.js'

export interface OpenApiOptions extends DocumentSource {
  readonly now?: (() => number) | undefined
}

export interface OpenApi {
  /** The endpoint at a path; undefined if there is none. */
  find(path: string): OpenApiPage | undefined
}

export interface OpenApiPage {
  /** Prepares the response in small steps that yield to other requests. Without it, `answer` does all work at once. */
  prepare(request: OpenApiRequest): Promise<void>
  respond(request: OpenApiRequest): OpenApiResponse
}

export interface OpenApiRequest {
  /** The types of the Accept header, the preferred one first; anything if there is no such header. */
  readonly accepts: readonly { readonly type: string; readonly subtype: string }[]
  readonly ifNoneMatch: string | undefined
  /** The `hash` query parameter. */
  readonly hash: string | undefined
}

export interface OpenApiResponse {
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export function createOpenApi(options: OpenApiOptions): OpenApi {
  const { now = Date.now } = options
  const documents = createDocuments(options)

  const everything: OpenApiPage = {
    async prepare(request) {
      await documents.prepareHashes()
      await prepare(documents.v2(), negotiate(request, 2), request)
    },
    respond(request) {
      const format = negotiate(request, 2)
      return format ? respond(documents.v2(), format, request.ifNoneMatch, {}) : empty(406)
    },
  }

  const index: OpenApiPage = {
    prepare: documents.prepareHashes,
    respond({ ifNoneMatch }) {
      const { etag, json } = documents.index()
      // kube-apiserver sets no content type, so Go detects this one from the bytes.
      const headers = { 'content-type': 'text/plain; charset=utf-8', etag: quoted(etag) }
      return clientHas(etag, ifNoneMatch) ? empty(304, { etag: quoted(etag) }) : { status: 200, headers, body: json }
    },
  }

  const page = (path: string): OpenApiPage => ({
    async prepare(request) {
      const document = documents.v3(path)
      if (document) await prepare(document, negotiate(request, 3), request)
    },
    respond(request) {
      const document = documents.v3(path)
      if (!document) return empty(404)
      const format = negotiate(request, 3)
      if (!format) return empty(406)
      const { hash, ifNoneMatch } = request
      if (!hash) return respond(document, format, ifNoneMatch, {})
      if (hash !== document.etag) {
        const headers = { 'content-type': format.mediaType, etag: quoted(document.etag), vary: 'Accept' }
        return empty(301, { ...headers, location: addressOf(path, document.etag) })
      }
      const expires = new Date(now())
      expires.setUTCFullYear(expires.getUTCFullYear() + 1)
      // A document that is requested by its hash never changes.
      const lasting = { 'cache-control': 'public, immutable', expires: expires.toUTCString() }
      return respond(document, format, ifNoneMatch, lasting)
    },
  })

  return {
    find(path) {
      if (path === '/openapi/v2') return everything
      if (path === '/openapi/v3') return index
      return path.startsWith('/openapi/v3/') ? page(path.slice('/openapi/v3/'.length)) : undefined
    },
  }
}

async function prepare(
  document: Document,
  format: DocumentFormat | undefined,
  { ifNoneMatch }: OpenApiRequest,
): Promise<void> {
  // A client that has the current document gets a 304, so nothing has to be created.
  if (format && !clientHas(document.etag, ifNoneMatch)) await document.prepare(format.isProtobuf)
}

// ---- responses

interface DocumentFormat {
  readonly mediaType: string
  readonly isProtobuf: boolean
}

/** The first accepted type that is available. */
function negotiate({ accepts }: OpenApiRequest, version: 2 | 3): DocumentFormat | undefined {
  const name = `com.github.proto-openapi.spec.v${version}`
  const protobuf = `${name}.v1.0+protobuf`
  for (const { type, subtype } of accepts) {
    if (type !== 'application' && type !== '*') continue
    if (subtype === 'json' || subtype === '*') return { mediaType: 'application/json', isProtobuf: false }
    // An earlier spelling that is not a valid media type; clients still send it.
    if (subtype === protobuf || subtype === `${name}@v1.0+protobuf`)
      return { mediaType: `application/${protobuf}`, isProtobuf: true }
  }
  return undefined
}

function respond(
  document: Document,
  { mediaType, isProtobuf }: DocumentFormat,
  ifNoneMatch: string | undefined,
  more: OpenApiResponse['headers'],
): OpenApiResponse {
  const headers = { etag: quoted(document.etag), vary: 'Accept', ...more }
  if (clientHas(document.etag, ifNoneMatch)) return empty(304, headers)
  const body = isProtobuf ? document.protobuf() : document.json()
  return { status: 200, headers: { 'content-type': mediaType, ...headers }, body }
}

const empty = (status: number, headers: OpenApiResponse['headers'] = {}): OpenApiResponse => ({
  status,
  headers,
  body: Buffer.alloc(0),
})

const quoted = (etag: string): string => `"${etag}"`

/** Whether the client has the current version, by the rules of If-None-Match. */
function clientHas(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false
  const tags = ifNoneMatch.split(',').map(tag => tag.trim())
  return tags.some(tag => tag === '*' || tag === quoted(etag) || tag === `W/${quoted(etag)}`)
}
