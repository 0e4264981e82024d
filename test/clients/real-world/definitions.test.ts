// Definitions like those of popular projects: they are installed and served as on a cluster, through kubectl. kubectl
// also writes what their controllers would write.
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BinnacleProcess, startBinnacleProcess } from '../../components/binnacle.js'
import { createKubectl, createKubectlHome, type Kubectl, kubectlMissing } from '../kubectl-process.js'

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

const ALL = 'crd,cert,app,httproute,xdatabase,database,promrule,md'

/** Lines with single spaces between columns, and masked ages. */
const rows = (table: string): string[] =>
  table.split('\n').map(line =>
    line
      .trim()
      .replace(/ +/g, ' ')
      .replace(/\b\d+[sm]$/, '<age>'),
  )

describe.skipIf(kubectlMissing())('well-known definitions', { timeout: 60_000 }, () => {
  const home = createKubectlHome()
  let server: BinnacleProcess
  let kubectl: Kubectl
  beforeAll(async () => {
    server = await startBinnacleProcess('--storage=memory')
    kubectl = createKubectl(home.path, server.kubeconfig, 'default')
    await kubectl.says('apply', '-f', here('definitions'))
    await kubectl.says('wait', 'crd', '--all', '--for=condition=Established', '--timeout=10s')
    await kubectl.says('apply', '-f', here('objects.yaml'))
  })
  afterAll(async () => {
    await server?.kill()
    home.remove()
  })

  const patch = (what: string, change: object, ...flags: string[]): string[] => [
    'patch',
    ...what.split('/'),
    '--type=merge',
    '-p',
    JSON.stringify(change),
    ...flags,
  ]

  test('applied again, neither definitions nor objects change', async () => {
    const versions = () => kubectl.says('get', ALL, '-o', 'jsonpath={.items[*].metadata.resourceVersion}')
    const before = await versions()
    const output: string[] = []
    for (const name of ['definitions', 'objects.yaml']) {
      output.push(...(await kubectl.says('apply', '-f', here(name))).split('\n'))
    }
    // With defaults inside lists, kubectl cannot detect that an apply changes nothing.
    expect(output.filter(line => !line.endsWith(' unchanged'))).toEqual([
      'httproute.gateway.networking.k8s.io/web configured',
    ])
    expect(await versions()).toBe(before)
  })

  test.each([
    ['certificates', ['NAME READY SECRET AGE', 'web web-tls <age>']],
    ['cert -o wide', ['NAME READY SECRET ISSUER STATUS AGE', 'web web-tls ca <age>']],
    ['app -o wide', ['NAME SYNC STATUS HEALTH STATUS REVISION PROJECT', 'guestbook default']],
    ['gateway-api', ['NAME HOSTNAMES AGE', 'web ["web.example.com"] <age>']],
    ['composite', ['NAME SYNCED READY COMPOSITION AGE', 'main postgres <age>']],
    ['claim', ['NAME SYNCED READY CONNECTION-SECRET', 'main main-conn']],
    ['promrule', ['NAME AGE', 'web <age>']],
    ['md -o wide', ['NAME CLUSTER DESIRED REPLICAS PHASE AGE', 'workers c 2 <age>']],
  ])('kubectl get %s prints their columns', async (what, table) => {
    expect(rows(await kubectl.says('get', ...what.split(' ')))).toEqual(table)
  })

  test('defaults are set inside lists and beside given fields', async () => {
    const spec = async (what: string) =>
      JSON.parse(await kubectl.says('get', what, '-o', 'jsonpath={.spec}')) as unknown
    expect(await spec('httproute/web')).toEqual({
      hostnames: ['web.example.com'],
      parentRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'gw' }],
      rules: [
        {
          backendRefs: [{ group: '', kind: 'Service', name: 'web', port: 80, weight: 1 }],
          matches: [{ path: { type: 'PathPrefix', value: '/' } }],
        },
      ],
    })
    expect(await spec('xdatabase/main')).toMatchObject({
      compositeDeletePolicy: 'Background',
      parameters: { engine: 'postgres', maintenance: { day: 'sunday', hour: 3 }, storageGB: 20 },
    })
  })

  test('fields that a schema preserves are kept unchanged', async () => {
    const path = 'jsonpath={.spec.source.helm.valuesObject}{.spec.source.kustomize.replicas[*].count}'
    expect(await kubectl.says('get', 'app', 'guestbook', '-o', path)).toBe('{"image":{"pull":"always","tag":1.2}}3 2')
  })

  test.each<[string, object, RegExp[]]>([
    [
      'cert/web',
      { spec: { privateKey: { algorithm: 'DSA' } } },
      [/spec\.privateKey\.algorithm: Unsupported value: "DSA": supported values: "RSA", "ECDSA", "Ed25519"/],
    ],
    [
      'app/guestbook',
      { spec: { destination: null, source: { repoURL: 5 } } },
      [/spec\.destination: Required value/, /spec\.source\.repoURL in body must be of type string: "integer"/],
    ],
    [
      'httproute/web',
      { spec: { hostnames: ['Not_A_Host'] } },
      [/spec\.hostnames\[0\]: Invalid value: "Not_A_Host": spec\.hostnames\[0\] in body should match/],
    ],
    [
      'httproute/web',
      { spec: { rules: [{ backendRefs: [{ name: 'web', port: 70000 }] }] } },
      [/spec\.rules\[0\]\.backendRefs\[0\]\.port in body should be less than or equal to 65535/],
    ],
    [
      'httproute/web',
      { spec: { rules: [{ backendRefs: [{ name: 'web' }] }] } },
      [/spec\.rules\[0\]\.backendRefs\[0\]: Invalid value: Must have port for Service reference/],
    ],
    [
      'xdatabase/main',
      { spec: { parameters: { storageGB: 7, engine: 'oracle' } } },
      [/storageGB in body should be a multiple of 5/, /engine: Unsupported value: "oracle"/],
    ],
    [
      'promrule/web',
      { spec: { groups: [{ name: 'a', interval: 'often' }, { name: 'a' }] } },
      [/spec\.groups\[0\]\.interval in body should match/, /spec\.groups\[1\]: Duplicate value: \{"name":"a"\}/],
    ],
    [
      'md/workers',
      { spec: { strategy: { rollingUpdate: { maxSurge: true } }, clusterName: '' } },
      [
        /maxSurge in body must be of type integer,string: "boolean"/,
        /clusterName in body should be at least 1 chars long/,
      ],
    ],
  ])('%s cannot become %j', async (what, change, complaints) => {
    const given = await kubectl.complains(...patch(what, change))
    for (const complaint of complaints) expect(given).toMatch(complaint)
  })

  test('unknown fields are reported, and dropped on request', async () => {
    const misspelt = kubectl.file(
      'misspelt.yaml',
      'apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: b}\nspec: {secretName: s, issuerRef: {name: ca}, dnsName: b.example.com}\n',
    )
    expect(await kubectl.complains('apply', '-f', misspelt)).toContain('unknown field "spec.dnsName"')
    await kubectl.says('apply', '--validate=ignore', '-f', misspelt)
    expect(await kubectl.says('get', 'cert', 'b', '-o', 'jsonpath={.spec}')).toBe(
      '{"issuerRef":{"name":"ca"},"secretName":"s"}',
    )
    await kubectl.says('delete', 'cert', 'b')
  })

  test('explain and describe show the schema of the definitions', async () => {
    const explained = await kubectl.says('explain', 'certificate.spec.issuerRef')
    expect(explained).toContain('Who issues the certificate.')
    expect(explained).toMatch(/name\s+<string> -required-\n\s+The name of the issuer\./)
    expect(await kubectl.says('explain', 'httproute.spec.rules')).toContain('What is done with a request')
    expect(await kubectl.says('describe', 'md', 'workers')).toMatch(/Rolling Update:\n\s+Max Surge:\s+25%/)
  })

  test('a controller writes the status separately, and columns show it', async () => {
    const conditions = [{ type: 'Ready', status: 'True', reason: 'Issued', message: 'up to date' }]
    const change = { spec: { secretName: 'other' }, status: { conditions } }
    await kubectl.says(...patch('cert/web', change, '--subresource=status'))
    expect(rows(await kubectl.says('get', 'cert', 'web', '-o', 'wide'))).toEqual([
      'NAME READY SECRET ISSUER STATUS AGE',
      'web True web-tls ca up to date <age>',
    ])
    await kubectl.says('wait', 'cert', 'web', '--for=condition=Ready', '--timeout=5s')
  })

  test('the scale subresource works', async () => {
    await kubectl.says(...patch('md/workers', { status: { replicas: 2, selector: 'pool=w' } }, '--subresource=status'))
    expect(await kubectl.says('scale', 'md', 'workers', '--current-replicas=2', '--replicas=5')).toContain('scaled')
    expect(await kubectl.says('get', 'md', 'workers', '-o', 'jsonpath={.spec.replicas}')).toBe('5')
    expect(await kubectl.complains('scale', 'cert', 'web', '--replicas=2')).toContain('"web" not found')
  })

  test('a definition is deleted with its objects', async () => {
    const { code } = await kubectl.run('delete', 'crd', 'prometheusrules.monitoring.coreos.com', '--timeout=20s')
    expect(code).toBe(0)
    expect(await kubectl.complains('get', 'prometheusrules')).toContain('could not find the requested resource')
  })
})
