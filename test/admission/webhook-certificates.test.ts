// Webhooks on this machine: their certificates, and configurations that trust them.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { webhookCerts } from '../../src/cli/webhook-certs/webhook-certs.js'
import { type Binnacle, makeWebhookCertificates, startBinnacle, trustWebhooks } from '../../src/server/index.js'
import { makeCertificate } from '../../src/server/tls/x509.js'
import { sendRequest } from '../server/request.js'
import { type AdmissionWebhookServer, startAdmissionWebhook } from './admission-webhook-server.js'

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
/** As kubebuilder writes it: by service, without a caBundle. */
const MANIFEST = `---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: deny}
webhooks:
- name: deny.example.com
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {service: {namespace: system, name: webhook-service, path: /validate}}
  rules: [{operations: [CREATE], apiGroups: [''], apiVersions: [v1], resources: [configmaps]}]
`

let folder: string
let server: Binnacle | undefined
let webhook: AdmissionWebhookServer | undefined

beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'binnacle-webhook-certs-'))))
afterEach(async () => {
  vi.restoreAllMocks()
  await server?.stop()
  await webhook?.stop()
  server = webhook = undefined
  rmSync(folder, { recursive: true })
})

/** What the command prints. */
async function run(...args: string[]): Promise<string> {
  let printed = ''
  vi.spyOn(process.stdout, 'write').mockImplementation(text => {
    printed += text
    return true
  })
  vi.spyOn(console, 'log').mockImplementation((text: string) => void (printed += `${text}\n`))
  await webhookCerts([`--dir=${join(folder, 'certs')}`, ...args])
  vi.restoreAllMocks()
  return printed
}

const read = (name: string): string => readFileSync(join(folder, 'certs', name), 'utf8')

/** The message with which a create is refused once the configuration is stored. */
async function refusalBy(configuration: object): Promise<string> {
  // It creates ConfigMaps, whose reviews would be among those of the test.
  server = await startBinnacle({ controllers: ['*', '-root-ca-certificate-publisher-controller'] })
  webhook!.answer = () => ({ allowed: false, status: { message: 'no' } })
  const { token } = server
  const { status } = await sendRequest(server, CONFIGURATIONS, { method: 'POST', token, body: configuration })
  expect(status).toBe(201)
  const create = { method: 'POST', token, body: { metadata: { name: 'a' } } }
  const { body } = await sendRequest(server, '/api/v1/namespaces/default/configmaps', create)
  return body.message
}

const DENIED = 'admission webhook "deny.example.com" denied the request: no'

describe('the command', () => {
  test('creates certificates for a webhook on this machine, and keeps them', async () => {
    const printed = await run()
    expect(printed).toContain(`key          ${join(folder, 'certs', 'tls.key')}`)
    expect(printed).toContain(`caBundle     ${Buffer.from(read('ca.crt')).toString('base64')}`)
    expect(statSync(join(folder, 'certs', 'tls.key')).mode & 0o77).toBe(0)
    const before = read('tls.crt')
    await run()
    expect(read('tls.crt')).toBe(before)
    await run('--service=system/webhook-service')
    expect(read('tls.crt')).not.toBe(before)
  })

  test('points manifests at the webhook, which is then called', async () => {
    const file = join(folder, 'manifests.yaml')
    writeFileSync(file, `# comment\n${MANIFEST}`)
    await run()
    const caBundle = Buffer.from(read('ca.crt')).toString('base64')
    webhook = await startAdmissionWebhook([], { cert: read('tls.crt'), key: read('tls.key'), caBundle })
    const printed = await run(`--manifests=${file}`, `--url=https://127.0.0.1:${webhook.port}`)
    expect(await refusalBy(JSON.parse(printed))).toBe(DENIED)
    expect(webhook.reviews.map(({ path }) => path)).toEqual(['/validate?timeout=10s'])
  })

  test('prints several manifests as one list, and others as they are', async () => {
    const file = join(folder, 'manifests.yaml')
    writeFileSync(file, `${MANIFEST}---\n{apiVersion: v1, kind: Service, metadata: {name: webhook-service}}\n`)
    const { kind, items } = JSON.parse(await run(`--manifests=${file}`))
    expect([kind, items[1]]).toEqual([
      'List',
      { apiVersion: 'v1', kind: 'Service', metadata: { name: 'webhook-service' } },
    ])
    expect(items[0].webhooks[0].clientConfig).toMatchObject({
      service: { name: 'webhook-service' },
      caBundle: expect.any(String),
    })
  })

  test.each([
    ['--url=http://127.0.0.1', 'it must be an https URL'],
    ['--service=webhook', 'it must be a namespace and a name'],
    ['--host=a b', '"a b" is neither a host name nor an address'],
    ['--manifests=/does/not/exist', 'there is no file or folder /does/not/exist'],
  ])('refuses %s', async (flag, message) => {
    await expect(run(flag)).rejects.toThrow(message)
  })
})

test('the library makes certificates and changes configurations in memory', async () => {
  const certificates = await makeWebhookCertificates()
  webhook = await startAdmissionWebhook([], certificates)
  const manifest = JSON.parse(JSON.stringify(configuration({ service: { namespace: 'a', name: 'b' } })))
  const { caBundle } = certificates
  expect(await refusalBy(trustWebhooks(manifest, { caBundle, url: `https://127.0.0.1:${webhook.port}/` }))).toBe(DENIED)
})

test('a conversion webhook of a CRD gets its caBundle, too', () => {
  const conversion = { strategy: 'Webhook', webhook: { clientConfig: { service: { path: '/c' } } } }
  const crd = { kind: 'CustomResourceDefinition', spec: { group: 'g', conversion } }
  expect(trustWebhooks(crd, { caBundle: 'Yg==', url: 'https://localhost:1' })).toEqual({
    kind: 'CustomResourceDefinition',
    spec: {
      group: 'g',
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: { caBundle: 'Yg==', url: 'https://localhost:1/c' } },
      },
    },
  })
})

const configuration = (clientConfig: object) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'deny' },
  webhooks: [
    {
      name: 'deny.example.com',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      clientConfig,
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    },
  ],
})

test("a self-signed certificate is its own caBundle, as with controller-runtime's WebhookInstallOptions", async () => {
  const validity = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) }
  const request = { subject: { name: 'webhook' }, validity, use: 'server', hosts: ['127.0.0.1'] } as const
  const pair = await makeCertificate(request)
  const caBundle = Buffer.from(pair.cert).toString('base64')
  webhook = await startAdmissionWebhook([], { ...pair, caBundle })
  expect(await refusalBy(configuration({ url: `https://127.0.0.1:${webhook.port}/validate`, caBundle }))).toBe(DENIED)
})
