// The addresses on which the server listens: https, plain http, or both.
import type { Exchange } from '../../../http/exchange.js'
import { type Listener, type ListenOptions, listen, type TlsCertificates } from '../../../http/listener.js'
import { forOwnHost } from '../../../http/own-host.js'
import type { ServingOptions } from '../../options/serving.js'
import type { Tls } from '../../tls/tls.js'

export interface Listeners {
  /** https, or plain http where only that is served. */
  readonly url: string
  readonly httpUrl: string | undefined
  readonly httpsUrl: string | undefined
  /** Those of https. */
  setCertificates(certificates: TlsCertificates): void
  /** All listeners stop accepting connections at once. Resolves when the requests that are being served are answered. */
  close(): Promise<void>
}

export interface ConnectionRules extends Pick<ListenOptions, 'readers' | 'unref'> {
  /** Whether requests over plain http may do everything, so that they must not come from web pages. */
  readonly isOpen: boolean
}

/** Rejects when an address cannot be used; then none is left open. */
export async function openListeners(
  { http, https }: ServingOptions,
  tls: Tls | undefined,
  handle: (exchange: Exchange) => void,
  { readers, unref, isOpen }: ConnectionRules,
): Promise<Listeners> {
  const open: Listener[] = []
  const close = async (): Promise<void> => void (await Promise.all(open.map(listener => listener.close())))
  try {
    if (http)
      open.push(
        await listen({ address: '127.0.0.1', port: http.port, readers, unref }, isOpen ? forOwnHost(handle) : handle),
      )
    if (https)
      open.push(await listen({ address: https.address, port: https.port, tls: tls!.options, readers, unref }, handle))
  } catch (error) {
    await close()
    throw error
  }
  const httpUrl = http && open[0]?.url
  const httpsUrl = https && open.at(-1)?.url
  const url = httpsUrl ?? httpUrl
  if (url === undefined) throw new Error('neither https nor http is to be served')
  return { url, httpUrl, httpsUrl, setCertificates: each => https && open.at(-1)?.setCertificates(each), close }
}

/** A URL that clients can use: the unspecified address listens on all addresses and is none itself. */
export const clientUrl = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
