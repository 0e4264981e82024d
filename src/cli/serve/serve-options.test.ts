import { generateKeyPairSync } from 'node:crypto'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { makeCertificates } from '../../server/tls/certificates.js'
import { fullServeHelp, otherFlags, serveFlags, serveHelp } from './serve-flags.js'
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
  const rsa = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  writeFileSync(file('sa.key'), rsa.privateKey)
  writeFileSync(file('sa.pub'), `${rsa.publicKey}\n${readFileSync(file('server.crt'), 'utf8')}`)
})
afterAll(() => rmSync(folder, { recursive: true }))

const options = (...args: string[]) => readServeOptions(args)

test('without flags, https is served on 6443 of this machine from a folder in the home', () => {
  const { server, warnings, kubeconfig, mergeInto, storedWhere } = options()
  const data = join(homedir(), '.binnacle')
  expect(server).toMatchObject({
    storage: { kind: 'lmdb', directory: join(data, 'store'), noSync: false },
    serving: {
      https: {
        address: '127.0.0.1',
        port: 6443,
        certificateFolder: join(data, 'pki'),
        minVersion: 'TLSv1.2',
        http2: true,
      },
      http: undefined,
      strictTransportSecurity: undefined,
    },
    authentication: { anonymous: true, requestHeader: undefined, serviceAccounts: { issuers: [], audiences: [] } },
    authorization: { modes: ['RBAC'] },
    api: { serviceRange: '10.0.0.0/24' },
    controllers: { controllers: ['*'], eventTtlMs: 3_600_000 },
    limits: {
      requests: { maxReading: 400, maxMutating: 200, requestTimeoutMs: 60_000 },
      minRequestTimeoutMs: 1_800_000,
    },
    logging: { verbosity: 1, format: 'text' },
  })
  expect({ warnings, kubeconfig, mergeInto, storedWhere }).toEqual({
    warnings: [],
    kubeconfig: join(data, 'kubeconfig'),
    mergeInto: undefined,
    storedWhere: `in ${join(data, 'store')}`,
  })
})

describe('storage', () => {
  test.each([
    [['--storage=memory'], { kind: 'memory' }],
    [['--data-dir=/d'], { kind: 'lmdb', directory: '/d/store', noSync: false }],
    [['--data-dir=/d', '--unsafe-no-fsync'], { kind: 'lmdb', directory: '/d/store', noSync: true }],
    [
      ['--storage=etcd'],
      {
        kind: 'etcd',
        endpoints: ['http://127.0.0.1:2379'],
        prefix: '/registry',
        historyMs: 300_000,
        startTimeoutMs: 60_000,
      },
    ],
    [
      [
        '--etcd-servers=http://a:1,http://b:2',
        '--etcd-prefix=/p',
        '--etcd-compaction-interval=0',
        '--etcd-start-timeout=0',
      ],
      { kind: 'etcd', endpoints: ['http://a:1', 'http://b:2'], prefix: '/p', historyMs: 0, startTimeoutMs: 0 },
    ],
  ])('%j', (args, storage) => {
    expect(options(...args).server.storage).toEqual(storage)
  })

  test('flags of a store that is not used give a warning', () => {
    expect(options('--storage=memory', '--etcd-prefix=/p').warnings).toEqual([
      '--etcd-prefix has no effect: objects are not stored in etcd',
    ])
  })
})

test('certificates and further authorities are read from files', () => {
  const { server } = options(
    `--tls-cert-file=${file('server.crt')}`,
    `--tls-private-key-file=${file('server.key')}`,
    `--client-ca-file=${file('ca.crt')}`,
  )
  expect(server.serving.https?.keyPair).toEqual({
    cert: expect.stringContaining('BEGIN CERTIFICATE'),
    key: expect.stringContaining('PRIVATE KEY'),
  })
  expect(server.authentication.clientCa).toMatch('BEGIN CERTIFICATE')
})

test('a certificate by the name that kube-apiserver gives it is found in its folder', () => {
  const certs = mkdtempSync(join(folder, 'certs-'))
  const https = () => options(`--cert-dir=${certs}`).server.serving.https
  expect(https()).toMatchObject({ certificateFolder: certs, keyPair: undefined })
  copyFileSync(file('server.crt'), join(certs, 'apiserver.crt'))
  copyFileSync(file('server.key'), join(certs, 'apiserver.key'))
  expect(https()?.keyPair?.cert).toMatch('BEGIN CERTIFICATE')
})

test('tokens are read from a file', () => {
  const { server } = options(`--token-auth-file=${file('tokens.csv')}`)
  expect(server.authentication.tokens.get('secret')).toEqual({
    name: 'alice',
    uid: '1',
    groups: ['devs', 'ops'],
    extra: {},
  })
})

test('where only plain http is served, a token is created for the administrator', () => {
  const { server, token } = options('--https=false', '--http-port=8080')
  expect(server.serving).toMatchObject({ https: undefined, http: { port: 8080 } })
  expect(server.authentication.tokens.get(token ?? '')?.groups).toEqual(['system:masters'])
})

