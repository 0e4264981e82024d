import { describe, expect, it } from 'vitest'
import { builtinKinds } from '../builtin/builtin-kinds.js'
import type { Kind } from '../kinds/kind.js'
import { isObject, type Value, type ValueObject } from '../meta/values/value.js'
import type { Type } from '../types/type.js'
import { builtinTypes } from '../types/type-table.js'
import { at, builtinServer, fetchDocument, publishedType, read, serverOf, widget } from './openapi.suite.js'

const server = builtinServer(widget({ type: 'object', properties: { spec: { type: 'object' } } }))
const core = read(server, '/openapi/v3/api/v1')
const v2 = read(server, '/openapi/v2')

const pathsOf = (): string[] => Object.keys(at(read(server, '/openapi/v3'), '/paths') as ValueObject)
const operationsOf = (document: ValueObject): ValueObject[] =>
  Object.values(document['paths'] as ValueObject).flatMap(item =>
    Object.entries(item as ValueObject).flatMap(([name, one]) => (name === 'parameters' ? [] : [one as ValueObject])),
  )

describe('the index of version 3', () => {
  it('lists the group versions, and the discovery endpoints of built-in groups', () => {
    expect(pathsOf()).toEqual(expect.arrayContaining(['api', 'api/v1', 'apis', 'apis/apps', 'apis/apps/v1', 'version']))
    expect(pathsOf()).toContain('apis/example.com/v1')
    expect(pathsOf()).not.toContain('apis/example.com')
  })

  it('links to documents by their hash', () => {
    const address = at(read(server, '/openapi/v3'), '/paths/api~1v1/serverRelativeURL') as string
    const [path = '', hash] = address.split('?hash=')
    const answer = fetchDocument(server, path, { hash: hash! })!
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({
      etag: `"${hash}"`,
      'cache-control': 'public, immutable',
      expires: 'Fri, 01 Jan 1971 00:00:00 GMT',
      vary: 'Accept',
    })
  })

  it('is not sent again to a client that has it', () => {
    const { etag } = fetchDocument(server, '/openapi/v3')!.headers
    expect(fetchDocument(server, '/openapi/v3', { ifNoneMatch: etag })!.status).toBe(304)
  })
})

describe('a document', () => {
  const path = '/openapi/v3/apis/apps/v1'
  const etag = fetchDocument(server, path)!.headers['etag']!

  it('redirects clients with an old hash to the new one', () => {
    const { status, headers, body } = fetchDocument(server, path, { hash: 'OLD' })!
    expect(status).toBe(301)
    expect(headers['location']).toBe(`${path}?hash=${etag.replaceAll('"', '')}`)
    expect(body).toHaveLength(0)
  })

  it.each([
    ['*', 304],
    [etag, 304],
    [`W/${etag}`, 304],
    [`"other", ${etag}`, 304],
    ['"other"', 200],
  ])('with If-None-Match %s answers %i', (ifNoneMatch, status) => {
    expect(fetchDocument(server, path, { ifNoneMatch })!.status).toBe(status)
  })

  it('is created again only when its own kinds have changed', () => {
    const { registry, ...rest } = builtinServer()
    const before = fetchDocument({ registry, ...rest }, '/openapi/v3/api/v1')!.body
    registry.put(widget({ type: 'object' }))
    expect(fetchDocument({ registry, ...rest }, '/openapi/v3/api/v1')!.body).toBe(before)
    const custom = (): Buffer => fetchDocument({ registry, ...rest }, '/openapi/v3/apis/example.com/v1')!.body
    const first = custom()
    expect(custom()).toBe(first)
    registry.put(widget({ type: 'object', description: 'changed' }))
    expect(custom()).not.toEqual(first)
    registry.remove('example.com', 'widgets')
    expect(fetchDocument({ registry, ...rest }, '/openapi/v3/apis/example.com/v1')!.status).toBe(404)
  })
})

