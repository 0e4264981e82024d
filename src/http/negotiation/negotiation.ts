// Content negotiation: the format of a response and that of a body, from the headers and what an endpoint offers.

import type { IncomingHttpHeaders } from 'node:http'
import { genericResponse, noneAcceptable, unsupportedMediaType } from '../../meta/errors/status.js'
import {
  type Encoding,
  MEDIA_TYPES,
  type OutputFormat,
  type ShownAs,
  WATCH_TYPES,
} from '../../response/output-format.js'
import { type AcceptedType, parseAccept, parseContentType } from './media-types.js'

/** What an endpoint offers. One value for each kind of endpoint, because results are cached by it. */
export interface Offer {
  /** In order of preference, which is also that of messages. */
  readonly encodings: readonly Encoding[]
  allows(encoding: Encoding, as: Requested | undefined): boolean
  /** The version of the server's own kinds that the parameter `sv` may name. */
  readonly serverVersion?: string
}

/** The kind that a response is converted to, from the parameters of a media type. */
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

/** Objects of kinds without protobuf; the kinds that they are converted to have it. */
export const UNTYPED_OBJECTS: Offer = {
  encodings: ALL,
  serverVersion: 'v1',
  allows: (encoding, as) => (as === undefined ? encoding !== 'protobuf' : allowsTransform(encoding, as)),
}

/** Objects of virtual resources, which have no columns of a Table. */
export const VIRTUAL_OBJECTS: Offer = {
  ...TYPED_OBJECTS,
  allows: (encoding, as) => as?.kind !== 'Table' && TYPED_OBJECTS.allows(encoding, as),
}

/** Documents, which are not converted. */
export const documents = (...encodings: Encoding[]): Offer => ({ encodings, allows: (_, as) => as === undefined })

function allowsTransform(encoding: Encoding, { kind, group, version }: Requested): boolean {
  if (group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return false
  if (kind === 'Table') return encoding === 'json' || encoding === 'yaml'
  return kind === 'PartialObjectMetadata' || kind === 'PartialObjectMetadataList'
}

/** The parts of a request that decide on the format of its response. */
export interface RequestOptions {
  readonly headers: IncomingHttpHeaders
  readonly query: URLSearchParams
  /** Whether the server speaks CBOR, which is a feature gate. */
  readonly cbor: boolean
}

/** The encodings of which CBOR is left out if the server does not speak it. */
const spoken = (encodings: readonly Encoding[], cbor: boolean): readonly Encoding[] =>
  cbor ? encodings : encodings.filter(encoding => encoding !== 'cbor')

const isCbor = (type: string): boolean => type.startsWith('application/cbor') || type.endsWith('+cbor')

/** The same for media types, those of streams and patches included. */
export const spokenTypes = (types: readonly string[], cbor: boolean): readonly string[] =>
  cbor ? types : types.filter(type => !isCbor(type))

/** Offers without CBOR. */
const withoutCbor = new WeakMap<Offer, Offer>()

function spokenOffer(offer: Offer, cbor: boolean): Offer {
  if (cbor) return offer
  let rest = withoutCbor.get(offer)
  if (!rest) withoutCbor.set(offer, (rest = { ...offer, encodings: spoken(offer.encodings, false) }))
  return rest
}

/** The format of the response; a 406 if there is none. */
export function negotiateFormat(request: RequestOptions, offer: Offer): OutputFormat {
  const form = findFormat(request, offer)
  if (!form) throw noneAcceptable(spoken(offer.encodings, request.cbor).map(encoding => MEDIA_TYPES[encoding]))
  return form
}

/** Refuses encodings that have no stream of events. */
export function checkWatchFormat({ encoding }: OutputFormat, cbor = true): void {
  if (WATCH_TYPES[encoding] === undefined) throw noneAcceptable(spokenTypes(STREAM_TYPES, cbor))
}

const STREAM_TYPES = [
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
  'application/cbor-seq',
]

/** The format of the response, if there is one. */
export function findFormat({ headers, query, cbor }: RequestOptions, offer: Offer): OutputFormat | undefined {
  const found = findAccepted(headers.accept ?? '', spokenOffer(offer, cbor))
  if (!found || found.pretty || found.encoding !== 'json') return found
  return isForPeople(headers, query) ? { ...found, pretty: true } : found
}

/** Indentation: by the parameter `pretty`, else for curl, wget and browsers. */
export function isForPeople(headers: IncomingHttpHeaders, query: URLSearchParams): boolean {
  const requested = query.get('pretty')
  if (requested) return TRUE.has(requested)
  const agent = headers['user-agent'] ?? ''
  return agent.startsWith('curl') || agent.startsWith('Wget') || agent.startsWith('Mozilla/5.0')
}

const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])

// ---- Accept

/** Results by Accept header: clients send few different ones. */
const known = new WeakMap<Offer, Map<string, OutputFormat | undefined>>()
const MAX_KNOWN = 200

function findAccepted(accept: string, offer: Offer): OutputFormat | undefined {
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

function matchAccept(accept: string, offer: Offer): OutputFormat | undefined {
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

/** The encoding with the parameters of the media type; undefined if the offer does not allow them. */
function formOf(parameters: ReadonlyMap<string, string>, encoding: Encoding, offer: Offer): OutputFormat | undefined {
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

/** Only kinds that an offer allows get here. */
const shownAs = ({ kind, group, version }: Requested): ShownAs =>
  ({ kind, apiVersion: `${group}/${version}` }) as unknown as ShownAs

// ---- checks of the routes of built-in kinds

/** The Accept header must name a type that the route produces, or a wildcard. */
export function checkRouteAccepts(
  headers: IncomingHttpHeaders,
  encodings: readonly Encoding[],
  streams: boolean,
  cbor = true,
  others: readonly string[] = [],
): void {
  // The most frequent headers.
  if (headers.accept === undefined || headers.accept === MEDIA_TYPES.json) return
  const all = [...others, ...encodings.map(encoding => MEDIA_TYPES[encoding]), ...(streams ? STREAM_TYPES : [])]
  checkAccepts(headers, spokenTypes(all, cbor))
}

/** The same for a route that produces these types. */
export function checkAccepts(headers: IncomingHttpHeaders, produced: readonly string[]): void {
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

/** The media type of a body; a 415 if the server cannot decode it. */
export function bodyType({ 'content-type': header = '' }: IncomingHttpHeaders, types: readonly string[]): string {
  const type = header === '' ? MEDIA_TYPES.json : parseContentType(header)
  if (type === undefined || !types.includes(type)) throw unsupportedMediaType(types)
  return type
}

/** The media type of a patch, compared as text. */
export function patchType({ 'content-type': header = '' }: IncomingHttpHeaders, types: readonly string[]): string {
  const end = header.indexOf(';')
  const type = end > 0 ? header.slice(0, end) : header
  if (!types.includes(type)) throw unsupportedMediaType(types)
  return type
}
