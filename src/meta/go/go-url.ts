// URLs as Go's net/url reads them, with its error messages.

import { failed, parsed, type Result } from '../../base/result.js'
import { quote } from './go-text.js'

export interface GoUrl {
  readonly scheme: string
  readonly opaque: string
  /** With the port, as it was written. */
  readonly host: string
  readonly path: string
  readonly query: string
  readonly fragment: string
  readonly user: string
}

/** An absolute URL or an absolute path, as requests carry them. */
export const parseRequestUri = (text: string): Result<GoUrl> => parseUrl(text, true)

/** Any reference, with its fragment. */
export function parseReference(text: string): Result<GoUrl> {
  const hash = text.indexOf('#')
  const url = parseUrl(hash < 0 ? text : text.slice(0, hash), false)
  return url.ok && hash >= 0 ? parsed({ ...url.value, fragment: text.slice(hash + 1) }) : url
}

function parseUrl(text: string, viaRequest: boolean): Result<GoUrl> {
  const fail = (why: string): Result<never> => failed(`parse ${quote(text)}: ${why}`)
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  if (/[\x00-\x1f\x7f]/.test(text)) return fail('net/url: invalid control character in URL')
  if (text === '' && viaRequest) return fail('empty url')
  const none = { scheme: '', opaque: '', host: '', path: '', query: '', fragment: '', user: '' }
  if (text === '*') return parsed({ ...none, path: '*' })
  if (text.startsWith(':')) return fail('missing protocol scheme')
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)?.[1] ?? ''
  let rest = scheme === '' ? text : text.slice(scheme.length + 1)
  const question = rest.indexOf('?')
  const query = question < 0 ? '' : rest.slice(question + 1)
  if (question >= 0) rest = rest.slice(0, question)
  const url = { ...none, scheme: scheme.toLowerCase(), query }
  if (!rest.startsWith('/')) {
    if (scheme !== '') return parsed({ ...url, opaque: rest })
    if (viaRequest) return fail('invalid URI for request')
    const [segment = ''] = rest.split('/', 1)
    if (segment.includes(':')) return fail('first path segment in URL cannot contain colon')
  }
  let host = ''
  let user = ''
  if ((scheme !== '' || (!viaRequest && !rest.startsWith('///'))) && rest.startsWith('//')) {
    const slash = rest.indexOf('/', 2)
    const authority = rest.slice(2, slash < 0 ? undefined : slash)
    rest = slash < 0 ? '' : rest.slice(slash)
    const at = authority.lastIndexOf('@')
    user = at < 0 ? '' : authority.slice(0, at)
    host = authority.slice(at + 1)
    const error = hostError(host) ?? (at >= 0 && !USER.test(user) ? 'net/url: invalid userinfo' : undefined)
    if (error !== undefined) return fail(error)
  }
  const error = escapeError(rest)
  return error === undefined ? parsed({ ...url, host, user, path: rest }) : fail(error)
}

const USER = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/

function hostError(host: string): string | undefined {
  if (host.startsWith('[')) {
    const close = host.lastIndexOf(']')
    if (close < 0) return "missing ']' in host"
    return portError(host.slice(close + 1))
  }
  const colon = host.lastIndexOf(':')
  if (colon >= 0) {
    const error = portError(host.slice(colon))
    if (error !== undefined) return error
  }
  const bad = /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/.exec(host)?.[0]
  if (bad !== undefined) return `invalid character ${quote(bad)} in host name`
  return escapeError(host)
}

const portError = (port: string): string | undefined =>
  port === '' || /^:[0-9]*$/.test(port) ? undefined : `invalid port ${quote(port)} after host`

function escapeError(text: string): string | undefined {
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(text)?.[0]
  return bad === undefined ? undefined : `invalid URL escape ${quote(bad)}`
}

/** The host without its port and the brackets of an IPv6 address. */
export function hostnameOf({ host }: GoUrl): string {
  const bare = host.replace(/:[0-9]*$/, '')
  return bare.startsWith('[') && bare.endsWith(']') ? bare.slice(1, -1) : host.startsWith('[') ? host : bare
}

export const portOf = ({ host }: GoUrl): string => /:([0-9]*)$/.exec(host.replace(/^\[.*\]/, ''))?.[1] ?? ''

/** The path with everything escaped that has to be. */
export function escapedPath({ path }: GoUrl): string {
  if (path === '*') return '*'
  return path.replace(/%[0-9a-fA-F]{2}|[^A-Za-z0-9\-_.~$&+,/:;=@!'()*[\]]/gu, found =>
    found.length === 3 && found.startsWith('%') ? found : encodeURIComponent(found),
  )
}

/** The values of each parameter; pairs that are malformed are left out. */
export function queryOf({ query }: GoUrl): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>()
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue
    const equals = pair.indexOf('=')
    const key = unescapeQuery(equals < 0 ? pair : pair.slice(0, equals))
    const value = unescapeQuery(equals < 0 ? '' : pair.slice(equals + 1))
    if (key === undefined || value === undefined) continue
    const known = values.get(key)
    if (known) known.push(value)
    else values.set(key, [value])
  }
  return values
}

function unescapeQuery(text: string): string | undefined {
  if (escapeError(text) !== undefined) return undefined
  const bytes = Buffer.from(
    text.replaceAll('+', ' ').replace(/%([0-9a-fA-F]{2})/g, (_, code: string) => `\0${code}`),
    'utf8',
  )
  const decoded: number[] = []
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] === 0) {
      decoded.push(Number.parseInt(String.fromCharCode(bytes[i + 1]!, bytes[i + 2]!), 16))
      i += 2
    } else decoded.push(bytes[i]!)
  }
  return Buffer.from(decoded).toString('utf8')
}
