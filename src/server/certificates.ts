// The certificates of a server that brings its own: an authority, a certificate for the server, and one for an
// administrator. They are made once, on the first start, and kept in a folder.
import { type KeyObject, randomBytes, webcrypto, X509Certificate } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'

export interface Certificates {
  /** The authority that vouches for the server and for clients. */
  readonly ca: string
  readonly server: KeyPair
  readonly admin: KeyPair
}

export interface KeyPair {
  readonly cert: string
  readonly key: string
}

const ADMIN = 'CN=kubernetes-admin, O=system:masters'
const YEAR_MS = 365 * 24 * 3_600_000
/** An authority outlives what it signs; what it signs is made anew when less than this is left of it. */
const RENEW_MS = YEAR_MS / 12

/**
 * The certificates in a folder, made where they are missing, about to expire, or do not name one of the hosts under
 * which the server is reached.
 */
export async function ensureCertificates(folder: string, hosts: readonly string[]): Promise<Certificates> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const ca = (await readPair(folder, 'ca')) ?? (await makeInto(folder, 'ca', makeAuthority))
  const kept = await readPair(folder, 'server')
  const server =
    kept && isGood(kept, ca) && hosts.every(host => names(new X509Certificate(kept.cert), host))
      ? kept
      : await makeInto(folder, 'server', () => makeServer(ca, hosts))
  const keptAdmin = await readPair(folder, 'admin')
  const admin =
    keptAdmin && isGood(keptAdmin, ca) ? keptAdmin : await makeInto(folder, 'admin', () => makeClient(ca, ADMIN))
  return { ca: ca.cert, server, admin }
}

/** The same, kept nowhere. */
export async function makeCertificates(hosts: readonly string[]): Promise<Certificates> {
  const ca = await makeAuthority()
  const [server, admin] = await Promise.all([makeServer(ca, hosts), makeClient(ca, ADMIN)])
  return { ca: ca.cert, server, admin }
}

function isGood({ cert }: KeyPair, ca: KeyPair): boolean {
  const certificate = new X509Certificate(cert)
  return Date.parse(certificate.validTo) - Date.now() > RENEW_MS && certificate.verify(publicKey(ca))
}

const publicKey = ({ cert }: KeyPair): KeyObject => new X509Certificate(cert).publicKey

const names = (certificate: X509Certificate, host: string): boolean =>
  (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined

async function readPair(folder: string, name: string): Promise<KeyPair | undefined> {
  try {
    const [cert, key] = await Promise.all(
      ['crt', 'key'].map(extension => readFile(join(folder, `${name}.${extension}`), 'utf8')),
    )
    return { cert: cert!, key: key! }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function makeInto(folder: string, name: string, make: () => Promise<KeyPair>): Promise<KeyPair> {
  const pair = await make()
  // The key first and each in one move: a certificate that is there always has its key.
  for (const [extension, text] of [
    ['key', pair.key],
    ['crt', pair.cert],
  ] as const) {
    const path = join(folder, `${name}.${extension}`)
    await writeFile(`${path}.new`, text, { mode: extension === 'key' ? 0o600 : 0o644 })
    await rename(`${path}.new`, path)
  }
  return pair
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** Loaded only when a certificate has to be made: it takes longer than all the rest of a start. */
async function x509() {
  await import('reflect-metadata')
  const library = await import('@peculiar/x509')
  library.cryptoProvider.set(webcrypto)
  return library
}

const serialNumber = (): string => `00${randomBytes(16).toString('hex')}`

const validity = (years: number) => ({
  // Clocks differ: what was made a moment ago must hold on a machine that is a little behind.
  notBefore: new Date(Date.now() - 3_600_000),
  notAfter: new Date(Date.now() + years * YEAR_MS),
})

async function makeAuthority(): Promise<KeyPair> {
  const { BasicConstraintsExtension, KeyUsageFlags, KeyUsagesExtension, X509CertificateGenerator } = await x509()
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: 'CN=binnacle-ca',
    ...validity(10),
    signingAlgorithm: ALGORITHM,
    keys: keys,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign | KeyUsageFlags.digitalSignature, true),
    ],
  })
  return { cert: certificate.toString('pem'), key: await exportKey(keys.privateKey) }
}

async function makeServer(ca: KeyPair, hosts: readonly string[]): Promise<KeyPair> {
  const { SubjectAlternativeNameExtension } = await x509()
  const alternatives = hosts.map(host => ({ type: isIP(host) ? ('ip' as const) : ('dns' as const), value: host }))
  return makeSigned(ca, 'CN=binnacle', '1.3.6.1.5.5.7.3.1', [new SubjectAlternativeNameExtension(alternatives)])
}

const makeClient = (ca: KeyPair, subject: string): Promise<KeyPair> => makeSigned(ca, subject, '1.3.6.1.5.5.7.3.2', [])

async function makeSigned(
  ca: KeyPair,
  subject: string,
  usage: string,
  extensions: import('@peculiar/x509').Extension[],
): Promise<KeyPair> {
  const library = await x509()
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const pkcs8 = Buffer.from(ca.key.replace(/-----[^-]+-----|\s/g, ''), 'base64')
  const signingKey = await webcrypto.subtle.importKey('pkcs8', pkcs8, ALGORITHM, false, ['sign'])
  const certificate = await library.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject,
    issuer: new library.X509Certificate(ca.cert).subject,
    ...validity(1),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey: signingKey,
    extensions: [
      new library.BasicConstraintsExtension(false, undefined, true),
      new library.KeyUsagesExtension(library.KeyUsageFlags.digitalSignature, true),
      new library.ExtendedKeyUsageExtension([usage]),
      ...extensions,
    ],
  })
  return { cert: certificate.toString('pem'), key: await exportKey(keys.privateKey) }
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64')
  return `-----BEGIN PRIVATE KEY-----\n${pkcs8.match(/.{1,64}/g)!.join('\n')}\n-----END PRIVATE KEY-----\n`
}