test('addresses of webhooks are read', () => {
  const { server } = options('--webhook-resolve=a.ns.svc=127.0.0.1:9443', '--webhook-resolve', 'b.ns.svc=localhost')
  expect(server.api.webhookHosts).toEqual(
    new Map([
      ['a.ns.svc', { host: '127.0.0.1', port: 9443 }],
      ['b.ns.svc', { host: 'localhost' }],
    ]),
  )
})

test('with --merge-kubeconfig, the kubeconfig is merged into the file that kubectl reads', () => {
  vi.stubEnv('KUBECONFIG', '/a/config:/b/config')
  expect(options('--merge-kubeconfig').mergeInto).toBe('/a/config')
  vi.stubEnv('KUBECONFIG', '')
  expect(options('--merge-kubeconfig').mergeInto).toBe(join(homedir(), '.kube', 'config'))
  vi.unstubAllEnvs()
})

const ANONYMOUS_OFF =
  '--authorization-mode=AlwaysAllow switches --anonymous-auth off, because a request without credentials could do everything'

describe('flags without effect give a warning', () => {
  test.each([
    [['--profiling', '--goaway-chance', '0.1'], ['profiling', 'goaway-chance'].map(unneeded)],
    [['--feature-gates=CBORServingAndStorage=true,KMSv1=true'], ['--feature-gates: KMSv1 has no effect here']],
    [
      ['--feature-gates=kube:KMSv1=true', '--feature-gates=NodeSwap=true'],
      ['--feature-gates: KMSv1 has no effect here'],
    ],
    [['--feature-gates=CBORServingAndStorage=false'], []],
    [['--enable-aggregator-routing', '--aggregator-reject-forwarding-redirect=false'], []],
    [
      ['--enable-aggregator-routing=false'],
      [expect.stringContaining('--enable-aggregator-routing=false has no effect: ') as string],
    ],
    [['--authorization-mode=Node,RBAC', '--disable-admission-plugins=ServiceAccount'], []],
    [['--authorization-mode=AlwaysAllow', '--anonymous-auth=false'], []],
    [['--authorization-mode=AlwaysAllow'], [ANONYMOUS_OFF]],
    [['--authorization-mode=RBAC,AlwaysAllow', '--anonymous-auth'], [ANONYMOUS_OFF]],
  ])('%j', (args, warnings) => {
    expect(options(...args).warnings).toEqual(warnings)
  })

  function unneeded(name: string): string {
    return `--${name} has no effect here`
  }
})

test('the console is served unless it is switched off', () => {
  expect(options().server.console).toBeDefined()
  expect(options('--console=false').server.console).toBeUndefined()
  expect(options('--open')).toMatchObject({ open: true })
})

test.each([
  [['--open', '--console=false'], '--open opens the console, which --console=false switches off'],
  [['--https=false'], '--https=false leaves nothing to serve; give --http-port as well'],
  [['--bind-address=localhost'], '--bind-address=localhost: it must be an IP address'],
  [['--authorization-mode=ABAC'], "authorization-mode ABAC's authorization policy file not passed"],
  [
    ['--authorization-mode=rbac'],
    '"rbac" is not one of RBAC, AlwaysAllow, AlwaysDeny, Node, ABAC, Webhook; did you mean',
  ],
  [
    ['--authorization-mode='],
    '--authorization-mode=: at least one of RBAC, AlwaysAllow, AlwaysDeny, Node, ABAC, Webhook',
  ],
  [['--feature-gates=Nope=true'], 'unrecognized feature gate: Nope'],
  [
    ['--feature-gates=NodeSwap=false,GitRepoVolumeDriver=true'],
    '[cannot set feature gate NodeSwap to false, feature is locked to true, cannot set feature gate GitRepoVolumeDriver to true, feature is locked to false]',
  ],
  [['--tls-min-version=VersionTLS14'], '--tls-min-version=VersionTLS14: it must be one of VersionTLS10, '],
  [['--tls-cipher-suites=TLS_FOO'], "--tls-cipher-suites: Cipher suite TLS_FOO not supported or doesn't exist"],
  [['--tls-curve-preferences=1'], '--tls-curve-preferences: there is no curve 1 here'],
  [['--strict-transport-security-directives=foo'], '--strict-transport-security-directives invalid, allowed values: '],
  [['--service-account-issuer='], 'service-account-issuer should not be an empty string'],
  [['--service-account-max-token-expiration=1m'], 'must be between 1 hour and 2^32 seconds'],
  [['--service-account-key-file=/dev/null'], 'the file contains no RSA or ECDSA key and no certificate in PEM form'],
  [['--requestheader-username-headers=X-Remote-User'], 'needs --requestheader-client-ca-file'],
  [['--logging-format=xml'], '--logging-format=xml: it must be one of text, json'],
  [
    ['--audit-webhook-config-file=/c', '--audit-policy-file=/p', '--audit-webhook-mode=blocking'],
    '--audit-webhook-mode=blocking is refused: requests do not wait until their events are sent, only batch is possible',
  ],
  [['--encryption-provider-config=/x'], '--encryption-provider-config=/x: the file cannot be read'],
  [['--service-cluster-ip-range=10.0.0.0'], 'it must be a range of addresses, such as 10.0.0.0/24'],
  [['--service-node-port-range=32767-30000'], 'it must be a range of ports, such as 30000-32767'],
  [['--etcd-servers=localhost:2379'], '--etcd-servers=localhost:2379: an endpoint is a URL'],
  [
    ['--etcd-servers=http://a:1', '--etcd-servers-overrides=events#http://b:1'],
    '--etcd-servers-overrides invalid, must be of format',
  ],
  [['--webhook-resolve=a.ns.svc'], '--webhook-resolve=a.ns.svc: it must be a host and its address, such as'],
  [['--tls-cert-file=/x'], '--tls-cert-file and --tls-private-key-file go together: give both or none'],
  [['--service-account-signing-endpoint=@x'], 'Node.js cannot reach a socket without a file'],
  [
    ['--service-account-signing-endpoint=/s', '--service-account-key-file=/k'],
    "can't set `--service-account-signing-key-file` and/or `--service-account-key-file`",
  ],
  [['--tls-sni-cert-key=a.crt'], 'expected comma separated certificate and key file paths'],
  [['--tls-sni-cert-key=a.crt,a.key:'], 'empty names list is not allowed'],
  [['--client-ca-file=/does/not/exist'], '--client-ca-file=/does/not/exist: the file cannot be read: ENOENT'],
])('%j is refused in one line', (args, message) => {
  expect(() => options(...args)).toThrow(message)
})

