// Counts of certificates by the duration that was requested, as signers write them to the status.
import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Binnacle, startBinnacle } from '../../src/server/index.js'
import { makeCertificate } from '../../src/server/tls/x509.js'
import { sendRequest } from './request.js'

let server: Binnacle
beforeAll(async () => {
  server = await startBinnacle()
})
afterAll(() => server.stop())

const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const base64 = (pem: string): string => Buffer.from(pem).toString('base64')

async function certificateFor(seconds: number): Promise<string> {
  const from = Date.UTC(2026, 0, 1)
  const validity = { from: new Date(from), to: new Date(from + seconds * 1000) }
  return base64((await makeCertificate({ subject: { name: 'a' }, validity, use: 'client' })).cert)
}

const newRequest = (): string => {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', '/dev/null']
  return base64(execFileSync('openssl', ['req', '-new', '-subj', '/CN=a', ...key], { encoding: 'utf8', stdio: 'pipe' }))
}

test('certificates are counted when they are issued for a requested duration, and when they have it', async () => {
  const { token } = server
  const send = (path: string, method = 'GET', body?: unknown) => sendRequest(server, path, { method, token, body })
  const counts = async (): Promise<string[]> =>
    (await send('/metrics')).text.split('\n').filter(line => line.startsWith('apiserver_certificates_registry_'))
  const request = newRequest()

  async function issue(name: string, signerName: string, expirationSeconds: number | undefined, lifetime: number) {
    const spec = { request, signerName, expirationSeconds, usages: ['client auth'] }
    const metadata = { name }
    const kind = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' }
    const created = await send(CSRS, 'POST', { ...kind, metadata, spec })
    expect(created.status).toBe(201)
    const status = { certificate: await certificateFor(lifetime) }
    const dryRun = await send(`${CSRS}/${name}/status?dryRun=All`, 'PUT', { ...created.body, status })
    const signed = await send(`${CSRS}/${name}/status`, 'PUT', { ...created.body, status })
    expect([dryRun.status, signed.status]).toEqual([200, 200])
    // The status is written again: nothing is issued.
    const conditions = [{ type: 'Noted', status: 'True', reason: 'a', message: '' }]
    const again = { ...signed.body, status: { ...signed.body.status, conditions } }
    expect((await send(`${CSRS}/${name}/status`, 'PUT', again)).status).toBe(200)
  }

  const known = 'kubernetes.io/kube-apiserver-client'
  await issue('without', known, undefined, 3600)
  expect(await counts()).toEqual([])
  await issue('exact', known, 3600, 3600)
  // 5 minutes and a twentieth are tolerated.
  await issue('longer', known, 3600, 3600 + 479)
  await issue('too-long', known, 3600, 3600 + 480)
  await issue('shorter', 'example.com/signer', 86_400, 3600)
  expect(await counts()).toEqual([
    `apiserver_certificates_registry_csr_honored_duration_total{signerName="${known}"} 2`,
    `apiserver_certificates_registry_csr_requested_duration_total{signerName="${known}"} 3`,
    'apiserver_certificates_registry_csr_requested_duration_total{signerName="other"} 1',
  ])
})
