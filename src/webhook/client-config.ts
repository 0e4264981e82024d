// The clientConfig of a webhook: a URL, or a service of the cluster.
import { posix } from 'node:path'
import type { Endpoint } from './host-overrides.js'
import type { Credentials } from './webhook-users.js'

export interface ClientConfig {
  readonly url?: string | undefined
  readonly service?: ServiceReference | undefined
  /** Base64 PEM bundle that must have signed the webhook's certificate; the system's trust store if absent. */
  readonly caBundle?: string | undefined
  /** With which the webhook is called. */
  readonly credentials?: Credentials | undefined
  /** Whether the webhook's certificate is not checked. */
  readonly insecure?: boolean | undefined
  /** Whether the URL may be plain http, as that of a kubeconfig may be. */
  readonly allowHttp?: boolean | undefined
}

export interface ServiceReference {
  readonly namespace: string
  readonly name: string
  readonly path?: string | undefined
  /** 443 by default. */
  readonly port?: number | undefined
}

/** The resolved target of a call. */
export interface Destination {
  /** The URL in messages, with the timeout as a query parameter. */
  readonly url: string
  /** The host name that the certificate must be for. */
  readonly host: string
  readonly port: number
  /** The host, with the port if the URL has one. */
  readonly authority: string
  /** With the timeout. */
  readonly path: string
  readonly service: ServiceReference | undefined
  /** The address of the server that calls, if it calls itself. */
  readonly own?: Endpoint | undefined
  readonly ca: string | undefined
  readonly credentials: Credentials | undefined
  readonly insecure: boolean
  readonly protocol: 'https:' | 'http:'
}

/** Throws an Error if the configuration has no usable target. */
export function destinationOf(config: ClientConfig, timeoutMs: number): Destination {
  const { service, url, caBundle, credentials, insecure = false, allowHttp = false } = config
  const ca = caBundle ? Buffer.from(caBundle, 'base64').toString('latin1') : undefined
  const query = `?timeout=${printSeconds(timeoutMs)}`
  const at = service ? serviceTarget(service) : urlTarget(url, allowHttp)
  const path = cleanPath(at.path) + query
  return { ...at, path, url: `${at.protocol}//${at.authority}${path}`, service, ca, credentials, insecure }
}

/** The target of a redirection. Credentials are for the host that they were given for. Throws an Error. */
export function redirectedTo(from: Destination, location: string): Destination {
  const url = URL.canParse(location, from.url) ? new URL(location, from.url) : undefined
  if (url?.protocol !== 'https:')
    throw new Error(`the webhook redirects to ${JSON.stringify(location)}: webhooks are called over https only`)
  const { host, port, authority, protocol } = urlTarget(url.href, false)
  const isSameHost = host === from.host && port === from.port
  return {
    url: url.href,
    host,
    port,
    authority,
    path: `${url.pathname}${url.search}`,
    service: isSameHost ? from.service : undefined,
    own: isSameHost ? from.own : undefined,
    ca: from.ca,
    insecure: from.insecure,
    protocol: isSameHost ? from.protocol : protocol,
    credentials: isSameHost ? from.credentials : undefined,
  }
}

type Target = Pick<Destination, 'host' | 'port' | 'authority' | 'path' | 'protocol'>

function serviceTarget(service: ServiceReference): Target {
  const { namespace, name, path = '', port = DEFAULT_PORT } = service
  const host = hostOfService(service)
  const authority = `${host}:${port}`
  if (!URL.canParse(`https://${authority}/`))
    throw new Error(`${JSON.stringify(`https://${authority}`)} is no URL: check service ${namespace}/${name}`)
  return { host, port, authority, path, protocol: 'https:' }
}

function urlTarget(url: string | undefined, allowHttp: boolean): Target {
  if (url === undefined) throw new Error('webhook configuration must have either service or URL')
  if (!URL.canParse(url)) throw new Error(`Unparsable webhook URL: ${url}`)
  const { protocol, hostname, port } = new URL(url)
  if (protocol !== 'https:' && !(allowHttp && protocol === 'http:'))
    throw new Error(`${url}: webhooks are called over https only`)
  const [, authority = '', path = ''] = /^[^:]*:\/\/([^/?#]*)([^?#]*)/s.exec(url) ?? []
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? DEFAULT_PORTS[protocol] : Number(port),
    authority,
    path,
    protocol,
  }
}

/** Without empty segments, dots and a slash at the end, as client-go joins paths; encoded as Go encodes them. */
function cleanPath(path: string): string {
  const joined = posix.join('/', decodePath(path))
  const clean = joined.length > 1 ? joined.replace(/\/$/, '') : joined
  return encodeURIComponent(clean)
    .replace(/%(24|26|2B|2C|2F|3A|3B|3D|40)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/[!'()*]/g, character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** A path whose escapes are no UTF-8 stays as it is. */
function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** The target with its port, by which credentials are found. */
export function hostPortOf(config: ClientConfig): string {
  if (config.service) return `${hostOfService(config.service)}:${config.service.port ?? DEFAULT_PORT}`
  const { host, port } = new URL(config.url ?? '')
  return port === '' ? `${host}:${DEFAULT_PORT}` : host
}

/** The DNS name of a service in a cluster, which its certificate must be for. */
export const hostOfService = ({ namespace, name }: ServiceReference): string => `${name}.${namespace}.svc`

const DEFAULT_PORT = 443
const DEFAULT_PORTS = { 'https:': DEFAULT_PORT, 'http:': 80 } as const

/** `30s`, or `1m30s` from a minute on. A part of a second counts as a whole one. */
function printSeconds(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000)
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`
}
