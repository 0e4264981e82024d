import { describe, expect, test } from 'vitest'
import { openEnvelope } from '../../types/protobuf/envelope.js'
import { decodeMessage } from '../../types/protobuf/message.js'
import { aggregatedIn, builtinServer, customKind, fetchPage, JSON_ONLY, read, serverOf } from '../discovery.suite.js'
import { discoveryTypes } from './aggregated-types.js'

const V2 = { accepts: [aggregatedIn('v2')] }
const CUSTOM_VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']

interface List {
  readonly items: readonly { metadata: { name?: string }; versions: { version: string; resources: object[] }[] }[]
}

const builtin = builtinServer(customKind('example.com'))

describe('the aggregated document', () => {
  test('has all entries of a custom kind', () => {
    const kind = customKind('example.com', {
      versions: ['v1', 'v2beta1'],
      scope: 'Cluster',
      shortNames: ['w'],
      categories: ['all'],
      subresources: ['status', 'scale'],
    })
    const responseKind = { group: 'example.com', version: 'v1', kind: 'Widget' }
    const parts = ['get', 'patch', 'update']
    const list = read(serverOf([kind]), '/apis', V2) as List
    expect(list).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {} })
    expect(list.items).toHaveLength(1)
    expect(list.items[0]!.metadata).toEqual({ name: 'example.com' })
    expect(list.items[0]!.versions.map(({ version }) => version)).toEqual(['v1', 'v2beta1'])
    expect(list.items[0]!.versions[0]).toEqual({
      version: 'v1',
      resources: [
        {
          resource: 'widgets',
          responseKind,
          scope: 'Cluster',
          singularResource: 'widget',
          verbs: CUSTOM_VERBS,
          shortNames: ['w'],
          categories: ['all'],
          subresources: [
            { subresource: 'status', responseKind, verbs: parts },
            {
              subresource: 'scale',
              responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
              verbs: parts,
            },
          ],
        },
      ],
      freshness: 'Current',
    })
  })

  test('omits the group and version of built-in kinds', () => {
    const { items } = read(builtin, '/apis', V2) as List
    const apps = items.find(({ metadata }) => metadata.name === 'apps')!
    expect(apps.versions[0]!.resources[2]).toMatchObject({
      resource: 'deployments',
      responseKind: { group: '', version: '', kind: 'Deployment' },
      scope: 'Namespaced',
      subresources: [
        { subresource: 'scale', responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } },
        { subresource: 'status', responseKind: { group: '', version: '', kind: 'Deployment' } },
      ],
    })
  })

  test('is separate for the core group, which has no name', () => {
    const { items } = read(builtin, '/api', V2) as List
    expect(items.map(({ metadata }) => metadata)).toEqual([{}])
    expect(items[0]!.versions[0]!.resources).toContainEqual({
      resource: 'bindings',
      responseKind: { group: '', version: '', kind: 'Binding' },
      scope: 'Namespaced',
      singularResource: 'binding',
      verbs: ['create'],
    })
    expect((read(builtin, '/apis', V2) as List).items.map(({ metadata }) => metadata.name)).not.toContain('')
  })

  test('has the groups in the order of the group list', () => {
    const { groups } = read(builtin, '/apis') as { groups: { name: string }[] }
    expect((read(builtin, '/apis', V2) as List).items.map(({ metadata }) => metadata.name)).toEqual(
      groups.map(({ name }) => name),
    )
  })
})

describe('negotiation', () => {
  test('the content type has its group, version and kind', () => {
    const { status, headers } = fetchPage(builtin, '/apis', V2)!
    expect(status).toBe(200)
    expect(headers).toEqual({
      'content-type': 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
      vary: 'Accept',
      'cache-control': 'public',
      etag: expect.stringMatching(/^"[0-9A-F]{128}"$/) as string,
    })
  })

  test('it is sent to clients that accept it with any preference', () => {
    expect(read(builtin, '/apis', { accepts: [...JSON_ONLY, aggregatedIn('v2')] })).toMatchObject({
      kind: 'APIGroupDiscoveryList',
    })
  })

  test('other versions fall back to the list of groups', () => {
    for (const version of ['v2beta1', 'v9']) {
      expect(read(builtin, '/apis', { accepts: [aggregatedIn(version), ...JSON_ONLY] })).toMatchObject({
        kind: 'APIGroupList',
      })
      expect(() => fetchPage(builtin, '/apis', { accepts: [aggregatedIn(version)] })).toThrow(
        'only the following media types are accepted',
      )
    }
  })

  test.each(['/apis/', '/apis/apps', '/apis/apps/v1', '/apis/example.com'])('%s has no aggregated document', path => {
    expect(() => fetchPage(builtin, path, V2)).toThrow('only the following media types are accepted')
  })

  test('as YAML and protobuf too', () => {
    const json = read(builtin, '/apis', V2) as List
    const protobuf = fetchPage(builtin, '/apis', { accepts: [aggregatedIn('v2', 'protobuf')] })!
    expect(protobuf.headers['content-type']).toBe(
      'application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    )
    const { apiVersion, kind, raw } = openEnvelope(protobuf.body)
    expect({ apiVersion, kind }).toEqual({ apiVersion: 'apidiscovery.k8s.io/v2', kind: 'APIGroupDiscoveryList' })
    const message = decodeMessage(discoveryTypes().byName('apidiscovery/v2.APIGroupDiscoveryList'), raw)
    expect(message).toMatchObject({ items: json.items.map(({ versions }) => ({ versions })) })
    const yaml = fetchPage(builtin, '/apis', { accepts: [aggregatedIn('v2', 'yaml')] })!
    expect(yaml.body.toString()).toMatch(/^apiVersion: apidiscovery.k8s.io\/v2\n/)
    expect(yaml.headers['etag']).toBe(protobuf.headers['etag'])
  })
})

describe('If-None-Match', () => {
  const etagOf = (server: typeof builtin): string => fetchPage(server, '/apis', V2)!.headers['etag']!

  test('with the current hash gives a 304', () => {
    const etag = etagOf(builtin)
    const { status, headers, body } = fetchPage(builtin, '/apis', { ...V2, ifNoneMatch: etag })!
    expect({ status, headers, size: body.length }).toEqual({
      status: 304,
      headers: { etag, vary: 'Accept', 'cache-control': 'public' },
      size: 0,
    })
  })

  test.each(['"0"', '', '*'])('does not match %s', ifNoneMatch => {
    expect(fetchPage(builtin, '/apis', { ...V2, ifNoneMatch })!.status).toBe(200)
  })

  test('does not match after a change, and matches again when it is undone', () => {
    const server = serverOf([customKind('example.com')])
    const before = etagOf(server)
    server.registry.put(customKind('other.com'))
    expect(etagOf(server)).not.toBe(before)
    server.registry.remove('other.com', 'widgets')
    expect(etagOf(server)).toBe(before)
  })
})

test.each([
  ['another group', 'other.com'],
  ['its own group', 'example.com'],
])('a change makes only its own kind anew, not those of %s', (_, group) => {
  const server = serverOf([customKind('example.com')])
  let looked = 0
  const watched = customKind(group, { kind: 'Zebra' })
  server.registry.put({
    ...watched,
    get verbs() {
      looked++
      return watched.verbs
    },
  })
  read(server, '/apis', V2)
  expect(looked).toBe(1)
  server.registry.put(customKind('example.com', { shortNames: ['w'] }))
  expect(JSON.stringify(read(server, '/apis', V2))).toContain('"shortNames":["w"]')
  expect(looked).toBe(1)
})
