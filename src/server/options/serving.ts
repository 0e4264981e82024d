// On which addresses and ports the server listens, and with which certificate.
import { existsSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import type { SecureVersion } from 'node:tls'
import { UsageError } from '../../base/usage-error.js'
import type { EndpointLeaseTimes } from '../../controllers/start-controllers.js'
import { type KeyPairFiles, readKeyPair } from '../tls/key-pair.js'
import type { KeyPair } from '../tls/x509.js'
import type { FlagTable, FlagValues } from './flag.js'
import { readFlagFile } from './flag-files.js'
import { choice, count, duration, list, optionalText, port, repeatedText, text, toggle } from './flag-values.js'
import { cipherList, curveList, tlsVersion } from './tls-settings.js'

/**
 * `lease` publishes the addresses of all servers that live on one store, `master-count` those of as many servers as there are
 * by `serverCount`, `none` publishes none.
 */
const ENDPOINT_RECONCILERS = ['lease', 'master-count', 'none'] as const
type EndpointReconcilerType = (typeof ENDPOINT_RECONCILERS)[number]

export interface ServingOptions {
  /** Absent: https is not served. */
  readonly https?: HttpsOptions | undefined
  /** Plain http, on 127.0.0.1. */
  readonly http?: { readonly port: number } | undefined
  /** The address in the Endpoints of the service `kubernetes`; the one that https listens on when absent. */
  readonly advertiseAddress?: string | undefined
  /** Which addresses are published; `lease` when absent. */
  readonly endpointReconciler?: EndpointReconcilerType | undefined
  /** How many servers live on one store; 1 when absent. */
  readonly serverCount?: number | undefined
  /** How soon the addresses of servers that are gone are removed; kube-apiserver's times when absent. */
  readonly endpointLeaseTimes?: EndpointLeaseTimes | undefined
  /** The host in URLs to this server that its answers contain; the address it listens on when absent. */
  readonly externalHostname?: string | undefined
  /** The value of the header Strict-Transport-Security; no header when absent. */
  readonly strictTransportSecurity?: string | undefined
  /** How long requests are still accepted after a stop was requested, while /readyz already fails. */
  readonly shutdownDelayMs?: number | undefined
}

export interface HttpsOptions {
  readonly address: string
  /** 0 takes any free port. */
  readonly port: number
  /** Where certificates are kept that this server creates; they are not kept when absent. */
  readonly certificateFolder?: string | undefined
  /** A certificate and key of the user, in the place of created ones. */
  readonly keyPair?: KeyPair | undefined
  /** The files of `keyPair`, which is read again when they change. */
  readonly keyPairFiles?: KeyPairFiles | undefined
  /** Certificates for clients that ask for other names; the first that has a name counts. */
  readonly named?: readonly NamedCertificate[] | undefined
  readonly minVersion?: SecureVersion | undefined
  /** OpenSSL's list of cipher suites. */
  readonly ciphers?: string | undefined
  /** OpenSSL's list of curves. */
  readonly curves?: string | undefined
  readonly http2?: boolean | undefined
  readonly maxStreams?: number | undefined
}

/** With the names of the flag, or else those in the certificate. */
export interface NamedCertificate {
  readonly names: readonly string[]
  readonly files: KeyPairFiles
}

const TLS_VERSIONS = ['VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'] as const

export const servingFlags = {
  'secure-port': port('the port for https; 0 takes any free port', 6443),
  'bind-address': text('<address>', 'the address on which https is served', '127.0.0.1'),
  https: toggle('serve https; with --https=false only plain http is served, on --http-port', true),
  'http-port': port('also serve plain http on this port of 127.0.0.1; 0 takes any free port', undefined),
  'advertise-address': {
    ...optionalText('<address>', 'the address in the Endpoints of the service "kubernetes"'),
    byDefault: '--bind-address, unless that is a loopback address',
  },
  'endpoint-reconciler-type': choice(
    ENDPOINT_RECONCILERS,
    'how the addresses of all servers on one etcd come into the Endpoints of the service "kubernetes": by keys in etcd that end with their server, up to the number of --apiserver-count, or not at all',
    'lease',
  ),
  'apiserver-count': count(
    'how many servers live on one etcd, for --endpoint-reconciler-type=master-count (deprecated)',
    1,
  ),
  'external-hostname': optionalText(
    '<host>',
    'the host name in URLs to this server, such as the one of its public keys',
  ),
  'cert-dir': {
    ...optionalText(
      '<folder>',
      'where certificates are kept that are created on the first start; apiserver.crt and apiserver.key are used if there',
    ),
    byDefault: '<data-dir>/pki',
  },
  'tls-cert-file': optionalText('<file>', 'the certificate for https, followed by those of its authorities'),
  'tls-private-key-file': optionalText('<file>', 'the key of --tls-cert-file'),
  'tls-sni-cert-key': repeatedText(
    '<file>,<file>[:<names>]',
    'a certificate and its key for clients that ask for one of these names, or for a name in the certificate; may be repeated',
  ),
  'tls-min-version': choice<string>(TLS_VERSIONS, 'the oldest version of TLS that is accepted', 'VersionTLS12'),
  'tls-cipher-suites': list('<names>', 'the cipher suites for TLS 1.2 and older, by their IANA names'),
  'tls-curve-preferences': list('<numbers>', 'the curves for key exchange: 23 P-256, 24 P-384, 25 P-521, 29 X25519'),
  'disable-http2-serving': toggle('serve HTTP/1.1 only', false),
  'http2-max-streams-per-connection': count('how many requests a client may send at once over one connection', 1000),
  'strict-transport-security-directives': list(
    'max-age=<seconds>,includeSubDomains,preload',
    'send the header Strict-Transport-Security with these directives',
  ),
  'shutdown-delay-duration': duration('how long to go on serving after SIGTERM, while /readyz already fails', 0),
} satisfies FlagTable

type Flags = FlagValues<typeof servingFlags>

export function servingFromFlags(flags: Flags, dataFolder: string): ServingOptions {
  const httpPort = flags['http-port']
  if (!flags.https && httpPort === undefined) {
    throw new UsageError('--https=false leaves nothing to serve; give --http-port as well')
  }
  const advertised = flags['advertise-address']
  const serverCount = flags['apiserver-count']
  if (serverCount === 0) throw new UsageError('--apiserver-count=0: there is at least one server')
  if (advertised !== undefined) checkAddress(advertised, `--advertise-address=${advertised}`)
  return {
    https: flags.https ? httpsFromFlags(flags, dataFolder) : undefined,
    http: httpPort === undefined ? undefined : { port: httpPort },
    advertiseAddress: advertised,
    endpointReconciler: flags['endpoint-reconciler-type'],
    serverCount,
    externalHostname: flags['external-hostname'],
    strictTransportSecurity: strictTransportSecurity(flags['strict-transport-security-directives']),
    shutdownDelayMs: flags['shutdown-delay-duration'],
  }
}

function httpsFromFlags(flags: Flags, dataFolder: string): HttpsOptions {
  const address = flags['bind-address']
  checkAddress(address, `--bind-address=${address}`)
  const folder = flags['cert-dir'] ?? join(dataFolder, 'pki')
  const suites = flags['tls-cipher-suites']
  const curves = flags['tls-curve-preferences']
  return {
    address,
    port: flags['secure-port'],
    certificateFolder: folder,
    ...keyPairFromFlags(flags, folder),
    named: flags['tls-sni-cert-key'].map(namedCertificate),
    minVersion: tlsVersion(flags['tls-min-version'] ?? 'VersionTLS12'),
    ciphers: suites.length === 0 ? undefined : named('tls-cipher-suites', () => cipherList(suites)),
    curves: curves.length === 0 ? undefined : named('tls-curve-preferences', () => curveList(curves)),
    http2: !flags['disable-http2-serving'],
    // kube-apiserver takes 0 for "Go's default", so it is our default here.
    maxStreams: flags['http2-max-streams-per-connection'] || undefined,
  }
}

/** Puts the name of the flag before the message. */
function named<T>(flag: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`--${flag}: ${error.message}`) : error
  }
}

