// With which certificate the server shows itself, and whose client certificates it believes.
import { networkInterfaces } from 'node:os'
import { createSecureContext } from 'node:tls'
import type { TlsOptions } from '../../http/listener.js'
import { ensureCertificates, makeCertificates } from './certificates.js'
import type { KeyPair } from './x509.js'

export interface CertificateOptions {
  /** Where certificates are kept that are made here; nowhere when not given. */
  readonly folder?: string | undefined
  /** A certificate that is brought along, in the place of one that is made. */
  readonly serving?: KeyPair | undefined
  /** PEM: further authorities whose client certificates are believed. */
  readonly clientCa?: string | undefined
}

export interface Tls {
  readonly options: TlsOptions
  /** By which clients know the server. */
  readonly ca: string
  /** By which the server knows an administrator. */
  readonly admin: KeyPair
}

export async function prepareTls(
  { folder, serving, clientCa = '' }: CertificateOptions,
  hosts: readonly string[],
): Promise<Tls> {
  const own = folder === undefined ? await makeCertificates(hosts) : await ensureCertificates(folder, hosts)
  const shown = serving ?? own.server
  return {
    options: { ...shown, clientCa: `${own.ca}${clientCa}` },
    // Nobody knows who vouches for a certificate that was brought along; but it can be believed itself.
    ca: serving?.cert ?? own.ca,
    admin: own.admin,
  }
}

/** Why the two do not make a server; undefined when they do. */
export function errorOfKeyPair({ cert, key }: KeyPair): string | undefined {
  try {
    createSecureContext({ cert, key })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** The names and addresses under which a server is reached that listens on this address. */
export function hostsOf(address: string, serviceAddress: string): string[] {
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
      ...(everywhere ? addresses.filter(({ scopeid }) => !scopeid).map(each => each.address) : [address]),
    ]),
  ]
}
