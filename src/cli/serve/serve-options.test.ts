import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { makeCertificates } from '../../server/tls/certificates.js'
import { kubeFlags } from './kube-flags.js'
import { serveFlags } from './serve-flags.js'
import { readServeOptions } from './serve-options.js'

let folder: string
const file = (name: string) => join(folder, name)
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-options-'))
  const { ca, server, admin } = await makeCertificates(['127.0.0.1'])
  writeFileSync(file('ca.crt'), ca)
  writeFileSync(file('server.crt'), server.cert)
  writeFileSync(file('server.key'), server.key)
  writeFileSync(file('other.key'), admin.key)
  writeFileSync(file('tokens.csv'), 'secret,alice,1,"devs,ops"\n')
  writeFileSync(file('bad.csv'), 'secret,alice,1\n,\n')
})
afterAll(() => rmSync(folder, { recursive: true }))

const options = (...args: string[]) => readServeOptions(args)

test('without flags, https is served on 6443 of this machine from a folder in the home', () => {
  const { server, warnings, kubeconfig, mergeInto, whereabouts } = options()
  const data = join(homedir(), '.binnacle')
  expect(server).toMatchObject({
    storage: { kind: 'lmdb', folder: join(data, 'store') },
    https: { address: '127.0.0.1', port: 6443, certificates: { folder: join(data, 'pki') } },
    http: undefined,
    anonymous: true,
    authorization: 'RBAC',
    serviceRange: '10.0.0.0/24',
    garbageCollection: true,
    namespaceController: true,
    limits: { maxReading: 400, maxMutating: 200, requestTimeoutMs: 60_000 },
    minRequestTimeoutMs: 1_800_000,
  })
  expect({ warnings, kubeconfig, mergeInto, whereabouts }).toEqual({
    warnings: [],
    kubeconfig: join(data, 'kubeconfig'),
    mergeInto: undefined,
    whereabouts: `in ${join(data, 'store')}`,
  })
})

describe('storage', () => {
  test.each([
    [['--storage=memory'], { kind: 'memory' }],
    [['--data-dir=/d'], { kind: 'lmdb', folder: '/d/store' }],
    [['--storage=etcd'], { kind: 'etcd', endpoints: ['http://127.0.0.1:2379'], prefix: '/registry' }],
    [
      ['--etcd-servers=http://a:1,http://b:2', '--etcd-prefix=/p'],
      { kind: 'etcd', endpoints: ['http://a:1', 'http://b:2'], prefix: '/p' },
    ],
  ])('%j', (args, storage) => {
    expect(options(...args).server.storage).toEqual(storage)
  })

  test('flags of a store that is not used are told', () => {
    expect(options('--storage=memory', '--etcd-prefix=/p').warnings).toEqual([
      '--etcd-prefix has no effect: objects are not kept in etcd',
    ])
  })
})

test('certificates are read from files, and further authorities are believed', () => {
  const { server } = options(
    `--tls-cert-file=${file('server.crt')}`,
    `--tls-private-key-file=${file('server.key')}`,
    `--client-ca-file=${file('ca.crt')}`,
  )
  expect(server.https?.certificates).toMatchObject({
    serving: { cert: expect.stringContaining('BEGIN CERTIFICATE'), key: expect.stringContaining('PRIVATE KEY') },
    clientCa: expect.stringContaining('BEGIN CERTIFICATE'),
  })
})

test('a certificate by the name that kube-apiserver gives it is found in its folder', () => {
  const certs = mkdtempSync(join(folder, 'certs-'))
  expect(options(`--cert-dir=${certs}`).server.https?.certificates).toEqual({ folder: certs })
  copyFileSync(file('server.crt'), join(certs, 'apiserver.crt'))
  copyFileSync(file('server.key'), join(certs, 'apiserver.key'))
  expect(options(`--cert-dir=${certs}`).server.https?.certificates.serving?.cert).toMatch('BEGIN CERTIFICATE')
})

test('tokens are read from a file', () => {
  const { server } = options(`--token-auth-file=${file('tokens.csv')}`)
  expect(server.tokens?.get('secret')).toEqual({ name: 'alice', uid: '1', groups: ['devs', 'ops'], extra: {} })
})