describe('the hash of a document', () => {
  const path = '/openapi/v3/apis/example.com/v1'
  const tagsOf = (schema: ValueObject, more: Parameters<typeof widget>[1] = {}): (string | undefined)[] => {
    const one = builtinServer(widget(schema, more))
    return [path, '/openapi/v3', '/openapi/v2'].map(page => fetchDocument(one, page)!.headers['etag'])
  }
  const before = tagsOf({ type: 'object' })

  it('is the same for the same kinds on every server', () => {
    expect(tagsOf({ type: 'object' })).toEqual(before)
  })

  it.each<[string, ValueObject, Parameters<typeof widget>[1]]>([
    ['schema', { type: 'object', description: 'changed' }, {}],
    ['scope', { type: 'object' }, { scope: 'Cluster' }],
    ['names', { type: 'object' }, { names: { kind: 'Gadget', plural: 'gadgets' } }],
  ])('is another one with another %s', (_, schema, more) => {
    for (const [i, tag] of tagsOf(schema, more).entries()) expect(tag).not.toBe(before[i])
  })

  it('is computed from the written schema without decoding it', () => {
    const kind = widget({})
    const [version] = kind.versions
    const unread = (written: string): Type =>
      publishedType({
        writtenBytes: Buffer.from(written),
        written: () => {
          throw new Error('read')
        },
      })
    const tagOf = (written: string): string | undefined => {
      const published = { ...kind, versions: [{ ...version!, type: unread(written) }] }
      return fetchDocument(serverOf([published]), '/openapi/v3')!.headers['etag']
    }
    expect(tagOf('{"type":"object"}')).toBe(tagOf('{"type":"object"}'))
    expect(tagOf('{"type":"object"}')).not.toBe(tagOf('{"type":"array"}'))
  })
})

describe('a prepared document', () => {
  it('yields to other work, and prints a kind again only when it has changed', async () => {
    let printed = 0
    const counting = (name: string): Kind => {
      const kind = widget({}, { names: { kind: name, plural: `${name.toLowerCase()}s` } })
      const schema = { type: 'object' }
      const type = publishedType({
        written() {
          printed++
          const end = performance.now() + 6
          while (performance.now() < end);
          return schema
        },
        writtenBytes: Buffer.from(JSON.stringify(schema)),
      })
      return { ...kind, versions: [{ ...kind.versions[0]!, type }] }
    }
    const { registry, openapi } = serverOf(['A', 'B', 'C'].map(counting))
    const page = openapi.find('/openapi/v2')!
    const request = { method: 'GET', headers: {}, accepts: [{ type: '*', subtype: '*' }], hash: undefined }
    let turns = 0
    const others = setInterval(() => turns++, 0)
    await page.prepare(request)
    clearInterval(others)
    expect(turns).toBeGreaterThan(0)
    const { headers } = page.respond(request)
    expect(printed).toBe(3)
    registry.put(counting('B'))
    const conditional = { ...request, headers: { 'if-none-match': headers['etag'] } }
    await page.prepare(conditional)
    page.respond(conditional)
    expect(printed).toBe(3)
    await page.prepare(request)
    page.respond(request)
    expect(printed).toBe(4)
  })
})

describe('all documents', () => {
  const documents = [...pathsOf().map(path => `/openapi/v3/${path}`), '/openapi/v2']

  it.each(documents)('%s defines all its references', path => {
    const document = read(server, path)
    expect(referencesIn(document).filter(ref => at(document, ref.slice(1)) === undefined)).toEqual([])
  })

  it('have unique operation ids', () => {
    const ids = operationsOf(v2).map(({ operationId }) => operationId)
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
  })
})

function referencesIn(value: Value): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn)
  if (!isObject(value)) return []
  const own = typeof value['$ref'] === 'string' ? [value['$ref']] : []
  return [...own, ...Object.values(value).flatMap(referencesIn)]
}

