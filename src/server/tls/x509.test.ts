import { execFileSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type CertificateRequest, makeCertificate } from './x509.js'

const validity = { from: new Date('2026-01-01T00:00:00Z'), to: new Date('2051-02-03T04:05:06Z') }
const authority: CertificateRequest = { subject: { name: 'the-ca' }, validity, use: 'authority' }
const server = (...hosts: string[]): CertificateRequest => ({ subject: { name: 'a' }, validity, use: 'server', hosts })

test('an authority is self-signed and may sign others', async () => {
  const { cert, key } = await makeCertificate(authority)
  const certificate = new X509Certificate(cert)
  expect(certificate.ca).toBe(true)
  expect(certificate.subject).toBe('CN=the-ca')
  expect(certificate.verify(certificate.publicKey)).toBe(true)
  expect(certificate.checkPrivateKey(createPrivateKey(key))).toBe(true)
  expect([certificate.validFrom, certificate.validTo]).toEqual(['Jan  1 00:00:00 2026 GMT', 'Feb  3 04:05:06 2051 GMT'])
})

test('a signed certificate names its authority, and is none itself', async () => {
  const ca = await makeCertificate({ ...authority, subject: { name: 'the-ca', organization: 'us' } })
  const request: CertificateRequest = {
    subject: { name: 'Zoë', organization: 'system:masters' },
    validity,
    use: 'client',
  }
  const certificate = new X509Certificate((await makeCertificate(request, ca)).cert)
  const issuer = new X509Certificate(ca.cert)
  expect(certificate.checkIssued(issuer)).toBe(true)
  expect(certificate.verify(issuer.publicKey)).toBe(true)
  expect(certificate.ca).toBe(false)
  expect(certificate.subject).toBe('O=system:masters\nCN=Zoë')
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
})

test.each([
  'localhost',
  'api.example.com',
  '127.0.0.1',
  '::1',
  '::',
  '2001:db8::8:800:200c:417a',
  'fe80:0:0:0:1:2:3:4',
])('a server is known as %s', async host => {
  const certificate = new X509Certificate((await makeCertificate(server('other', host))).cert)
  const found = /^[a-z.]+$/.test(host) ? certificate.checkHost(host) : certificate.checkIP(host)
  expect(found).toBe(host)
  expect(certificate.checkHost('elsewhere')).toBeUndefined()
})

test('a long list of hosts fits', async () => {
  const hosts = Array.from({ length: 300 }, (_, i) => `host-${i}.example.com`)
  const certificate = new X509Certificate((await makeCertificate(server(...hosts))).cert)
  expect(certificate.checkHost('host-299.example.com')).toBe('host-299.example.com')
})

test('openssl accepts the certificates with its strict checks', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-x509-'))
  try {
    const valid = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 86_400_000) }
    const ca = await makeCertificate({ ...authority, validity: valid })
    const made = {
      server: await makeCertificate({ ...server('localhost', '127.0.0.1'), validity: valid }, ca),
      client: await makeCertificate({ subject: { name: 'a' }, validity: valid, use: 'client' }, ca),
    }
    writeFileSync(join(folder, 'ca.crt'), ca.cert)
    for (const [use, { cert }] of Object.entries(made)) {
      const path = join(folder, `${use}.crt`)
      writeFileSync(path, cert)
      const purpose = ['-purpose', `ssl${use}`]
      const printed = execFileSync(
        'openssl',
        ['verify', '-x509_strict', ...purpose, '-CAfile', join(folder, 'ca.crt'), path],
        { encoding: 'utf8', stdio: 'pipe' },
      )
      expect(printed).toBe(`${path}: OK\n`)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})
