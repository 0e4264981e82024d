import { describe, expect, test } from 'vitest'
import { decodeCbor } from '../codec/cbor/decode.js'
import { StatusError } from '../meta/errors/status.js'
import { openEnvelope } from '../types/protobuf/envelope.js'
import {
  AS_TABLE,
  aggregatedIn,
  builtinServer,
  customKind,
  type DiscoveryRequest,
  fetchPage,
  JSON_ONLY,
  read,
  type Server,
  serverOf,
} from './discovery.suite.js'

const CUSTOM_VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const BUILTIN_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

const builtin = builtinServer(customKind('example.com'))

describe('resources of a custom kind', () => {
  const resources = (kind: ReturnType<typeof customKind>, version = 'v1'): unknown =>
    (read(serverOf([kind]), `/apis/${kind.group}/${version}`) as { resources: unknown }).resources

  test('a plain kind', () => {
    expect(
      read(serverOf([customKind('minimal.discovery.example.com')]), '/apis/minimal.discovery.example.com/v1'),
    ).toEqual({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'minimal.discovery.example.com/v1',
      resources: [
        {
          name: 'widgets',
          singularName: 'widget',
          namespaced: true,
          kind: 'Widget',
          verbs: CUSTOM_VERBS,
          storageVersionHash: 'rVRCIhA03RA=',
        },
      ],
    })
  })

  test('names, scope, and the subresources in their order', () => {
    const kind = customKind('discovery-of-resource.crd-definition.example.com', {
      kind: 'Gadget',
      scope: 'Cluster',
      shortNames: ['gd'],
      categories: ['all', 'things'],
      subresources: ['scale', 'status'],
    })
    const part = { singularName: '', namespaced: false, verbs: ['get', 'patch', 'update'] }
    expect(resources(kind)).toEqual([
      {
        name: 'gadgets',
        singularName: 'gadget',
        namespaced: false,
        kind: 'Gadget',
        verbs: CUSTOM_VERBS,
        shortNames: ['gd'],
        categories: ['all', 'things'],
        storageVersionHash: 'icxM9CljTsI=',
      },
      { ...part, name: 'gadgets/status', kind: 'Gadget' },
      { ...part, name: 'gadgets/scale', group: 'autoscaling', version: 'v1', kind: 'Scale' },
    ])
  })

  test('the hash is that of the storage version, in every version', () => {
    const kind = customKind('version-added.discovery.example.com', { versions: ['v1', 'v1beta1'], storage: 'v1beta1' })
    expect(resources(kind)).toMatchObject([{ storageVersionHash: 'GGVemDdnixM=' }])
  })

  test('there is no hash while the storage version is not served', () => {
    const [line] = resources(customKind('example.com', { versions: ['v1', '-v2'], storage: 'v2' })) as object[]
    expect(line).not.toHaveProperty('storageVersionHash')
  })
})

