// /statusz and /flagz: text for people, and a structured form for clients that name its kind and version in Accept.
import { noneAcceptable } from '../../meta/errors/status.js'
import type { ValueObject } from '../../meta/values/value.js'
import { encodeValue } from '../../response/encode-value.js'
import { type AcceptedType, parseAccept } from '../negotiation/media-types.js'
import { isForPeople } from '../negotiation/negotiation.js'
import type { PathHandler, PathRequest } from './paths.js'

export interface ComponentPage {
  /** `Statusz` or `Flagz`. */
  readonly kind: string
  text(): string
  /** The members beside apiVersion, kind and metadata. */
  value(): ValueObject
}

const COMPONENT = 'apiserver'
const GROUP = 'config.k8s.io'
const VERSIONS = ['v1beta1', 'v1alpha1']
const DEPRECATED = 'v1alpha1'
const ENCODINGS = ['json', 'yaml', 'cbor'] as const
const MEDIA_TYPES = ['application/json', 'application/yaml', 'text/plain', 'application/cbor']
const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.'

type Encoding = (typeof ENCODINGS)[number]

export const showComponentPage =
  (page: ComponentPage): PathHandler =>
  request => {
    const form = formOf(request, page.kind)
    if (form === 'text') {
      const text = `\n${COMPONENT} ${page.kind.toLowerCase()}\n${WARNING}\n${page.text()}`
      return request.reply.send(200, { 'content-type': 'text/plain; charset=utf-8' }, text)
    }
    const { encoding, version } = form
    const value = {
      kind: page.kind,
      apiVersion: `${GROUP}/${version}`,
      metadata: { name: COMPONENT },
      ...page.value(),
    }
    const headers = { 'content-type': `application/${encoding};g=${GROUP};v=${version};as=${page.kind}` }
    const old = `299 - "This version of the ${page.kind.toLowerCase()} endpoint is deprecated. Please use a newer version."`
    request.reply.send(
      200,
      version === DEPRECATED ? { ...headers, warning: old } : headers,
      encodeValue(value, { encoding, pretty: isForPeople(request.reply.exchange.headers, request.info.query) }),
    )
  }

type Form = 'text' | { readonly encoding: Encoding; readonly version: string }

function formOf({ reply }: PathRequest, kind: string): Form {
  const { accept = '' } = reply.exchange.headers
  if (accept === '') return 'text'
  for (const wanted of parseAccept(accept)) {
    const form = isText(wanted) ? 'text' : structured(wanted, kind)
    if (form) return form
  }
  throw noneAcceptable(MEDIA_TYPES)
}

const isText = ({ type, subtype, parameters }: AcceptedType): boolean =>
  !parameters.has('as') && ((type === '*' && subtype === '*') || (type === 'text' && ['plain', '*'].includes(subtype)))

function structured({ type, subtype, parameters }: AcceptedType, kind: string): Form | undefined {
  const encoding = type === 'application' ? ENCODINGS.find(each => each === subtype) : undefined
  const version = VERSIONS.find(each => each === parameters.get('v'))
  const isNamed = parameters.get('as') === kind && parameters.get('g') === GROUP
  return encoding && version && isNamed ? { encoding, version } : undefined
}
