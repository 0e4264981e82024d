import { execFileSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createMemoryStore } from '../../storage/memory/memory-store.js'
import { ensureCertificates, makeCertificates } from './certificates.js'
import { shareAuthority } from './shared-authority.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-certificates-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('the authority signs certificates of a server with these names and of an administrator', async () => {
  const { ca, server, admin } = await makeCertificates(['127.0.0.1', 'localhost'])
  const authority = new X509Certificate(ca)
  const serverCertificate = new X509Certificate(server.cert)
  const adminCertificate = new X509Certificate(admin.cert)
  expect(authority.ca).toBe(true)
  expect(serverCertificate.verify(authority.publicKey)).toBe(true)
  expect(serverCertificate.checkIP('127.0.0.1')).toBe('127.0.0.1')
  expect(serverCertificate.checkHost('localhost')).toBe('localhost')
  expect(serverCertificate.checkHost('example.com')).toBeUndefined()
  expect(adminCertificate.verify(authority.publicKey)).toBe(true)
  expect(adminCertificate.subject).toContain('O=system:masters')
})

test('existing certificates are used again, and only the owner can read the keys', async () => {
  const first = await ensureCertificates(folder, ['127.0.0.1'])
  expect(await ensureCertificates(folder, ['127.0.0.1'])).toEqual(first)
  expect(statSync(join(folder, 'server.key')).mode & 0o777).toBe(0o600)
})

test('another name of the server gives a new certificate of the same authority', async () => {
  const first = await ensureCertificates(folder, ['127.0.0.1'])
  const second = await ensureCertificates(folder, ['127.0.0.1', 'api.example.com'])
  expect(second.ca).toBe(first.ca)
  expect(second.admin).toEqual(first.admin)
  expect(new X509Certificate(second.server.cert).checkHost('api.example.com')).toBe('api.example.com')
})

test('a certificate of another authority is replaced', async () => {
  const { admin } = await makeCertificates(['127.0.0.1'])
  const first = await ensureCertificates(folder, ['127.0.0.1'])
  writeFileSync(join(folder, 'admin.crt'), admin.cert)
  const second = await ensureCertificates(folder, ['127.0.0.1'])
  expect(second.admin.cert).not.toBe(admin.cert)
  expect(new X509Certificate(second.admin.cert).verify(new X509Certificate(first.ca).publicKey)).toBe(true)
  expect(readFileSync(join(folder, 'admin.crt'), 'utf8')).toBe(second.admin.cert)
})

test('keys are written in SEC1 form, which every client reads, and also read in PKCS #8 form', async () => {
  const { admin } = await ensureCertificates(folder, ['127.0.0.1'])
  for (const name of ['ca', 'server', 'admin']) {
    expect(readFileSync(join(folder, `${name}.key`), 'utf8')).toMatch(/^-----BEGIN EC PRIVATE KEY-----\n/)
  }
  const path = join(folder, 'admin.key')
  const pkcs8 = createPrivateKey(admin.key).export({ type: 'pkcs8', format: 'pem' }).toString()
  writeFileSync(path, pkcs8)
  expect((await ensureCertificates(folder, ['127.0.0.1'])).admin).toEqual({ cert: admin.cert, key: pkcs8 })
})

/** An authority by openssl: a kind of key, and more arguments. */
function foreignAuthority(key: readonly string[], ...more: string[]): void {
  const files = ['-keyout', join(folder, 'ca.key'), '-out', join(folder, 'ca.crt')]
  const args = ['req', '-x509', '-newkey', ...key, '-nodes', ...files, '-subj', '/CN=another', ...more]
  execFileSync('openssl', args, { stdio: 'pipe' })
}
const P256 = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256']
const start = () => ensureCertificates(folder, ['127.0.0.1'])

