// In which form an answer goes out, and in which a body comes in: what the headers ask for, against what is offered.

import type { IncomingHttpHeaders } from 'node:http'
import { genericResponse, noneAcceptable, unsupportedMediaType } from '../../meta/errors/status.js'
import { BODY_TYPES } from '../../request/body.js'
import { type Encoding, type Form, MEDIA_TYPES, type ShownAs, WATCH_TYPES } from '../../response/output-format.js'
import { type AcceptedType, parseAccept, parseContentType } from './media-types.js'

/** What can be had at an endpoint. One value for each kind of endpoint: what was worked out for it is kept by it. */
export interface Offer {
  /** In order of preference; also the order in which clients are told. */
  readonly encodings: readonly Encoding[]
  allows(encoding: Encoding, as: Requested | undefined): boolean
  /** The version of the server's own kinds that may be asked for by `sv`. */
  readonly serverVersion?: string
}

/** The kind that an answer shall be converted to, as the parameters of a media type name it. */
export interface Requested {
  readonly kind: string
  readonly group: string
  readonly version: string
}

const ALL: readonly Encoding[] = ['json', 'yaml', 'protobuf', 'cbor']

/** Objects of kinds that have protobuf. */
export const TYPED_OBJECTS: Offer = {
  encodings: ALL,
  serverVersion: 'v1',
  allows: (encoding, as) => as === undefined || allowsTransform(encoding, as),
}

/** Objects of kinds that have none; what they are converted to has it. */
export const UNTYPED_OBJECTS: Offer = {
  encodings: ALL,
  serverVersion: 'v1',
  allows: (encoding, as) => (as === undefined ? encoding !== 'protobuf' : allowsTransform(encoding, as)),
}

/** Documents that are what they are. */
export const documents = (...encodings: Encoding[]): Offer => ({ encodings, allows: (_, as) => as === undefined })

function allowsTransform(encoding: Encoding, { kind, group, version }: Requested): boolean {
  if (group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return false
  if (kind === 'Table') return encoding === 'json' || encoding === 'yaml'
  return kind === 'PartialObjectMetadata' || kind === 'PartialObjectMetadataList'
}

/** What a request says on the form of its answer. */
export interface RequestOptions {
  readonly headers: IncomingHttpHeaders
  readonly query: URLSearchParams
}

/** The form in which the endpoint answers this request; a 406 if there is none. */
export function negotiateForm(wishes: RequestOptions, offer: Offer): Form {
  const form = findForm(wishes, offer)
  if (!form) throw noneAcceptable(offer.encodings.map(encoding => MEDIA_TYPES[encoding]))
  return form
}

/** A watch can be had in those encodings only that can follow one another. */
export function checkWatchForm({ encoding }: Form): void {
  if (WATCH_TYPES[encoding] === undefined) throw noneAcceptable(STREAM_TYPES)
}

const STREAM_TYPES = [
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
  'application/cbor-seq',
]

/** The form in which the endpoint answers this request, if there is one. */
export function findForm({ headers, query }: RequestOptions, offer: Offer): Form | undefined {
  const found = findAccepted(headers.accept ?? '', offer)
  if (!found || found.pretty || found.encoding !== 'json') return found
  return isForPeople(headers, query) ? { ...found, pretty: true } : found
}

/** By the parameter if there is one, else for programs that people sit in front of. */
function isForPeople(headers: IncomingHttpHeaders, query: URLSearchParams): boolean {
  const requested = query.get('pretty')
  if (requested) return TRUE.has(requested)
  const agent = headers['user-agent'] ?? ''
  return agent.startsWith('curl') || agent.startsWith('Wget') || agent.startsWith('Mozilla/5.0')
}

const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])

// ---- Accept

/** What was worked out for the Accept headers seen so far: clients send few different ones, and send them often. */
const known = new WeakMap<Offer, Map<string, Form | undefined>>()
const MAX_KNOWN = 200

function findAccepted(accept: string, offer: Offer): Form | undefined {
  let forms = known.get(offer)
  if (!forms) {
    forms = new Map()
    known.set(offer, forms)
  }
  if (forms.has(accept)) return forms.get(accept)
  if (forms.size >= MAX_KNOWN) forms.clear()
  const form = matchAccept(accept, offer)
  forms.set(accept, form)
  return form
}