describe('operations', () => {
  it('are named after verb, group, version, scope and kind', () => {
    const ids = new Set(operationsOf(v2).map(({ operationId }) => operationId))
    for (const id of [
      'createCoreV1NamespacedConfigMap',
      'listCoreV1ConfigMapForAllNamespaces',
      'deleteCoreV1CollectionNamespacedPod',
      'readCoreV1Namespace',
      'replaceCoreV1NamespaceFinalize',
      'patchAppsV1NamespacedDeploymentScale',
      'watchAppsV1NamespacedDeploymentList',
      'watchCoreV1PodListForAllNamespaces',
      'createRbacAuthorizationV1ClusterRole',
      'getAppsV1APIResources',
      'getAppsAPIGroup',
      'getCodeVersion',
    ])
      expect(ids).toContain(id)
  })

  it('have the fieldValidation parameter for patches, which kubectl looks for', () => {
    const patches = operationsOf(core).filter(({ 'x-kubernetes-action': action }) => action === 'patch')
    expect(patches.length).toBeGreaterThan(10)
    for (const { parameters } of patches) {
      expect((parameters as ValueObject[]).map(({ name }) => name)).toContain('fieldValidation')
    }
  })

  it('return the object from a delete if the kind does', () => {
    const answer = '/responses/200/content/application~1json/schema/$ref'
    const item = '/paths/~1api~1v1~1namespaces~1{namespace}~1'
    expect(at(core, `${item}pods~1{name}/delete${answer}`)).toMatch(/v1\.Pod$/)
    expect(at(core, `${item}configmaps~1{name}/delete${answer}`)).toMatch(/v1\.Status$/)
  })

  it('include those on resources that are not stored', () => {
    const extras = { 'authorization.k8s.io/v1': builtinTypes().resources('authorization.k8s.io/v1') }
    const document = read(serverOf([], extras), '/openapi/v3/apis/authorization.k8s.io/v1')
    expect(operationsOf(document).map(({ operationId }) => operationId)).toEqual([
      'createAuthorizationV1NamespacedLocalSubjectAccessReview',
      'createAuthorizationV1SelfSubjectAccessReview',
      'createAuthorizationV1SelfSubjectRulesReview',
      'createAuthorizationV1SubjectAccessReview',
      'getAuthorizationV1APIResources',
    ])
  })

  describe('on subresources that connect', () => {
    const facts = (name: string, optionsKind: string, methods: string[], hasSubpaths = false) => ({
      ...builtinTypes()
        .resources('v1')
        .find(each => each.name === name)!,
      connect: { methods, hasSubpaths, optionsKind },
    })
    const pods = builtinKinds(builtinTypes()).filter(({ names }) => names.kind === 'Pod')
    const extras = {
      v1: [
        facts('pods/exec', 'PodExecOptions', ['GET', 'POST']),
        facts('pods/log', 'PodLogOptions', ['GET']),
        facts('pods/proxy', 'PodProxyOptions', ['HEAD'], true),
      ],
    }
    const document = read(serverOf(pods, extras), '/openapi/v3/api/v1')
    const ofPod = (rest: string) => at(document, `/paths/~1api~1v1~1namespaces~1{namespace}~1pods~1{name}~1${rest}`)
    const names = (rest: string) => (ofPod(`${rest}/parameters`) as { name: string }[]).map(({ name }) => name)

    it('have the options as parameters', () => {
      expect(ofPod('exec/post')).toEqual({
        tags: ['core_v1'],
        description: 'connect POST requests to exec of Pod',
        operationId: 'connectCoreV1PostNamespacedPodExec',
        responses: {
          200: { description: 'OK', content: { '*/*': { schema: { type: 'string' } } } },
          401: { description: 'Unauthorized' },
        },
        'x-kubernetes-action': 'connect',
        'x-kubernetes-group-version-kind': { group: '', version: 'v1', kind: 'PodExecOptions' },
      })
      expect(names('exec')).toEqual('command container name namespace stderr stdin stdout tty'.split(' '))
    })

    it('read a log as text', () => {
      expect(ofPod('log/get/operationId')).toBe('readCoreV1NamespacedPodLog')
      expect(ofPod('log/get/responses/200/content/text~1plain')).toEqual({ schema: { type: 'string' } })
      expect(names('log')).toContain('tailLines')
      // A time is no simple value.
      expect(names('log')).not.toContain('sinceTime')
    })

    it('serve the paths below a proxy', () => {
      expect(ofPod('proxy/head/operationId')).toBe('connectCoreV1HeadNamespacedPodProxy')
      expect(ofPod('proxy~1{path}/head/operationId')).toBe('connectCoreV1HeadNamespacedPodProxyWithPath')
      expect(ofPod('proxy~1{path}/parameters')).toMatchObject([
        { name: 'name' },
        { name: 'namespace' },
        { name: 'path', in: 'path' },
        { name: 'path', in: 'query' },
      ])
    })
  })
})

