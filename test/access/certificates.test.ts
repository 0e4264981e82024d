// Certificates that are read again while the executable runs.
import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { expect, test } from 'vitest'
import { type KeyPair, makeCertificate } from '../../src/server/tls/x509.js'
import type { BinnacleProcess } from '../components/binnacle.js'
import { dataDirectoryForEachTest } from '../components/data-directory.js'
import { sendRequest } from '../server/request.js'

const data = dataDirectoryForEachTest('certificates')
const token = 'admin-token'
const SOON = { timeout: 10_000 }

const fileOf = (name: string): string => join(data.path, name)
function write(name: string, text: string): string {
  mkdirSync(data.path, { recursive: true })
  writeFileSync(fileOf(name), text)
  return fileOf(name)
}

const validity = { from: new Date(Date.now() - 1000), to: new Date(Date.now() + 3_600_000) }
const authority = (name: string): Promise<KeyPair> => makeCertificate({ subject: { name }, validity, use: 'authority' })
const client = (ca: KeyPair, name: string, organization: string): Promise<KeyPair> =>
  makeCertificate({ subject: { name, organization }, validity, use: 'client' }, ca)
const serving = (name: string, ...hosts: string[]): Promise<KeyPair> =>
  makeCertificate({ subject: { name }, validity, use: 'server', hosts })

const pairFiles = (name: string, { cert, key }: KeyPair): [string, string] => [
  write(`${name}.crt`, cert),
  write(`${name}.key`, key),
]

/** The certificate that the server presents to a client that asks for a name, and the common name in it. */
function presented({ url }: BinnacleProcess, servername?: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false, servername }, () => {
      resolve(socket.getPeerX509Certificate()!.subject)
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

test('the serving certificate is read again, and one that is none changes nothing', async () => {
  const [cert, key] = pairFiles('serving', await serving('first', '127.0.0.1'))
  const server = await data.start('--storage=memory', `--tls-cert-file=${cert}`, `--tls-private-key-file=${key}`)
  expect(await presented(server)).toBe('CN=first')
  // For a moment the two files do not belong together.
  pairFiles('serving', await serving('second', '127.0.0.1'))
  await expect.poll(() => presented(server), SOON).toBe('CN=second')
  write('serving.key', 'broken')
  rmSync(cert)
  pairFiles('third', await serving('third', '127.0.0.1'))
  expect(await presented(server)).toBe('CN=second')
  renameSync(fileOf('third.key'), key)
  renameSync(fileOf('third.crt'), cert)
  await expect.poll(() => presented(server), SOON).toBe('CN=third')
})

test('a client that asks for a name gets the certificate of --tls-sni-cert-key that has it', async () => {
  const [fooCert, fooKey] = pairFiles('foo', await serving('foo', 'foo.example'))
  // Of another type of key than the default certificate.
  const [barCert, barKey] = [fileOf('bar.crt'), fileOf('bar.key')]
  const names = 'subjectAltName=DNS:bar.example,DNS:*.bar.example'
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=bar', '-addext', names]
  execFileSync('openssl', [...args, '-keyout', barKey, '-out', barCert], { stdio: 'pipe' })
  const server = await data.start(
    '--storage=memory',
    `--tls-sni-cert-key=${fooCert},${fooKey}:foo,*.foo`,
    `--tls-sni-cert-key=${barCert},${barKey}`,
  )
  expect(await presented(server, 'foo')).toBe('CN=foo')
  expect(await presented(server, 'a.foo')).toBe('CN=foo')
  expect(await presented(server, 'BAR.example')).toBe('CN=bar')
  expect(await presented(server, 'x.bar.example')).toBe('CN=bar')
  // The names of the flag are in the place of those in the certificate.
  for (const name of ['foo.example', 'a.b.foo', undefined]) {
    expect(await presented(server, name)).not.toMatch(/CN=(foo|bar)/)
  }
  pairFiles('foo', await serving('other', 'foo.example'))
  await expect.poll(() => presented(server, 'foo'), SOON).toBe('CN=other')
})

test('only the given authorities of clients count, also after they have changed', async () => {
  const [before, after] = [await authority('before'), await authority('after')]
  const server = await data.start('--storage=memory', `--client-ca-file=${write('clients.crt', before.cert)}`)
  const [old, fresh] = [await client(before, 'old', 'system:masters'), await client(after, 'new', 'system:masters')]
  const statusFor = async (pair: KeyPair) => (await sendRequest(server, '/api/v1/namespaces', { client: pair })).status
  expect(await statusFor(old)).toBe(200)
  expect(await statusFor(fresh)).toBe(401)
  write('clients.crt', after.cert)
  await expect.poll(() => statusFor(fresh), SOON).toBe(200)
  expect(await statusFor(old)).toBe(401)
  const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
  const published = async () => (await sendRequest(server, path, { token })).body.data?.['client-ca-file'] ?? ''
  const names = async () =>
    ((await published()).match(/-----BEGIN[\s\S]*?END CERTIFICATE-----/g) ?? []).map(
      (pem: string) => new X509Certificate(pem).subject,
    )
  await expect.poll(names, SOON).toEqual(['CN=before', 'CN=after'])
})
