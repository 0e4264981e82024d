// Flags of kube-apiserver that change the responses of the executable.
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ConnectionOptions, connect } from 'node:tls'
import { expect, test } from 'vitest'
import { type KeyPair, makeCertificate } from '../../src/server/tls/x509.js'
import { runBinnacle } from '../components/binnacle.js'
import { dataDirectoryForEachTest } from '../components/data-directory.js'
import { sendRequest } from './request.js'

const token = 'admin-token'
const data = dataDirectoryForEachTest('flags')
const { start } = data

function write(name: string, text: string): string {
  mkdirSync(data.path, { recursive: true })
  const path = join(data.path, name)
  writeFileSync(path, text)
  return path
}

const validity = { from: new Date(Date.now() - 1000), to: new Date(Date.now() + 3_600_000) }
const authority = (name: string): Promise<KeyPair> => makeCertificate({ subject: { name }, validity, use: 'authority' })
const client = (ca: KeyPair, name: string, organization = ''): Promise<KeyPair> =>
  makeCertificate({ subject: { name, ...(organization && { organization }) }, validity, use: 'client' }, ca)

test('tokens of service accounts are signed by the given key, for the given issuer and audiences', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const server = await start(
    '--storage=memory',
    '--service-account-issuer=https://issuer.example',
    `--service-account-signing-key-file=${write('sa.key', privateKey)}`,
    `--service-account-key-file=${write('sa.pub', publicKey)}`,
    '--api-audiences=api,other',
    '--service-account-max-token-expiration=1h',
    '--external-hostname=api.example',
  )
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  await sendRequest(server, accounts, { method: 'POST', token, body: { metadata: { name: 'robot' } } })
  const { body } = await sendRequest(server, `${accounts}/robot/token`, {
    method: 'POST',
    token,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 86_400 } },
  })
  const issued: string = body.status.token
  const [header = '', claims = '', signature = ''] = issued.split('.')
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
  expect(read(header)).toMatchObject({ alg: 'RS256' })
  expect(read(claims)).toMatchObject({ iss: 'https://issuer.example', aud: ['api', 'other'] })
  expect(read(claims).exp - read(claims).iat).toBe(3600)
  const signed = Buffer.from(`${header}.${claims}`)
  expect(verify('sha256', signed, createPublicKey(publicKey), Buffer.from(signature, 'base64url'))).toBe(true)
  const review = await sendRequest(server, '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    method: 'POST',
    token: issued,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
  })
  expect(review.body.status.userInfo.username).toBe('system:serviceaccount:default:robot')
  const discovery = await sendRequest(server, '/.well-known/openid-configuration', { token })
  expect(discovery.body).toMatchObject({
    issuer: 'https://issuer.example',
    jwks_uri: expect.stringMatching(/^https:\/\/api\.example:[0-9]+\/openid\/v1\/jwks$/),
    id_token_signing_alg_values_supported: ['RS256'],
  })
  const keys = await sendRequest(server, '/openid/v1/jwks', { token })
  expect(keys.headers['cache-control']).toBe('public, max-age=3600')
  expect(keys.body.keys).toEqual([
    { use: 'sig', kty: 'RSA', kid: read(header).kid, alg: 'RS256', n: expect.any(String), e: 'AQAB' },
  ])
})

