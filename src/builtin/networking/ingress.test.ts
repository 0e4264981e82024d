import { describe, expect, test } from 'vitest'
import { metaOf } from '../../meta/object/object-meta.js'
import type { ValueObject } from '../../meta/values/value.js'
import { changed, created, errorsOf, errorsOfChange, tableRowOf, warningsFor } from '../written-objects.suite.js'

const KIND = ['networking.k8s.io/v1', 'Ingress'] as const
const backend = { service: { name: 's', port: { number: 80 } } }
const errors = (spec: ValueObject): string[] => errorsOf(...KIND, { spec })

/** Errors of one path, and of one backend, without the beginning of the field that they have in common. */
const ofPath = (path: ValueObject): string[] =>
  errors({ rules: [{ http: { paths: [{ pathType: 'Prefix', path: '/', backend, ...path }] } }] }).map(error =>
    error.replace('spec.rules[0].http.paths[0].', ''),
  )
const ofBackend = (given: ValueObject): string[] =>
  errors({ defaultBackend: given }).map(error => error.replace('spec.defaultBackend', 'backend'))

test.each<[ValueObject, string[]]>([
  [{ defaultBackend: backend }, []],
  [{}, ['spec: Invalid value: null: either `defaultBackend` or `rules` must be specified']],
  [
    { rules: [{ host: '10.0.0.1' }] },
    ['spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
  ],
  [{ rules: [{ http: { paths: [] } }] }, ['spec.rules[0].http.paths: Required value']],
  [{ rules: [{ host: '*.example.com' }, { host: 'a.b' }] }, []],
])('the spec %j', (spec, expected) => expect(errors(spec)).toEqual(expected))

test.each([
  ['*', 'a wildcard DNS-1123 subdomain must start with'],
  ['A.b', 'a lowercase RFC 1123 subdomain must consist of'],
])('the host %s', (host, message) => {
  expect(errors({ rules: [{ host }] })).toEqual([expect.stringContaining(message)])
  expect(errors({ defaultBackend: backend, tls: [{ hosts: [host] }] })).toEqual([
    expect.stringMatching(/^spec\.tls\[0\]\.hosts\[0\]: Invalid value/),
  ])
})

test.each<[ValueObject, string[]]>([
  [{ pathType: null }, ['pathType: Required value: pathType must be specified']],
  [
    { pathType: 'Odd' },
    ['pathType: Unsupported value: "Odd": supported values: "Exact", "ImplementationSpecific", "Prefix"'],
  ],
  [{ path: 'a' }, ['path: Invalid value: "a": must be an absolute path']],
  [
    { path: '/a//b/%2F/.' },
    [
      'path: Invalid value: "/a//b/%2F/.": must not contain \'//\'',
      'path: Invalid value: "/a//b/%2F/.": must not contain \'%2F\'',
      'path: Invalid value: "/a//b/%2F/.": cannot end with \'/.\'',
    ],
  ],
  [{ pathType: 'ImplementationSpecific', path: '/a//b' }, []],
  [{ pathType: 'ImplementationSpecific', path: '' }, []],
  [{ pathType: 'ImplementationSpecific', path: 'a' }, ['path: Invalid value: "a": must be an absolute path']],
  [{ backend: {} }, ['backend: Invalid value: "": resource or service backend is required']],
])('a path with %j', (path, expected) => expect(ofPath(path)).toEqual(expected))

test.each<[ValueObject, string[]]>([
  [{ resource: { kind: 'K', name: 'n' } }, []],
  [{ resource: { kind: '', name: 'n' } }, ['backend.resource.kind: Required value']],
  [
    { ...backend, resource: { kind: 'K', name: 'n' } },
    ['backend: Invalid value: "": cannot set both resource and service backends'],
  ],
  [{ service: { name: '1s', port: { name: 'web' } } }, []],
  [
    { service: { name: '', port: {} } },
    ['backend.service.name: Required value', 'backend: Required value: port name or number is required'],
  ],
  [
    { service: { name: 's', port: { name: 'a', number: 1 } } },
    ['backend: Invalid value: "": cannot set both port name & port number'],
  ],
  [
    { service: { name: 's', port: { number: 65536 } } },
    ['backend.service.port.number: Invalid value: 65536: must be between 1 and 65535, inclusive'],
  ],
])('a backend of %j', (given, expected) => expect(ofBackend(given)).toEqual(expected))

test('annotation and field name the same class', () => {
  const metadata = { annotations: { 'kubernetes.io/ingress.class': 'a' } }
  const object = { metadata, spec: { defaultBackend: backend, ingressClassName: 'b' } }
  expect(errorsOf(...KIND, object)).toEqual([
    'annotations.kubernetes.io/ingress.class: Invalid value: "a": must match `ingressClassName` when both are specified',
  ])
  const annotated = created(...KIND, { metadata, spec: { defaultBackend: backend } })
  expect(warningsFor(...KIND, annotated)).toEqual([
    'annotation "kubernetes.io/ingress.class" is deprecated, please use \'spec.ingressClassName\' instead',
  ])
  expect(warningsFor(...KIND, annotated, annotated)).toEqual([])
})

describe('what is stored already', () => {
  const change = { metadata: { labels: { a: 'b' } } }
  const changeOf = (spec: ValueObject): string[] => errorsOfChange(...KIND, { spec }, change)

  test('may keep secret names and paths of wildcard hosts that are wrong', () => {
    expect(changeOf({ defaultBackend: backend, tls: [{ secretName: 'A_b' }] })).toEqual([])
    expect(changeOf({ rules: [{ host: '*.a.b', http: { paths: [] } }] })).toEqual([])
    expect(changeOf({ rules: [{ host: 'a.b', http: { paths: [] } }] })).toHaveLength(1)
  })
})

test('the generation counts changes of the spec', () => {
  const old = created(...KIND, { spec: { defaultBackend: backend }, status: { loadBalancer: { ingress: [{}] } } })
  expect(old).toMatchObject({ metadata: { generation: 1 }, status: { loadBalancer: {} } })
  expect(metaOf(changed(...KIND, old, { metadata: { labels: { a: 'b' } } })).generation).toBe(1)
  expect(metaOf(changed(...KIND, old, { spec: { ingressClassName: 'c' } })).generation).toBe(2)
})

test('the status', () => {
  const ingress = [{ ip: '10.0.0.01' }, { hostname: '10.0.0.1' }, { hostname: 'a.b' }]
  const patch = { status: { loadBalancer: { ingress } } }
  expect(errorsOfChange(...KIND, { spec: { defaultBackend: backend } }, patch, 'status')).toEqual([
    'status.loadBalancer.ingress[0].ip: Invalid value: "10.0.0.01": must not have leading 0s',
    'status.loadBalancer.ingress[1].hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
  ])
})

test('the row', () => {
  const rules = ['a', 'b', 'c', 'd'].map(host => ({ host }))
  const object = {
    metadata: { name: 'x' },
    spec: { rules, tls: [{}] },
    status: { loadBalancer: { ingress: [{ hostname: 'h' }, { ip: '10.0.0.1' }, { ip: '10.0.0.1' }] } },
  }
  const row = tableRowOf('networking.k8s.io/v1', 'ingresses')
  expect(row(object, 0)).toEqual(['x', '<none>', 'a,b,c + 1 more...', '10.0.0.1,h', '80, 443', '<unknown>'])
  expect(row({ metadata: { name: 'x' } }, 0)).toEqual(['x', '<none>', '*', '', '80', '<unknown>'])
})
