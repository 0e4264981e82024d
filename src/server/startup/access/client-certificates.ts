// Which client certificates name a user, and which are those of an authenticating proxy. TLS accepts certificates of both
// kinds of authorities, and the authorities may change while connections are open.
import { X509Certificate } from 'node:crypto'
import { commonNameOf } from '../../../auth/authenticator.js'
import type { Exchange } from '../../../http/exchange.js'

export interface ClientCertificates {
  /** The request comes over a connection with a certificate of the proxy's authority and an allowed name. */
  isProxy(exchange: Exchange): boolean
  /** It comes with a certificate of an authority for clients. */
  isClient(exchange: Exchange): boolean
  /** Other authorities count from now on, also for connections that are open. */
  trust(authorities: Authorities): void
}

/** In PEM form. */
export interface Authorities {
  readonly clientCa: string
  readonly proxyCa: string
}

interface Found {
  readonly isProxy: boolean
  readonly isClient: boolean
}

/** `allowedNames`: the common names of proxies, any when empty; undefined if no proxy is configured. */
export function createClientCertificates(
  authorities: Authorities,
  allowedNames: readonly string[] | undefined,
): ClientCertificates {
  let current = parse(authorities)
  /** By the certificate of a connection: what it was found to be, and with which authorities TLS has checked it. */
  let known = new WeakMap<Buffer, Found>()
  const checkedBy = new WeakMap<Buffer, unknown>()

  function classify(exchange: Exchange): Found | undefined {
    const certificate = exchange.peer.certificate()
    if (!certificate?.isValid) return undefined
    const { raw } = certificate
    let found = known.get(raw)
    if (!found) {
      const before = checkedBy.get(raw)
      if (before === undefined) checkedBy.set(raw, current)
      // TLS has checked it with the present authorities, all of which are for clients.
      const isOnlyClient = allowedNames === undefined && (before === undefined || before === current)
      found = isOnlyClient ? { isProxy: false, isClient: true } : look(raw, commonNameOf(certificate.subject))
      known.set(raw, found)
    }
    return found
  }

  /** Only a certificate that an authority signed itself is recognized: one with an intermediate certificate is neither kind. */
  function look(raw: Buffer, name: string): Found {
    const parsed = new X509Certificate(raw)
    const isSignedBy = (ofKind: readonly X509Certificate[]): boolean =>
      ofKind.some(authority => parsed.checkIssued(authority) && parsed.verify(authority.publicKey))
    const isAllowed = allowedNames !== undefined && (allowedNames.length === 0 || allowedNames.includes(name))
    return { isProxy: isAllowed && isSignedBy(current.proxies), isClient: isSignedBy(current.clients) }
  }

  return {
    isProxy: exchange => allowedNames !== undefined && (classify(exchange)?.isProxy ?? false),
    isClient: exchange => classify(exchange)?.isClient ?? false,
    trust(changed) {
      current = parse(changed)
      known = new WeakMap()
    },
  }
}

const parse = ({ clientCa, proxyCa }: Authorities) => ({
  clients: certificatesOf(clientCa),
  proxies: certificatesOf(proxyCa),
})

const BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/** Throws if one cannot be read. */
export const certificatesOf = (pem: string): X509Certificate[] =>
  (pem.match(BLOCK) ?? []).map(block => new X509Certificate(block))