test('a certificate with the key of another, and a token file with a bad line, are refused', () => {
  expect(() => options(`--tls-cert-file=${file('server.crt')}`, `--tls-private-key-file=${file('other.key')}`)).toThrow(
    'are not a certificate and its key in PEM form: ',
  )
  expect(() => options(`--token-auth-file=${file('bad.csv')}`)).toThrow('line 2 of the token file')
})

test('keys and settings of service account tokens are read', () => {
  const { server } = options(
    '--service-account-issuer=https://new',
    '--service-account-issuer=https://old',
    `--service-account-signing-key-file=${file('sa.key')}`,
    `--service-account-key-file=${file('sa.pub')}`,
    '--api-audiences=a,b',
    '--service-account-max-token-expiration=2h',
  )
  const { signingKey, verificationKeys, ...rest } = server.authentication.serviceAccounts
  expect(rest).toMatchObject({ issuers: ['https://new', 'https://old'], audiences: ['a', 'b'], maxTokenSeconds: 7200 })
  expect(signingKey).toMatchObject({ algorithm: 'RS256' })
  // A public key and a certificate in one file.
  expect(verificationKeys.map(({ algorithm }) => algorithm)).toEqual(['RS256', 'ES256'])
  expect(verificationKeys[0]?.id).toBe(signingKey?.id)
})

test('settings of TLS are read', () => {
  const { server } = options(
    '--tls-min-version=VersionTLS13',
    '--tls-cipher-suites=TLS_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_RSA_WITH_AES_256_CBC_SHA,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
    '--tls-curve-preferences=29,23',
    '--disable-http2-serving',
    '--strict-transport-security-directives=max-age=31536000,includeSubDomains',
  )
  expect(server.serving.strictTransportSecurity).toBe('max-age=31536000; includeSubDomains')
  expect(server.serving.https).toMatchObject({
    minVersion: 'TLSv1.3',
    ciphers:
      'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:' +
      'ECDHE-RSA-AES128-GCM-SHA256:AES256-SHA:ECDHE-ECDSA-CHACHA20-POLY1305',
    curves: 'X25519:P-256',
    http2: false,
  })
})

describe('flags of kube-apiserver v1.36', () => {
  const list = new URL('kube-apiserver-flags.fixture.txt', import.meta.url)
  const names = readFileSync(list, 'utf8').trim().split('\n')

  test.each(names)('--%s is carried out, accepted or refused', name => {
    const classes = [Object.hasOwn(serveFlags, name), otherFlags().has(name)]
    expect(classes.filter(Boolean)).toHaveLength(1)
  })

  test('help names all of them', () => {
    const help = serveHelp()
    expect(names.filter(name => !help.includes(`--${name}`))).toEqual([])
  })
})

test('the full help lists the admission plugins, and why some are not there', async () => {
  const help = await fullServeHelp()
  expect(help).toMatch(/on by default.*:\n  NamespaceLifecycle LimitRanger ServiceAccount/)
  expect(help).toMatch(/off by default:\n  NodeRestriction DenyServiceExternalIPs/)
  expect(help).toMatch(/NamespaceExists\n +NamespaceLifecycle includes it/)
})
