// TLS of a listener: the certificates that it presents, and the versions and cipher suites that it speaks.
import type { SecureContextOptions, SecureVersion } from 'node:tls'

export interface TlsOptions extends TlsCertificates {
  /** TLS 1.2 when absent. */
  readonly minVersion?: SecureVersion | undefined
  /** OpenSSL's lists of cipher suites and curves. Without the first, no suite with CBC is offered. */
  readonly ciphers?: string | undefined
  readonly curves?: string | undefined
  /** Whether HTTP/2 is offered beside HTTP/1.1; it is when absent. */
  readonly http2?: boolean | undefined
  /** How many requests a client may send at once over one connection of HTTP/2. */
  readonly maxStreams?: number | undefined
}

/** What may change while connections are open. It counts for new ones. */
export interface TlsCertificates {
  readonly cert: string | Buffer
  readonly key: string | Buffer
  /** Certificates for clients that ask for one of these names, in lower case; `*.example.com` for all of a domain. */
  readonly named?: ReadonlyMap<string, { readonly cert: string; readonly key: string }> | undefined
  /** The authorities whose client certificates are accepted. */
  readonly clientCa?: string | Buffer | undefined
}

/** All suites of TLS 1.3, and those of TLS 1.2 with forward secrecy and without CBC. */
const DEFAULT_CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

/** What is the same for all certificates of a listener. */
export const secureOptions = (
  tls: TlsOptions,
  { cert, key }: Pick<TlsOptions, 'cert' | 'key'> = tls,
): SecureContextOptions => ({
  cert,
  key,
  ...(tls.clientCa && { ca: tls.clientCa }),
  minVersion: tls.minVersion ?? 'TLSv1.2',
  ciphers: tls.ciphers ?? DEFAULT_CIPHERS,
  ...(tls.curves !== undefined && { ecdhCurve: tls.curves }),
})
