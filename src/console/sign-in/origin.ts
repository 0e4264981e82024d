// Where a request was sent to, and whether the page that caused it came from there.
import type { Exchange } from '../../http/exchange.js'

/** `https://127.0.0.1:6443`, as a browser writes it; undefined for a request that names no host, or none that can be one. */
export function originOf({ headers, peer }: Exchange): string | undefined {
  const host = headers.host ?? headers[':authority']
  if (typeof host !== 'string' || host === '') return undefined
  const origin = `${peer.encrypted ? 'https' : 'http'}://${host.toLowerCase()}`
  return URL.canParse(origin) ? origin : undefined
}

/**
 * False if a page of another origin has caused the request. Browsers always say so: by Origin for requests with a method
 * other than GET, and by Sec-Fetch-Site for all.
 */
export function isOwnPage({ headers }: Exchange, origin: string): boolean {
  const site = headers['sec-fetch-site']
  return (headers.origin === undefined || headers.origin === origin) && (site === undefined || site === 'same-origin')
}
