// The pages of OpenAPI: `/openapi/v2` with everything, and `/openapi/v3` with an index and a document for each group
// version. Documents are made when they are first asked for, and again only when their kinds have changed. This room
// knows nothing of HTTP: a page takes what it wants to know of a request, and answers with a status, headers and bytes.
import { addressOf, createDocuments, type Document, type DocumentSource } from './documents/documents.js'

export interface OpenApiOptions extends DocumentSource {
  readonly now?: (() => number) | undefined
}

export interface OpenApi {
  /** The page at a path; undefined if there is none. */
  find(path: string): OpenApiPage | undefined
}

export interface OpenApiPage {
  /** Works out what the answer takes, in turns with others. Without it the answer is the same, but all at once. */
  prepare(request: OpenApiRequest): Promise<void>
  answer(request: OpenApiRequest): OpenApiAnswer
}

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

  const everything: OpenApiPage = {
    async prepare(request) {
      await documents.prepareHashes()
      await prepare(documents.v2(), negotiate(request, 2), request)
    },
    answer(request) {
      const form = negotiate(request, 2)
      return form ? show(documents.v2(), form, request.ifNoneMatch, {}) : empty(406)
    },
  }

  const index: OpenApiPage = {
    prepare: documents.prepareHashes,
    answer({ ifNoneMatch }) {
      const { etag, json } = documents.index()
      // The reference server lets the type be guessed from the bytes, and that is what it comes to.
      const headers = { 'content-type': 'text/plain; charset=utf-8', etag: quoted(etag) }
      return isKnown(etag, ifNoneMatch) ? empty(304, { etag: quoted(etag) }) : { status: 200, headers, body: json }
    },
  }

  const page = (path: string): OpenApiPage => ({
    async prepare(request) {
      const document = documents.v3(path)
      if (document) await prepare(document, negotiate(request, 3), request)
    },
    answer(request) {
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
  form: DocumentForm | undefined,
  { ifNoneMatch }: OpenApiRequest,
): Promise<void> {
  // Nothing has to be made for a client that has it already.
  if (form && !isKnown(document.etag, ifNoneMatch)) await document.prepare(form.isProtobuf)
}

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
  const body = isProtobuf ? document.protobuf() : document.json()
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