test('an authority of openssl signs if its key is on P-256', async () => {
  foreignAuthority(P256, '-days', '365', '-addext', 'keyUsage=critical,keyCertSign')
  const { ca, server } = await start()
  expect(ca).toBe(readFileSync(join(folder, 'ca.crt'), 'utf8'))
  expect(new X509Certificate(server.cert).checkIssued(new X509Certificate(ca))).toBe(true)
  writeFileSync(join(folder, 'checked.crt'), server.cert)
  const args = ['verify', '-x509_strict', '-CAfile', join(folder, 'ca.crt'), join(folder, 'checked.crt')]
  expect(execFileSync('openssl', args, { encoding: 'utf8' })).toMatch('OK')
})

test('an authority that cannot sign fails the start and is left as it is', async () => {
  foreignAuthority(['rsa:2048'], '-days', '365')
  await expect(start()).rejects.toThrow(
    `the authority in ${folder} cannot be used: ca.crt has a key of type rsa; it must be an EC key on the curve P-256`,
  )
  foreignAuthority(P256, '-days', '1')
  await expect(start()).rejects.toThrow('expires too soon')
  foreignAuthority(P256, '-days', '365', '-addext', 'basicConstraints=critical,CA:FALSE')
  await expect(start()).rejects.toThrow('ca.crt is not the certificate of an authority')
  foreignAuthority(P256, '-days', '365')
  writeFileSync(
    join(folder, 'ca.key'),
    createPrivateKey((await makeCertificates([])).admin.key).export({ type: 'sec1', format: 'pem' }),
  )
  await expect(start()).rejects.toThrow('ca.key is not the key of ca.crt')
  writeFileSync(join(folder, 'ca.key'), 'broken')
  await expect(start()).rejects.toThrow('ca.key is not an unencrypted private key in PEM form')
  rmSync(join(folder, 'ca.key'))
  await expect(start()).rejects.toThrow('ca.crt has no ca.key beside it')
  writeFileSync(join(folder, 'ca.key'), 'broken')
  writeFileSync(join(folder, 'ca.crt'), 'broken')
  await expect(start()).rejects.toThrow('ca.crt is not a certificate in PEM form')
  expect(readFileSync(join(folder, 'ca.crt'), 'utf8')).toBe('broken')
})

test('servers that start at once in an empty folder have one authority', async () => {
  const started = await Promise.all(Array.from({ length: 5 }, () => ensureCertificates(folder, ['127.0.0.1'])))
  const [first] = started
  for (const { ca, server, admin } of started) {
    expect(ca).toBe(first!.ca)
    for (const { cert } of [server, admin]) {
      expect(new X509Certificate(cert).verify(new X509Certificate(first!.ca).publicKey)).toBe(true)
    }
  }
  expect((await ensureCertificates(folder, ['127.0.0.1'])).ca).toBe(first!.ca)
})

test('replicas on one store have the authority of the first, whichever folder they have', async () => {
  const store = createMemoryStore()
  const replicas = await Promise.all(
    ['a', 'b', 'c'].map(name => ensureCertificates(join(folder, name), ['127.0.0.1'], shareAuthority(store))),
  )
  expect(new Set(replicas.map(({ ca }) => ca)).size).toBe(1)
  // A replica that had an authority of its own takes the shared one.
  await ensureCertificates(join(folder, 'd'), ['127.0.0.1'])
  const late = await ensureCertificates(join(folder, 'd'), ['127.0.0.1'], shareAuthority(store))
  expect(late.ca).toBe(replicas[0]!.ca)
  expect(readFileSync(join(folder, 'd', 'ca.crt'), 'utf8')).toBe(late.ca)
})

test('the authority of a first replica becomes the shared one', async () => {
  const alone = await ensureCertificates(folder, ['127.0.0.1'])
  const store = createMemoryStore()
  expect((await ensureCertificates(folder, ['127.0.0.1'], shareAuthority(store))).ca).toBe(alone.ca)
  expect((await makeCertificates(['127.0.0.1'], shareAuthority(store))).ca).toBe(alone.ca)
})