test('where only plain http is served, a token is made by which the administrator gets in', () => {
  const { server, token } = options('--https=false', '--http-port=8080')
  expect(server.https).toBeUndefined()
  expect(server.http).toEqual({ port: 8080 })
  expect(server.tokens?.get(token ?? '')?.groups).toEqual(['system:masters'])
})

test('webhooks are found where the flags say', () => {
  const { server } = options('--webhook-resolve=a.ns.svc=127.0.0.1:9443', '--webhook-resolve', 'b.ns.svc=localhost')
  expect(server.webhookHosts).toEqual(
    new Map([
      ['a.ns.svc', { host: '127.0.0.1', port: 9443 }],
      ['b.ns.svc', { host: 'localhost' }],
    ]),
  )
})

test('the kubeconfig is merged where kubectl looks, and only when asked', () => {
  vi.stubEnv('KUBECONFIG', '/a/config:/b/config')
  expect(options('--merge-kubeconfig').mergeInto).toBe('/a/config')
  vi.stubEnv('KUBECONFIG', '')
  expect(options('--merge-kubeconfig').mergeInto).toBe(join(homedir(), '.kube', 'config'))
  vi.unstubAllEnvs()
})

const ANONYMOUS_OFF =
  '--authorization-mode=AlwaysAllow switches --anonymous-auth off: who does not prove who they are could do everything'

describe('what has no effect is told', () => {
  test.each([
    [['--allow-privileged', '--event-ttl', '1h'], ['allow-privileged', 'event-ttl'].map(unneeded)],
    [['--feature-gates=CBORServingAndStorage=true,Other=true'], ['--feature-gates: Other has no effect here']],
    [['--feature-gates=CBORServingAndStorage=false'], ['--feature-gates: CBORServingAndStorage is always on']],
    [
      ['--enable-admission-plugins=NodeRestriction,NamespaceLifecycle'],
      ['--enable-admission-plugins: NodeRestriction is not there and has no effect'],
    ],
    [['--authorization-mode=Node,RBAC', '--disable-admission-plugins=ServiceAccount'], []],
    [['--authorization-mode=AlwaysAllow', '--anonymous-auth=false'], []],
    [['--authorization-mode=AlwaysAllow'], [ANONYMOUS_OFF]],
    [['--authorization-mode=RBAC,AlwaysAllow', '--anonymous-auth'], [ANONYMOUS_OFF]],
  ])('%j', (args, warnings) => {
    expect(options(...args).warnings).toEqual(warnings)
  })

  function unneeded(name: string): string {
    return `--${name} has no effect: there is nothing here that needs it`
  }
})

test.each([
  [['--https=false'], '--https=false leaves nothing to serve; give --http-port as well'],
  [['--bind-address=localhost'], '--bind-address=localhost: it must be an IP address'],
  [['--authorization-mode=ABAC'], '--authorization-mode=ABAC: it must be RBAC or AlwaysAllow'],
  [['--service-cluster-ip-range=10.0.0.0'], 'it must be a range of IPv4 addresses, such as 10.0.0.0/24'],
  [['--etcd-servers=localhost:2379'], '--etcd-servers=localhost:2379: an endpoint is a URL'],
  [['--webhook-resolve=a.ns.svc'], '--webhook-resolve=a.ns.svc: it must be a host and where it is, such as'],
  [['--tls-cert-file=/x'], '--tls-cert-file and --tls-private-key-file go together: give both or none'],
  [['--client-ca-file=/does/not/exist'], '--client-ca-file=/does/not/exist: the file cannot be read: ENOENT'],
  [['--enable-admission-plugins=NamespaceLifecyle'], 'there is no such plugin; did you mean NamespaceLifecycle?'],
])('%j is refused in one line', (args, message) => {
  expect(() => options(...args)).toThrow(message)
})

test('a certificate with the key of another, and a token file with a bad line, are refused', () => {
  expect(() => options(`--tls-cert-file=${file('server.crt')}`, `--tls-private-key-file=${file('other.key')}`)).toThrow(
    'are not a certificate and its key in PEM form: ',
  )
  expect(() => options(`--token-auth-file=${file('bad.csv')}`)).toThrow('line 2 of the token file')
})

test('no flag is both heeded and ignored', () => {
  expect([...kubeFlags().keys()].filter(name => Object.hasOwn(serveFlags, name))).toEqual([])
})