test('a proxy with a certificate of its authority names users in headers; no other client can', async () => {
  const [proxyCa, clientCa] = [await authority('proxy-ca'), await authority('client-ca')]
  const server = await start(
    '--storage=memory',
    `--requestheader-client-ca-file=${write('proxy-ca.crt', proxyCa.cert)}`,
    '--requestheader-allowed-names=front-proxy',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--client-ca-file=${write('client-ca.crt', clientCa.cert)}`,
  )
  const whoAmI = async (pair: KeyPair, headers: Record<string, string>) => {
    const { status, body } = await sendRequest(server, '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      method: 'POST',
      client: pair,
      headers,
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    })
    return status === 201 ? body.status.userInfo : status
  }
  const headers = { 'X-Remote-User': 'alice', 'X-Remote-Group': 'devs', 'X-Remote-Extra-Team': 'a' }
  expect(await whoAmI(await client(proxyCa, 'front-proxy'), headers)).toMatchObject({
    username: 'alice',
    groups: ['devs', 'system:authenticated'],
    extra: { team: ['a'] },
  })
  // The proxy's own certificate is not a user, and another name of its authority is not a proxy.
  expect(await whoAmI(await client(proxyCa, 'front-proxy', 'system:masters'), {})).toBe(401)
  expect(await whoAmI(await client(proxyCa, 'somebody'), headers)).toBe(401)
  // A certificate of an unknown authority is not taken for no certificate.
  expect(await whoAmI(await client(await authority('other-ca'), 'eve'), {})).toBe(401)
  // Clients of the other authority are the users that their certificates name.
  const masters = { 'X-Remote-User': 'root', 'X-Remote-Group': 'system:masters' }
  expect(await whoAmI(await client(clientCa, 'bob', 'ops'), masters)).toMatchObject({
    username: 'bob',
    groups: ['ops', 'system:authenticated'],
  })
})

test('versions of TLS, HTTP/2 and the header of strict transport security are as the flags say', async () => {
  const server = await start(
    '--storage=memory',
    '--tls-min-version=VersionTLS13',
    '--disable-http2-serving',
    '--strict-transport-security-directives=max-age=31536000,includeSubDomains',
  )
  const { hostname, port } = new URL(server.url)
  const handshake = (options: ConnectionOptions) =>
    new Promise<string>(resolve => {
      const socket = connect({ host: hostname, port: Number(port), ca: server.ca, ...options }, () => {
        resolve(`${socket.getProtocol()} ${socket.alpnProtocol}`)
        socket.destroy()
      })
      socket.on('error', () => resolve('refused'))
    })
  expect(await handshake({ maxVersion: 'TLSv1.2' })).toBe('refused')
  expect(await handshake({ ALPNProtocols: ['h2', 'http/1.1'] })).toBe('TLSv1.3 http/1.1')
  const { headers } = await sendRequest(server, '/readyz', { token })
  expect(headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains')
})

test('the advertised address is in the Endpoints of the service kubernetes, also after a change', async () => {
  for (const address of ['192.0.2.7', '192.0.2.8']) {
    const server = await start(`--advertise-address=${address}`)
    const port = Number(new URL(server.url).port)
    const endpoints = '/api/v1/namespaces/default/endpoints/kubernetes'
    await expect
      .poll(async () => (await sendRequest(server, endpoints, { token })).body.subsets?.[0]?.addresses)
      .toEqual([{ ip: address }])
    const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes'
    await expect
      .poll(async () => (await sendRequest(server, slices, { token })).body.endpoints?.[0]?.addresses)
      .toEqual([address])
    expect((await sendRequest(server, slices, { token })).body).toMatchObject({
      addressType: 'IPv4',
      ports: [{ name: 'https', port, protocol: 'TCP' }],
    })
    await server.stop()
  }
})

test('with AlwaysDeny only members of system:masters may do anything', async () => {
  const server = await start('--storage=memory', '--authorization-mode=AlwaysDeny')
  expect((await sendRequest(server, '/api/v1/namespaces', { token })).status).toBe(200)
  const { status, body } = await sendRequest(server, '/api/v1/namespaces', { token: 'alice-token' })
  expect(status).toBe(403)
  expect(body.message).toMatch(/: Everything is forbidden\.$/)
})

test.each([
  [
    ['--audit-webhook-config-file=/x', '--audit-webhook-mode=blocking'],
    '--audit-webhook-mode=blocking is refused: requests do not wait until their events are sent, only batch is possible',
  ],
  [
    ['--audit-policy-file=/x'],
    "--audit-policy-file=/x: the file cannot be read: ENOENT: no such file or directory, open '/x'",
  ],
  [['--endpoint-reconciler-type=all'], '--endpoint-reconciler-type=all: it must be one of lease, master-count, none'],
  [['--runtime-config=nope/v1=true'], 'unknown api groups nope/v1'],
  [['--feature-gates=Nope=true'], 'unrecognized feature gate: Nope'],
])('%j ends in one line, and nothing is created', async (flags, message) => {
  const { code, stdout, stderr } = await runBinnacle('serve', `--data-dir=${data.path}/none`, ...flags)
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: `binnacle: ${message}\n` })
  expect(() => readFileSync(`${data.path}/none/kubeconfig`)).toThrow('ENOENT')
})

test('the server that chooses the holders of Leases holds one itself, with the times of the flags', async () => {
  const server = await start(
    '--storage=memory',
    '--feature-gates=CoordinatedLeaderElection=true',
    '--runtime-config=coordination.k8s.io/v1beta1=true',
    '--coordinated-leadership-lease-duration=7s',
    '--coordinated-leadership-renew-deadline=5s',
    '--coordinated-leadership-retry-period=1s',
  )
  const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/leader-election-controller'
  await expect
    .poll(async () => (await sendRequest(server, path, { token })).body.spec, { timeout: 20_000 })
    .toMatchObject({ holderIdentity: expect.stringMatching(/_/) as string, leaseDurationSeconds: 7 })
})
