// The clientConfig of a webhook: a URL, or a service of the cluster.
import type { Credentials } from './webhook-users.js'

export interface ClientConfig {
  readonly url?: string | undefined
  readonly service?: ServiceReference | undefined
  /** Base64 PEM bundle that must have signed the webhook's certificate; the system's trust store if absent. */
  readonly caBundle?: string | undefined
  /** With which the webhook is called. */
  readonly credentials?: Credentials | undefined
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
  readonly path: string
  readonly service: ServiceReference | undefined
  readonly ca: string | undefined
  readonly credentials: Credentials | undefined
}

/** Throws an Error if the configuration has no usable target. */
export function destinationOf(config: ClientConfig, timeoutMs: number): Destination {
  const { service, url, caBundle, credentials } = config
  const ca = caBundle ? Buffer.from(caBundle, 'base64').toString('latin1') : undefined
  const query = `?timeout=${printSeconds(timeoutMs)}`
  if (service) {
    const { namespace, name, path = '', port = DEFAULT_PORT } = service
    const host = hostOfService(service)
    const address = `https://${host}:${port}${path === '' ? '/' : path}`
    if (!URL.canParse(address))
      throw new Error(`${JSON.stringify(address)} is no URL: check service ${namespace}/${name}`)
    return { url: address + query, host, port, path: new URL(address).pathname + query, service, ca, credentials }
  }
  if (url === undefined) throw new Error('webhook configuration must have either service or URL')
  if (!URL.canParse(url)) throw new Error(`Unparsable webhook URL: ${url}`)
  const { protocol, hostname, port, pathname } = new URL(url)
  if (protocol !== 'https:') throw new Error(`${url}: webhooks are called over https only`)
  return {
    url: url + query,
    // The brackets of an IPv6 address belong to the URL.
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? DEFAULT_PORT : Number(port),
    path: pathname + query,
    service: undefined,
    ca,
    credentials,
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

/** `30s`, or `1m30s` from a minute on. A part of a second counts as a whole one. */
function printSeconds(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000)
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`
}
