// The certificate that the server presents, and the authorities whose client certificates it accepts.
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { TlsOptions } from '../../http/listener.js'
import type { HttpsOptions, NamedCertificate } from '../options/serving.js'
import { ensureCertificates, makeCertificates, type ShareAuthority } from './certificates.js'
import { readKeyPair } from './key-pair.js'
import type { KeyPair } from './x509.js'

export interface Tls {
  readonly options: TlsOptions
  /** The certificate by which clients verify the server. */
  readonly ca: string
  /** PEM: the authorities whose client certificates name a user. */
  readonly clientCa: string
  /** The client certificate of the administrator; undefined if our own authority is not accepted. */
  readonly admin: KeyPair | undefined
}

export interface ClientAuthorities {
  /** PEM: authorities of client certificates, in the place of our own. */
  readonly clientCa?: string | undefined
  /** PEM: authorities of the certificate of an authenticating proxy. */
  readonly proxyCa?: string | undefined
}

export async function prepareTls(
  { certificateFolder, keyPair, named, minVersion, ciphers, curves, http2, maxStreams }: HttpsOptions,
  { clientCa, proxyCa = '' }: ClientAuthorities,
  hosts: readonly string[],
  share?: ShareAuthority,
): Promise<Tls> {
  const optionsOf = (pair: KeyPair, accepted: string): TlsOptions => ({
    ...pair,
    named: namedCertificates(named ?? []),
    clientCa: joinPem(accepted, proxyCa),
    minVersion,
    ciphers,
    curves,
    http2,
    maxStreams,
  })
  // With both, as at each of the many starts of envtest, no certificate of our own is used, so that none is created.
  if (keyPair && clientCa !== undefined) {
    return { options: optionsOf(keyPair, clientCa), ca: keyPair.cert, clientCa, admin: undefined }
  }
  const own =
    certificateFolder === undefined
      ? await makeCertificates(hosts, share)
      : await ensureCertificates(certificateFolder, hosts, share)
  const accepted = clientCa ?? own.ca
  return {
    options: optionsOf(keyPair ?? own.server, accepted),
    // The authority of a certificate of the user is not known, but the certificate itself can be trusted.
    ca: keyPair?.cert ?? own.ca,
    clientCa: accepted,
    admin: clientCa === undefined ? own.admin : undefined,
  }
}

/** A file need not end with a newline, a certificate in PEM form must begin on a line of its own. */
export const joinPem = (...parts: readonly string[]): string =>
  parts
    .filter(Boolean)
    .map(part => part.trim())
    .join('\n')

/** By the names that the flags give, which go before those in the certificates. */
export function namedCertificates(named: readonly NamedCertificate[]): ReadonlyMap<string, KeyPair> {
  const byName = new Map<string, KeyPair>()
  const read = named.map(({ names, files }) => ({ names, pair: readKeyPair(files) }))
  const add = (name: string, pair: KeyPair): void => void (byName.has(name) || byName.set(name, pair))
  for (const { names, pair } of read) for (const name of names) add(name, pair)
  for (const { names, pair } of read) if (names.length === 0) for (const name of namesIn(pair)) add(name, pair)
  return byName
}

function namesIn({ cert }: KeyPair): string[] {
  const { subject, subjectAltName = '' } = new X509Certificate(cert)
  const common = subject.split('\n').flatMap(line => (line.startsWith('CN=') ? [line.slice(3)] : []))
  const alternative = subjectAltName.split(', ').flatMap(name => (name.startsWith('DNS:') ? [name.slice(4)] : []))
  return [...common.filter(name => isIP(name) === 0), ...alternative].map(name => name.toLowerCase())
}

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
