// The certificate that the server presents, and the authorities whose client certificates it accepts.
import { networkInterfaces } from 'node:os'
import type { TlsOptions } from '../../http/listener.js'
import type { HttpsOptions } from '../options/serving.js'
import { ensureCertificates, makeCertificates, type ShareAuthority } from './certificates.js'
import type { KeyPair } from './x509.js'

export interface Tls {
  readonly options: TlsOptions
  /** The certificate by which clients verify the server. */
  readonly ca: string
  /** PEM: the authorities whose client certificates name a user. */
  readonly clientCa: string
  /** The client certificate of the administrator. */
  readonly admin: KeyPair
}

export interface ClientAuthorities {
  /** PEM: authorities of client certificates, beside our own. */
  readonly clientCa?: string | undefined
  /** PEM: authorities of the certificate of an authenticating proxy. */
  readonly proxyCa?: string | undefined
}

export async function prepareTls(
  { certificateFolder, keyPair, minVersion, ciphers, curves, http2, maxStreams }: HttpsOptions,
  { clientCa = '', proxyCa = '' }: ClientAuthorities,
  hosts: readonly string[],
  share?: ShareAuthority,
): Promise<Tls> {
  const own =
    certificateFolder === undefined
      ? await makeCertificates(hosts, share)
      : await ensureCertificates(certificateFolder, hosts, share)
  const accepted = joinPem(own.ca, clientCa)
  return {
    options: {
      ...(keyPair ?? own.server),
      clientCa: joinPem(accepted, proxyCa),
      minVersion,
      ciphers,
      curves,
      http2,
      maxStreams,
    },
    // The authority of a certificate of the user is not known, but the certificate itself can be trusted.
    ca: keyPair?.cert ?? own.ca,
    clientCa: accepted,
    admin: own.admin,
  }
}

/** A file need not end with a newline, a certificate in PEM form must begin on a line of its own. */
const joinPem = (...parts: readonly string[]): string =>
  parts
    .filter(Boolean)
    .map(part => part.trim())
    .join('\n')

/** The names and addresses by which clients reach a server: those of its address, of its service, and `published` ones. */
export function hostsOf(address: string, serviceAddress: string, published: readonly string[] = []): string[] {
  const everywhere = address === '0.0.0.0' || address === '::'
  const addresses = everywhere ? Object.values(networkInterfaces()).flatMap(each => each ?? []) : []
  return [
    ...new Set([
      '127.0.0.1',
      '::1',
      'localhost',
      'kubernetes',
      'kubernetes.default',
      'kubernetes.default.svc',
      'kubernetes.default.svc.cluster.local',
      serviceAddress,
      ...published,
      ...(everywhere ? addresses.filter(({ scopeid }) => !scopeid).map(each => each.address) : [address]),
    ]),
  ]
}