/** `label` names the flag or the option in the message. */
export function checkAddress(address: string, label: string): void {
  if (isIP(address) === 0) {
    throw new UsageError(`${label}: it must be an IP address, such as 127.0.0.1, or 0.0.0.0 for all`)
  }
}

function keyPairFromFlags(flags: Flags, folder: string): Pick<HttpsOptions, 'keyPair' | 'keyPairFiles'> {
  const certFile = flags['tls-cert-file']
  const keyFile = flags['tls-private-key-file']
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new UsageError('--tls-cert-file and --tls-private-key-file go together: give both or none')
  }
  if (certFile !== undefined && keyFile !== undefined) {
    readFlagFile('tls-cert-file', certFile)
    readFlagFile('tls-private-key-file', keyFile)
    return readFiles({ certFile, keyFile })
  }
  // kube-apiserver looks for a certificate in its folder by these names.
  const files = { certFile: join(folder, 'apiserver.crt'), keyFile: join(folder, 'apiserver.key') }
  const areThere = existsSync(files.certFile) && existsSync(files.keyFile)
  return areThere ? readFiles(files) : { keyPair: undefined, keyPairFiles: undefined }
}

const readFiles = (files: KeyPairFiles): Pick<HttpsOptions, 'keyPair' | 'keyPairFiles'> => ({
  keyPair: readKeyPair(files),
  keyPairFiles: files,
})

/** `cert.pem,key.pem:name,other.name` or `cert.pem,key.pem`. */
function namedCertificate(given: string): NamedCertificate {
  const fail = (why: string): UsageError => new UsageError(`--tls-sni-cert-key=${given}: ${why}`)
  const colon = given.indexOf(':')
  const [files, names] = colon === -1 ? [given, undefined] : [given.slice(0, colon), given.slice(colon + 1).trim()]
  if (names === '') throw fail('empty names list is not allowed')
  const [certFile, keyFile, more] = files.split(',').map(file => file.trim())
  if (certFile === undefined || keyFile === undefined || more !== undefined) {
    throw fail('expected comma separated certificate and key file paths')
  }
  readKeyPair({ certFile, keyFile })
  return { names: names?.split(',').map(name => name.trim().toLowerCase()) ?? [], files: { certFile, keyFile } }
}

function strictTransportSecurity(directives: readonly string[]): string | undefined {
  if (directives.length === 0) return undefined
  const isValid = directives.every(each => /^(max-age=[0-9]+|includeSubDomains|preload)$/.test(each))
  if (!isValid) {
    throw new UsageError(
      '--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for more information',
    )
  }
  return directives.join('; ')
}
