// The certificates that the server creates for itself: an authority, a certificate for the server, and one for the
// administrator. They are created on the first start and kept in a folder.
import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto'
import { access, link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../../base/usage-error.js'
import { isAddress, type KeyPair, makeCertificate } from './x509.js'

export interface Certificates {
  /** The authority that signs the certificates of the server and of clients. */
  readonly ca: string
  readonly server: KeyPair
  readonly admin: KeyPair
}

const ADMIN = { name: 'kubernetes-admin', organization: 'system:masters' }
const YEAR_MS = 365 * 24 * 3_600_000
/** A certificate that is valid for less than this is replaced. The authority is valid for longer than those it signs. */
const RENEW_MS = YEAR_MS / 12

/**
 * The authority that all replicas share, where there may be several: `own` is the one in the folder of this replica, and
 * `make` creates one.
 */
export type ShareAuthority = (own: KeyPair | undefined, make: () => Promise<KeyPair>) => Promise<KeyPair>

/** The certificates in a folder. Those that are missing, expire soon or lack one of the hosts are created. */
export async function ensureCertificates(
  folder: string,
  hosts: readonly string[],
  share?: ShareAuthority,
): Promise<Certificates> {
  const ca = await ensureAuthority(folder, share)
  const server = await ensureServer(folder, 'server', ca, hosts)
  const keptAdmin = await readPair(folder, 'admin')
  const admin = keptAdmin && isGood(keptAdmin, ca) ? keptAdmin : await makeInto(folder, 'admin', () => makeAdmin(ca))
  return { ca: ca.cert, server, admin }
}

/** The same without a folder. */
export async function makeCertificates(hosts: readonly string[], share?: ShareAuthority): Promise<Certificates> {
  const ca = await (share ? share(undefined, makeAuthority) : makeAuthority())
  const [server, admin] = await Promise.all([makeServer(ca, hosts), makeAdmin(ca)])
  return { ca: ca.cert, server, admin }
}

/** An authority in a folder, and a certificate for a server that it has signed, in the files of this name. */
export async function ensureServerPair(
  folder: string,
  name: string,
  hosts: readonly string[],
): Promise<Omit<Certificates, 'admin'>> {
  const ca = await ensureAuthority(folder)
  return { ca: ca.cert, server: await ensureServer(folder, name, ca, hosts) }
}

/** The same without a folder. */
export async function makeServerPair(hosts: readonly string[]): Promise<Omit<Certificates, 'admin'>> {
  const ca = await makeAuthority()
  return { ca: ca.cert, server: await makeServer(ca, hosts) }
}

async function ensureAuthority(folder: string, share?: ShareAuthority): Promise<KeyPair> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const kept = await readAuthority(folder)
  const good = kept && isGood(kept, kept) ? kept : undefined
  // An authority that others have created is what the user wants, in each replica.
  if (good && !isOurs(good)) return good
  if (!share) return good ?? (kept ? makeInto(folder, 'ca', makeAuthority) : makeFirstAuthority(folder))
  const shared = await share(good, makeAuthority)
  return shared.cert === kept?.cert && shared.key === kept.key ? shared : makeInto(folder, 'ca', async () => shared)
}

/**
 * Several servers may do this in one folder at the same time. The first key that is there is that of all of them, and so
 * is the first certificate for it.
 */
async function makeFirstAuthority(folder: string): Promise<KeyPair> {
  const made = await makeAuthority()
  const key = await writeFirst(join(folder, 'ca.key'), made.key, 0o600)
  if (parse(key, createPrivateKey) === undefined) throw unusable(folder, 'ca.key is not a private key in PEM form')
  const { cert } = key === made.key ? made : await makeAuthority(key)
  return { key, cert: await writeFirst(join(folder, 'ca.crt'), cert, 0o644) }
}

/** Writes a file unless it exists, at once and completely; returns its content. */
async function writeFirst(path: string, text: string, mode: number): Promise<string> {
  const fresh = `${path}.${randomUUID()}`
  await writeFile(fresh, text, { mode, flag: 'wx' })
  try {
    await link(fresh, path)
    return text
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return await readFile(path, 'utf8')
  } finally {
    await rm(fresh)
  }
}