describe('schemas of built-in types', () => {
  const schema = (name: string): ValueObject => at(core, `/components/schemas/${name}`) as ValueObject

  it('have the merge keys of lists', () => {
    expect(at(schema('io.k8s.api.core.v1.PodSpec'), '/properties/volumes')).toMatchObject({
      type: 'array',
      items: { default: {}, allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.Volume' }] },
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge,retainKeys',
    })
  })

  it('have types, formats, enumerations and defaults', () => {
    const { properties, required } = schema('io.k8s.api.core.v1.ContainerPort')
    expect(required).toEqual(['containerPort'])
    expect(properties).toMatchObject({
      containerPort: { type: 'integer', format: 'int32', default: 0 },
      protocol: { type: 'string', default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'] },
    })
  })

  it('have the JSON types of special types', () => {
    expect(schema('io.k8s.apimachinery.pkg.api.resource.Quantity')).toMatchObject({
      oneOf: [{ type: 'string' }, { type: 'number' }],
    })
    expect(at(v2, '/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity/type')).toBe('string')
    const port = '/properties/targetPort'
    expect(at(schema('io.k8s.api.core.v1.ServicePort'), port)).toMatchObject({
      allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString' }],
    })
  })

  it('have no defaults in version 2', () => {
    expect(JSON.stringify(v2['definitions'])).not.toContain('"default":{}')
    expect(at(v2, '/definitions/io.k8s.api.core.v1.Pod/properties/metadata')).toMatchObject({
      $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
    })
  })
})

describe('protobuf', () => {
  it.each([
    ['/openapi/v2', 'v2', '@v1.0+protobuf'],
    ['/openapi/v2', 'v2', '.v1.0+protobuf'],
    ['/openapi/v3/api/v1', 'v3', '@v1.0+protobuf'],
  ])('is what %s has for %s%s', (path, version, form) => {
    const name = `application/com.github.proto-openapi.spec.${version}`
    const { status, headers, body } = fetchDocument(server, path, { accept: `${name}${form}, application/json;q=0.9` })!
    expect(status).toBe(200)
    expect(headers['content-type']).toBe(`${name}.v1.0+protobuf`)
    expect(headers['etag']).toBe(fetchDocument(server, path)!.headers['etag'])
    expect(body.includes('io.k8s.api.core.v1.PodSpec')).toBe(true)
  })
})

describe('as in kube-apiserver', () => {
  it('watch operations are not marked as deprecated', () => {
    expect(at(core, '/paths/~1api~1v1~1watch~1configmaps/get')).not.toHaveProperty('deprecated')
  })

  it('DeleteOptions is a kind of the core group and of the version of the document', () => {
    const apps = read(server, '/openapi/v3/apis/apps/v1')
    const pointer =
      '/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions/x-kubernetes-group-version-kind'
    expect(at(apps, pointer)).toEqual([
      { group: '', kind: 'DeleteOptions', version: 'v1' },
      { group: 'apps', kind: 'DeleteOptions', version: 'v1' },
    ])
  })

  it('the OpenID endpoints have documents without schemas', () => {
    const keys = read(server, '/openapi/v3/openid/v1/jwks')
    expect(at(keys, '/paths/~1openid~1v1~1jwks~1/get/responses/200/content')).toEqual({
      'application/jwk-set+json': { schema: { type: 'string' } },
    })
    expect(at(keys, '/components')).not.toHaveProperty('schemas')
  })

  it('elements of lists have enumerations', () => {
    const policy = '/definitions/io.k8s.api.networking.v1.NetworkPolicySpec/properties/policyTypes'
    expect(at(v2, policy)).toMatchObject({ items: { type: 'string', enum: ['Egress', 'Ingress'] } })
  })

  it.each([
    ['/definitions/io.k8s.api.core.v1.ConfigMap/properties/apiVersion', /^APIVersion defines the versioned schema/],
    ['/definitions/com.example.v1.Widget/properties/kind', /^Kind is a string value representing the REST resource/],
    ['/definitions/com.example.v1.Widget/properties/metadata', /^Standard object's metadata/],
    ['/definitions/io.k8s.api.core.v1.ServiceList/properties/items', /^List of services/],
    [
      '/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta/properties/creationTimestamp',
      /^CreationTimestamp is a timestamp representing/,
    ],
  ])('%s is described by the text that clients look for', (pointer, text) => {
    expect((at(v2, pointer) as ValueObject)['description']).toMatch(text)
  })

  it.each(['list of returned objects', 'Watch for changes to the described resources'])(
    'parameters mention %j',
    text => {
      expect(JSON.stringify(v2['parameters'])).toContain(text)
    },
  )
})

it('gives a custom kind another name in version 2 if a built-in type has it', () => {
  const other = builtinServer(
    widget({ type: 'object' }, { group: 'core.api.k8s.io', names: { kind: 'Pod', plural: 'widgets' } }),
  )
  const definitions = at(read(other, '/openapi/v2'), '/definitions') as Record<string, ValueObject>
  expect(at(definitions['io.k8s.api.core.v1.Pod'], '/properties/status')).toBeDefined()
  expect(definitions['io.k8s.api.core.v1.Pod_v2']!['x-kubernetes-group-version-kind']).toEqual([
    { group: 'core.api.k8s.io', kind: 'Pod', version: 'v1' },
  ])
  expect(JSON.stringify(at(read(other, '/openapi/v2'), '/paths/~1apis~1core.api.k8s.io~1v1~1widgets'))).toContain(
    '"#/definitions/io.k8s.api.core.v1.PodList_v2"',
  )
})