describe('resources of built-in kinds', () => {
  test('are sorted by name, with subresources of other kinds', () => {
    const { resources } = read(builtin, '/apis/apps/v1') as { resources: { name: string }[] }
    expect(resources.slice(1, 6)).toEqual([
      {
        name: 'daemonsets',
        singularName: 'daemonset',
        namespaced: true,
        kind: 'DaemonSet',
        verbs: BUILTIN_VERBS,
        shortNames: ['ds'],
        categories: ['all'],
        storageVersionHash: 'dd7pWHUlMKQ=',
      },
      expect.objectContaining({ name: 'daemonsets/status' }),
      expect.objectContaining({ name: 'deployments' }),
      expect.objectContaining({ name: 'deployments/scale', group: 'autoscaling', version: 'v1', kind: 'Scale' }),
      expect.objectContaining({ name: 'deployments/status' }),
    ])
  })

  test.each([
    ['/apis/events.k8s.io/v1', 'r2yiGXH7wu8='],
    ['/apis/autoscaling/v1', 'qwQve8ut294='],
    ['/apis/autoscaling/v2', 'qwQve8ut294='],
  ])('%s is hashed as it is stored', (path, storageVersionHash) => {
    const { resources } = read(builtin, path) as { resources: unknown[] }
    expect(resources[0]).toMatchObject({ storageVersionHash })
  })

  test('CustomResourceDefinitions have the hash of v1beta1', () => {
    const base = customKind('apiextensions.k8s.io', { kind: 'CustomResourceDefinition' })
    const server = serverOf([{ ...base, origin: 'builtin' as const }])
    expect(read(server, '/apis/apiextensions.k8s.io/v1')).toMatchObject({
      resources: [{ storageVersionHash: 'jfWCUB31mvA=' }],
    })
  })

  test('a built-in kind that is stored in a version that is not served has a hash, a custom one has none', () => {
    const of = (origin: 'builtin' | 'custom') => {
      const base = customKind('example.com')
      const kind = { ...base, origin, storageVersion: 'v1beta1', storedAs: 'example.com/v1beta1' }
      return (read(serverOf([kind]), '/apis/example.com/v1') as { resources: object[] }).resources[0]
    }
    expect(of('builtin')).toHaveProperty('storageVersionHash')
    expect(of('custom')).not.toHaveProperty('storageVersionHash')
  })

  test('only what is stored has a hash', () => {
    const kind = customKind('example.com')
    const hashWith = (...verbs: string[]) => {
      const { resources } = read(serverOf([{ ...kind, verbs }]), '/apis/example.com/v1') as {
        resources: { storageVersionHash?: string }[]
      }
      return resources[0]!.storageVersionHash
    }
    expect(hashWith('get', 'list')).toBeUndefined()
    // While its definition is being deleted.
    expect(hashWith('delete', 'deletecollection', 'get', 'list', 'watch')).toBeDefined()
  })

  test('the core group has no apiVersion, and lists resources that are not stored', () => {
    const list = read(builtin, '/api/v1') as { resources: { name: string }[] }
    expect(Object.keys(list)).toEqual(['kind', 'groupVersion', 'resources'])
    const names = list.resources.map(({ name }) => name)
    expect(names.slice(0, 3)).toEqual(['bindings', 'componentstatuses', 'configmaps'])
    expect(names).toEqual(names.toSorted())
    expect(list.resources).toContainEqual({
      name: 'namespaces/finalize',
      singularName: '',
      namespaced: false,
      kind: 'Namespace',
      verbs: ['update'],
    })
  })

  test('a group without stored resources', () => {
    expect(read(builtin, '/apis/authentication.k8s.io/v1')).toMatchObject({
      resources: [
        { name: 'selfsubjectreviews', singularName: 'selfsubjectreview', verbs: ['create'] },
        { name: 'tokenreviews' },
      ],
    })
  })

  test('a subresource of a resource that is not served is not listed', () => {
    const scale = { name: 'things/scale', namespaced: true, kind: 'Scale', verbs: ['get'] }
    expect(fetchPage(serverOf([], { 'example.com/v1': [scale] }), '/apis/example.com')).toBeUndefined()
    const server = serverOf([customKind('example.com')], { 'example.com/v1': [scale] })
    expect(read(server, '/apis/example.com/v1')).toMatchObject({ resources: [{ name: 'widgets' }] })
  })
})

describe('groups', () => {
  test('versions come in order of priority, all kinds together', () => {
    const apples = customKind('two.example.com', { kind: 'Apple', versions: ['v1', 'v2'] })
    const zebras = customKind('two.example.com', { kind: 'Zebra', versions: ['v1', 'v3alpha1', '-v4'] })
    const versions = ['v2', 'v1', 'v3alpha1'].map(version => ({ groupVersion: `two.example.com/${version}`, version }))
    expect(read(serverOf([zebras, apples]), '/apis/two.example.com')).toEqual({
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: 'two.example.com',
      versions,
      preferredVersion: versions[0],
    })
  })

  test('built-in groups come first, in the order of kube-apiserver', () => {
    const { groups } = read(builtinServer(customKind('b.com'), customKind('a.com')), '/apis') as {
      groups: { name: string }[]
    }
    const names = groups.map(({ name }) => name)
    expect(names.slice(0, 4)).toEqual(['apiregistration.k8s.io', 'apps', 'events.k8s.io', 'authentication.k8s.io'])
    expect(names.slice(-2)).toEqual(['a.com', 'b.com'])
    expect(names).not.toContain('')
  })

  test('the versions of the core group come with the address of the server', () => {
    expect(read(builtin, '/api')).toEqual({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:6443' }],
    })
  })

  test('a change of the registry is visible at once', () => {
    const server = serverOf([customKind('example.com'), customKind('other.com')])
    read(server, '/apis')
    server.registry.put(customKind('example.com', { versions: ['v1', 'v2'] }))
    server.registry.remove('other.com', 'widgets')
    expect(read(server, '/apis/example.com/v2')).toMatchObject({ groupVersion: 'example.com/v2' })
    expect(fetchPage(server, '/apis/other.com')).toBeUndefined()
    expect(read(server, '/apis')).toMatchObject({ groups: [{ name: 'example.com' }] })
  })
})