function matchAccept(accept: string, offer: Offer): Form | undefined {
  if (accept === '') return { encoding: offer.encodings[0]!, as: undefined, pretty: false }
  for (const wanted of parseAccept(accept)) {
    for (const encoding of offer.encodings) {
      if (!matches(wanted, MEDIA_TYPES[encoding])) continue
      const form = formOf(wanted.parameters, encoding, offer)
      if (form) return form
    }
  }
  return undefined
}

function matches({ type, subtype }: AcceptedType, mediaType: string): boolean {
  if (type === '*') return subtype === '*'
  return mediaType === `${type}/${subtype}` || (subtype === '*' && mediaType.startsWith(`${type}/`))
}

/** The encoding with what the parameters say, if they say nothing that cannot be done. */
function formOf(parameters: ReadonlyMap<string, string>, encoding: Encoding, offer: Offer): Form | undefined {
  const stream = parameters.get('stream') ?? ''
  if (stream !== '' && (stream !== 'watch' || WATCH_TYPES[encoding] === undefined)) return undefined
  const serverVersion = parameters.get('sv') ?? ''
  if (serverVersion !== '' && serverVersion !== offer.serverVersion) return undefined
  const as = requestedFor(parameters)
  if (!offer.allows(encoding, as)) return undefined
  return { encoding, as: as && shownAs(as), pretty: encoding === 'json' && parameters.get('pretty') === '1' }
}

function requestedFor(parameters: ReadonlyMap<string, string>): Requested | undefined {
  if (!parameters.has('as') && !parameters.has('g') && !parameters.has('v')) return undefined
  return {
    kind: parameters.get('as') ?? '',
    group: parameters.get('g') ?? '',
    version: parameters.get('v') ?? '',
  }
}

/** Only those that an offer allows come here; others make sense to whoever offers them, by the kind alone. */
const shownAs = ({ kind, group, version }: Requested): ShownAs =>
  ({ kind, apiVersion: `${group}/${version}` }) as unknown as ShownAs

// ---- what routes of built-in kinds look at before anyone else does

/** The types that such a route produces must be named by the request, or everything be welcome. */
export function checkRouteAccepts(
  headers: IncomingHttpHeaders,
  encodings: readonly Encoding[],
  streams: boolean,
): void {
  // What nearly all requests say.
  if (headers.accept === undefined || headers.accept === MEDIA_TYPES.json) return
  const produced = [...encodings.map(encoding => MEDIA_TYPES[encoding]), ...(streams ? STREAM_TYPES : [])]
  const accept = headers.accept || '*/*'
  for (const part of accept.split(',')) {
    const type = part.split(';', 1)[0]!.trim()
    if (type === '*/*' || produced.includes(type)) return
  }
  throw genericResponse(406, '', `406: Not Acceptable\n\nAvailable representations: ${produced.join(', ')}`)
}

/** The same for the bodies that it consumes. */
export function checkRouteConsumes(headers: IncomingHttpHeaders, types: readonly string[]): void {
  for (const part of (headers['content-type'] || 'application/octet-stream').split(',')) {
    const type = part.split(';', 1)[0]!.trim()
    if (type === '*/*' || types.includes(type)) return
  }
  throw genericResponse(415, '', '415: Unsupported Media Type')
}

// ---- bodies

/** The type of a body that is an object; a 415 if it is none that is read here. */
export function bodyType({ 'content-type': header = '' }: IncomingHttpHeaders): string {
  const type = header === '' ? MEDIA_TYPES.json : parseContentType(header)
  if (type === undefined || !(BODY_TYPES as readonly string[]).includes(type)) throw unsupportedMediaType(BODY_TYPES)
  return type
}

/** The type of a patch, which is compared letter by letter. */
export function patchType({ 'content-type': header = '' }: IncomingHttpHeaders, types: readonly string[]): string {
  const end = header.indexOf(';')
  const type = end > 0 ? header.slice(0, end) : header
  if (!types.includes(type)) throw unsupportedMediaType(types)
  return type
}
