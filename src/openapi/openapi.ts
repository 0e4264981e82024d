// The OpenAPI endpoints: `/openapi/v2` with one document, and `/openapi/v3` with an index and a document for each group
// version. Documents are created on first use, and again only when their kinds have changed. HTTP is not known here: an
// endpoint takes the relevant parts of a request and returns a status, headers and bytes.
import { keptBy } from '../base/memo.js'
import { addressOf, createDocuments, type Document, type DocumentSource } from './documents/documents.js'
import { type Content, type ContentRequest, type ContentResponse, needsBody, serveContent } from './serve-content.js'

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

export interface OpenApiRequest extends ContentRequest {
  /** The types of the Accept header, the preferred one first; anything if there is no such header, none if it names none. */
  readonly accepts: readonly { readonly type: string; readonly subtype: string }[]
  /** The `hash` query parameter. */
  readonly hash: string | undefined
}

export type OpenApiResponse = ContentResponse

export function createOpenApi(options: OpenApiOptions): OpenApi {
  const { now = Date.now } = options
  const documents = createDocuments(options)
  /** A document is as old as the first request for it. */
  const modifiedAt = keptBy((_document: object) => now())

  const contentOf = (document: Document, { mediaType, isProtobuf }: DocumentFormat, more: Headers = {}): Content => ({
    etag: quoted(document.etag),
    modified: modifiedAt(document),
    headers: { 'content-type': mediaType, vary: 'Accept', ...more },
    body: isProtobuf ? document.protobuf : document.json,
  })

  /** Creates a document, unless the client has the current one. */
  async function prepare(document: Document, version: 2 | 3, request: OpenApiRequest): Promise<void> {
    const format = negotiate(request, version)
    if (format && needsBody(request, contentOf(document, format))) await document.prepare(format.isProtobuf)
  }

  const everything: OpenApiPage = {
    async prepare(request) {
      await documents.prepareHashes()
      await prepare(documents.v2(), 2, request)
    },
    respond(request) {
      const format = negotiate(request, 2)
      // This document alone is compressed by kube-apiserver, whose answers say so in every case.
      const headers = { vary: 'Accept-Encoding, Accept' }
      return format ? serveContent(request, contentOf(documents.v2(), format, headers)) : empty(406, headers)
    },
  }

  const index: OpenApiPage = {
    prepare: documents.prepareHashes,
    respond(request) {
      const current = documents.index()
      // kube-apiserver sets no content type, so Go detects this one from the bytes.
      const headers = { 'content-type': 'text/plain; charset=utf-8' }
      const { etag, json } = current
      return serveContent(request, { etag: quoted(etag), modified: modifiedAt(current), headers, body: () => json })
    },
  }

  const page = (path: string): OpenApiPage => ({
    async prepare(request) {
      const document = documents.v3(path)
      if (document) await prepare(document, 3, request)
    },
    respond(request) {
      const document = documents.v3(path)
      if (!document) return empty(404)
      if (request.accepts.length === 0) return empty(200)
      const format = negotiate(request, 3)
      if (!format) return empty(406, { vary: 'Accept' })
      const { hash } = request
      if (!hash) return serveContent(request, contentOf(document, format))
      if (hash !== document.etag) {
        const headers = { 'content-type': format.mediaType, etag: quoted(document.etag), vary: 'Accept' }
        return empty(301, { ...headers, location: addressOf(path, document.etag) })
      }
      const expires = new Date(now())
      expires.setUTCFullYear(expires.getUTCFullYear() + 1)
      // A document that is requested by its hash never changes.
      const lasting = { 'cache-control': 'public, immutable', expires: expires.toUTCString() }
      return serveContent(request, contentOf(document, format, lasting))
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

// ---- responses

type Headers = OpenApiResponse['headers']

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

const empty = (status: number, headers: Headers = {}): OpenApiResponse => ({
  status,
  headers,
  body: Buffer.alloc(0),
})

const quoted = (etag: string): string => `"${etag}"`