/** Whether the authority can be used for longer than the certificates that it signs. */
export const isGoodAuthority = (pair: KeyPair): boolean => isGood(pair, pair)

async function ensureServer(folder: string, name: string, ca: KeyPair, hosts: readonly string[]): Promise<KeyPair> {
  const kept = await readPair(folder, name)
  return kept && isGood(kept, ca) && namesAll(new X509Certificate(kept.cert), hosts)
    ? kept
    : makeInto(folder, name, () => makeServer(ca, hosts))
}

/**
 * The authority in the folder. One that we have not created is used if it can sign; otherwise the start fails, because
 * an authority that others trust is never replaced.
 */
async function readAuthority(folder: string): Promise<KeyPair | undefined> {
  if (!(await exists(join(folder, 'ca.crt')))) return undefined
  const pair = await readPair(folder, 'ca')
  if (pair === undefined) throw unusable(folder, 'ca.crt has no ca.key beside it')
  const certificate = parse(pair.cert, text => new X509Certificate(text))
  if (certificate === undefined) throw unusable(folder, 'ca.crt is not a certificate in PEM form')
  const key = parse(pair.key, createPrivateKey)
  if (key === undefined) throw unusable(folder, 'ca.key is not an unencrypted private key in PEM form')
  const { asymmetricKeyType, asymmetricKeyDetails } = certificate.publicKey
  if (asymmetricKeyType !== 'ec' || asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw unusable(folder, `ca.crt has a key of type ${asymmetricKeyType}; it must be an EC key on the curve P-256`)
  }
  if (!certificate.ca) throw unusable(folder, 'ca.crt is not the certificate of an authority')
  if (isOurs(pair)) return pair
  if (!certificate.checkPrivateKey(key)) throw unusable(folder, 'ca.key is not the key of ca.crt')
  if (!isGood(pair, pair)) {
    throw unusable(folder, `ca.crt is not self-signed, or expires too soon (${certificate.validTo})`)
  }
  return pair
}

const AUTHORITY = 'binnacle-ca'

const isOurs = ({ cert }: KeyPair): boolean => new X509Certificate(cert).subject === `CN=${AUTHORITY}`

const unusable = (folder: string, why: string): UsageError =>
  new UsageError(`the authority in ${folder} cannot be used: ${why}; move it away to have a new one created`)

function parse<T>(text: string, read: (text: string) => T): T | undefined {
  try {
    return read(text)
  } catch {
    return undefined
  }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

function isGood({ cert, key }: KeyPair, ca: KeyPair): boolean {
  const certificate = new X509Certificate(cert)
  return (
    Date.parse(certificate.validTo) - Date.now() > RENEW_MS &&
    certificate.verify(new X509Certificate(ca.cert).publicKey) &&
    // Two servers that start at once may each have written one of the two files.
    certificate.checkPrivateKey(createPrivateKey(key))
  )
}

const namesAll = (certificate: X509Certificate, hosts: readonly string[]): boolean =>
  hosts.every(host => (isAddress(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined)

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
  // The key first, and each file by a rename: a certificate that exists has its key.
  for (const [extension, text] of [
    ['key', pair.key],
    ['crt', pair.cert],
  ] as const) {
    const path = join(folder, `${name}.${extension}`)
    const fresh = `${path}.${randomUUID()}`
    await writeFile(fresh, text, { mode: extension === 'key' ? 0o600 : 0o644, flag: 'wx' })
    await rename(fresh, path)
  }
  return pair
}

export const validity = (years: number) => ({
  // An hour early, because the clock of a client may be behind.
  from: new Date(Date.now() - 3_600_000),
  to: new Date(Date.now() + years * YEAR_MS),
})

const makeAuthority = (key?: string): Promise<KeyPair> =>
  makeCertificate({ subject: { name: AUTHORITY }, validity: validity(10), use: 'authority' }, undefined, key)

const makeServer = (ca: KeyPair, hosts: readonly string[]): Promise<KeyPair> =>
  makeCertificate({ subject: { name: 'binnacle' }, validity: validity(1), use: 'server', hosts }, ca)

const makeAdmin = (ca: KeyPair): Promise<KeyPair> =>
  makeCertificate({ subject: ADMIN, validity: validity(1), use: 'client' }, ca)