describe('paths', () => {
  test.each(['/api', '/api/v1', '/apis', '/apis/apps', '/apis/apps/v1', '/apis/example.com/v1', '/version'])(
    '%s is the same with a slash at its end',
    path => {
      expect(read(builtin, `${path}/`)).toEqual(read(builtin, path))
    },
  )

  test.each(['/apis/nope.example.com', '/apis/nope.example.com/v1', '/apis/example.com/v2', '/apis//', '/nothing'])(
    '%s leads nowhere',
    path => {
      expect(fetchPage(builtin, path)).toBeUndefined()
    },
  )

  test('a group without a served version is not found', () => {
    expect(fetchPage(serverOf([customKind('example.com', { versions: ['-v1'] })]), '/apis/example.com')).toBeUndefined()
  })

  test.each(['/api/v9', '/apis/apps/v9', '/apis/authorization.k8s.io/v9', '/version/x'])(
    '%s is answered by a Status',
    path => {
      expect(refusal(builtin, path)).toMatchObject({
        code: 404,
        message: 'the server could not find the requested resource',
        details: {},
      })
    },
  )

  test('the root lists all paths', () => {
    const { paths } = read(builtin, '/') as { paths: string[] }
    expect(paths.slice(0, 4)).toEqual(['/api', '/api/v1', '/apis', '/apis/'])
    expect(paths).toEqual(expect.arrayContaining(['/apis/example.com', '/apis/example.com/v1', '/livez', '/version']))
    expect(read(builtin, '/index.html')).toEqual({ paths })
  })
})

describe('methods', () => {
  test.each(['/api', '/api/v1', '/apis/apps/v1', '/version'])('%s accepts only GET', path => {
    for (const method of ['POST', 'HEAD', 'OPTIONS']) {
      expect(refusal(builtin, path, { method })).toMatchObject({ code: 405, reason: 'MethodNotAllowed', details: {} })
    }
  })

  test.each(['/apis', '/apis/apps', '/apis/example.com', '/apis/example.com/v1'])('%s accepts any method', path => {
    expect(read(builtin, path, { method: 'DELETE' })).toEqual(read(builtin, path))
  })
})

