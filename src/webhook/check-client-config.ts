// Validates a webhook's clientConfig: exactly one of url and service, each with valid parts.

import { X509Certificate } from 'node:crypto'
import { pemBlocks } from '../base/pem.js'
import { childPath, type FieldError, fieldInvalid, fieldRequired } from '../meta/errors/field-errors.js'
import { quote } from '../meta/go/go-text.js'
import { checkDnsSubdomain } from '../meta/object/names.js'
import type { ClientConfig } from './client-config.js'

/** Checks everything but the caBundle. */
export function checkClientConfig({ url, service }: ClientConfig, path: string): FieldError[] {
  const errors: FieldError[] = []
  if ((url === undefined) === (service === undefined)) {
    errors.push(fieldRequired(path, 'exactly one of url or service is required'))
  } else if (url !== undefined) errors.push(...checkUrl(url, childPath(path, 'url')))
  else if (service) errors.push(...checkService(service, childPath(path, 'service')))
  return errors
}

const URL_FORMAT = '; desired format: https://host[/path]'

function checkUrl(text: string, path: string): FieldError[] {
  const [, scheme = '', rest = ''] = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(.*)$/s.exec(text) ?? []
  const [, authority = ''] = /^\/\/([^/?#]*)/.exec(rest) ?? []
  const error = urlError(text, scheme, authority)
  if (error) return [fieldRequired(path, `url must be a valid URL: parse ${quote(text)}: ${error}${URL_FORMAT}`)]
  const user = authority.includes('@') ? authority.slice(0, authority.lastIndexOf('@')) : undefined
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  const [, fragment = ''] = /#(.*)$/s.exec(rest) ?? []
  const [, query = ''] = /^[^#]*?\?([^#]*)/s.exec(rest) ?? []
  const errors: FieldError[] = []
  if (scheme.toLowerCase() !== 'https')
    errors.push(fieldInvalid(path, scheme.toLowerCase(), `'https' is the only allowed URL scheme${URL_FORMAT}`))
  if (host === '') errors.push(fieldInvalid(path, host, `host must be specified${URL_FORMAT}`))
  if (user !== undefined) errors.push(fieldInvalid(path, user, 'user information is not permitted in the URL'))
  if (fragment !== '') errors.push(fieldInvalid(path, fragment, 'fragments are not permitted in the URL'))
  if (query !== '') errors.push(fieldInvalid(path, query, 'query parameters are not permitted in the URL'))
  return errors
}

/** Why a text is not a URL, in Go's words; undefined if it is one. */
function urlError(text: string, scheme: string, authority: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\x00-\x1f\x7f]/.test(text)) return 'net/url: invalid control character in URL'
  if (text.startsWith(':')) return 'missing protocol scheme'
  if (scheme === '' && /^[^/?#]*:/.test(text)) return 'first path segment in URL cannot contain colon'
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  if (host.includes(' ')) return `invalid character " " in host name`
  const [, port] = /:([^:\]]*)$/.exec(host) ?? []
  if (port !== undefined && !/^[0-9]*$/.test(port)) return `invalid port ${quote(`:${port}`)} after host`
  const [escape] = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(text) ?? []
  return escape === undefined ? undefined : `invalid URL escape ${quote(escape)}`
}

function checkService(
  { namespace, name, path: urlPath, port = 443 }: NonNullable<ClientConfig['service']>,
  path: string,
): FieldError[] {
  const errors: FieldError[] = []
  // kube-apiserver reports the wrong field name for each; the messages are kept as clients know them.
  if (namespace === '') errors.push(fieldRequired(childPath(path, 'name')))
  if (name === '') errors.push(fieldRequired(childPath(path, 'namespace')))
  if (port < 1 || port > 65535) {
    errors.push(
      fieldInvalid(childPath(path, 'port'), port, 'port is not valid: must be between 1 and 65535, inclusive'),
    )
  }
  return [...errors, ...checkServicePath(urlPath ?? '', childPath(path, 'path'))]
}

function checkServicePath(text: string, path: string): FieldError[] {
  if (text === '' || text === '/') return []
  if (text === '//') return [fieldInvalid(path, text, 'segment[0] may not be empty')]
  const errors = text.startsWith('/') ? [] : [fieldInvalid(path, text, "must start with a '/'")]
  const segments = text.slice(1).replace(/\/$/, '').split('/')
  for (const [i, segment] of segments.entries()) {
    if (segment === '') errors.push(fieldInvalid(path, text, `segment[${i}] may not be empty`))
    else {
      const segmentErrors = checkDnsSubdomain(segment)
      errors.push(...segmentErrors.map(error => fieldInvalid(path, text, `segment[${i}]: ${error}`)))
    }
  }
  return errors
}

/** Checks that the caBundle is empty or has readable certificates. */
export function checkCaBundle(bundle: string, path: string): FieldError[] {
  if (bundle === '') return []
  const error = caError(Buffer.from(bundle, 'base64').toString('latin1'))
  return error === undefined ? [] : [fieldInvalid(path, bundle, `unable to load root certificates: ${error}`)]
}

/** Whether the certificates of a bundle (base64 of PEM) can be used. */
export const isUsableCa = (bundle: string): boolean =>
  bundle === '' || caError(Buffer.from(bundle, 'base64').toString('latin1')) === undefined

function caError(pem: string): string | undefined {
  const blocks = pemBlocks(pem).filter(({ label, hasHeaders }) => label === 'CERTIFICATE' && !hasHeaders)
  if (blocks.length === 0) return 'unable to parse bytes as PEM block'
  for (const { content } of blocks) {
    try {
      void new X509Certificate(content)
    } catch {
      return 'failed to parse certificate: x509: malformed certificate'
    }
  }
  return undefined
}