describe('encodings', () => {
  test('YAML', () => {
    const { headers, body } = fetchPage(
      serverOf([customKind('as-yaml.discovery.example.com')]),
      '/apis/as-yaml.discovery.example.com',
      {
        accepts: [{ encoding: 'yaml' }],
      },
    )!
    expect(headers).toEqual({ 'content-type': 'application/yaml' })
    expect(body.toString()).toBe(
      [
        'apiVersion: v1',
        'kind: APIGroup',
        'name: as-yaml.discovery.example.com',
        'preferredVersion:',
        '  groupVersion: as-yaml.discovery.example.com/v1',
        '  version: v1',
        'versions:',
        '- groupVersion: as-yaml.discovery.example.com/v1',
        '  version: v1',
        '',
      ].join('\n'),
    )
  })

  test('protobuf, of groups and resources', () => {
    const group = 'protobuf-custom.negotiation.example.com'
    const server = serverOf([customKind(group)])
    const accepts = [{ encoding: 'protobuf' as const }]
    expect(fetchPage(server, `/apis/${group}`, { accepts })!.body.toString('base64')).toBe(
      'azhzAAoOCgJ2MRIIQVBJR3JvdXASjQEKJ3Byb3RvYnVmLWN1c3RvbS5uZWdvdGlhdGlvbi5leGFtcGxlLmNvbRIwCipwcm90b2J1Zi1jdXN0b20ubmVnb3RpYXRpb24uZXhhbXBsZS5jb20vdjESAnYxGjAKKnByb3RvYnVmLWN1c3RvbS5uZWdvdGlhdGlvbi5leGFtcGxlLmNvbS92MRICdjEaACIA',
    )
    expect(fetchPage(server, `/apis/${group}/v1`, { accepts })!.body.toString('base64')).toBe(
      'azhzAAoVCgJ2MRIPQVBJUmVzb3VyY2VMaXN0EqABCipwcm90b2J1Zi1jdXN0b20ubmVnb3RpYXRpb24uZXhhbXBsZS5jb20vdjEScgoHd2lkZ2V0cxABGgZXaWRnZXQiQwoGZGVsZXRlChBkZWxldGVjb2xsZWN0aW9uCgNnZXQKBGxpc3QKBXBhdGNoCgZjcmVhdGUKBnVwZGF0ZQoFd2F0Y2gyBndpZGdldEIASgBSDElXVk0zdlpLL1NRPRoAIgA=',
    )
  })

  test('protobuf of the core group has no version in its envelope', () => {
    const { body } = fetchPage(builtin, '/api', { accepts: [{ encoding: 'protobuf' }] })!
    expect(openEnvelope(body)).toMatchObject({ apiVersion: '', kind: 'APIVersions' })
  })

  test('pretty JSON', () => {
    const { body } = fetchPage(builtin, '/apis/apps', { accepts: [{ encoding: 'json', pretty: true }] })!
    expect(body.toString()).toMatch(/^\{\n {2}"kind": "APIGroup",\n/)
  })

  test('CBOR is available for the resources of built-in groups only', () => {
    const accepts = [{ encoding: 'cbor' as const }]
    const { headers, body } = fetchPage(builtin, '/apis/apps/v1', { accepts })!
    expect(headers['content-type']).toBe('application/cbor')
    expect(decodeCbor(body)).toMatchObject({ value: { kind: 'APIResourceList', groupVersion: 'apps/v1' } })
    for (const path of ['/api', '/apis', '/apis/apps', '/apis/example.com/v1']) {
      expect(refusal(builtin, path, { accepts })).toMatchObject({ code: 406 })
    }
  })

  const OFFERED = 'application/json, application/yaml, application/vnd.kubernetes.protobuf'
  test.each([
    ['/api', OFFERED],
    ['/apis', OFFERED],
    ['/apis/apps', OFFERED],
    ['/apis/example.com/v1', OFFERED],
    ['/apis/apps/v1', `${OFFERED}, application/cbor`],
  ])('%s is no Table', (path, offered) => {
    const message = `only the following media types are accepted: ${offered}`
    expect(refusal(builtin, path, { accepts: [AS_TABLE] })).toMatchObject({ reason: 'NotAcceptable', message })
    expect(read(builtin, path, { accepts: [AS_TABLE, ...JSON_ONLY] })).toEqual(read(builtin, path))
  })

  test('only routes of built-in groups check the media types first', () => {
    const checked = (path: string) => {
      let encodings: unknown
      fetchPage(builtin, path, { checkRoute: routed => void (encodings = routed) })
      return encodings
    }
    expect(checked('/api')).toEqual(['json', 'yaml', 'protobuf'])
    expect(checked('/api/v1')).toEqual(['json', 'yaml', 'protobuf', 'cbor'])
    expect(checked('/version')).toEqual(['json'])
    for (const path of ['/apis', '/apis/apps', '/apis/example.com/v1', '/']) expect(checked(path)).toBeUndefined()
  })
})

describe('the version of the server', () => {
  test('has the numbers that clients compare', () => {
    expect(read(builtin, '/version')).toMatchObject({
      major: '1',
      minor: '36',
      gitVersion: expect.stringMatching(/^v1\.36\.\d+(\+[0-9A-Za-z.-]+)?$/) as string,
      platform: expect.stringMatching(/^[a-z0-9]+\/[a-z0-9]+$/) as string,
    })
  })

  test('is always JSON', () => {
    const { headers, body } = fetchPage(builtin, '/version', { accepts: [AS_TABLE, aggregatedIn('v2')] })!
    expect(headers).toEqual({ 'content-type': 'application/json' })
    expect(body.toString()).toMatch(/^\{\n {2}"major": "1",\n/)
  })
})

function refusal(server: Server, path: string, options?: DiscoveryRequest): unknown {
  try {
    return fetchPage(server, path, options)
  } catch (error) {
    if (error instanceof StatusError) return error.status
    throw error
  }
}
