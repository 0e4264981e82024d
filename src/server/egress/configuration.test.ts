import { expect, test } from 'vitest'
import { parseEgressConfiguration } from './configuration.js'

const parse = (selections: readonly object[], version = 'v1beta1') =>
  parseEgressConfiguration(
    Buffer.from(
      JSON.stringify({
        apiVersion: `apiserver.k8s.io/${version}`,
        kind: 'EgressSelectorConfiguration',
        egressSelections: selections,
      }),
    ),
  )
const selection = (name: string, proxyProtocol: string, transport?: object): object => ({
  name,
  connection: { proxyProtocol, ...(transport && { transport }) },
})
const tcp = (url: string, tlsConfig?: object): object => ({ tcp: { url, ...(tlsConfig && { tlsConfig }) } })

test('each destination has its way', () => {
  const dials = parse([
    selection('Cluster', 'HTTPConnect', tcp('http://127.0.0.1:1')),
    selection('master', 'HTTPConnect', { uds: { udsName: '/run/proxy.sock' } }),
    selection('etcd', 'Direct'),
  ])
  expect(dials).toEqual({ cluster: expect.any(Function), controlPlane: expect.any(Function), etcd: undefined })
  expect(parse([], 'v1alpha1')).toEqual({ cluster: undefined, controlPlane: undefined, etcd: undefined })
})

// As kube-apiserver prints them.
test.each<[object[], string]>([
  [
    [selection('foo', 'Direct')],
    'service.connection: Unsupported value: "foo": supported values: "cluster", "controlplane", "etcd"',
  ],
  [
    [selection('cluster', 'Foo')],
    'service.connection.protocol: Unsupported value: "Foo": supported values: "Direct", "HTTPConnect", "GRPC"',
  ],
  [
    [selection('cluster', 'Direct', tcp('http://a'))],
    'service.connection.transport: Invalid value: "direct": config must be absent for direct connect',
  ],
  [
    [selection('cluster', 'HTTPConnect'), selection('cluster', 'HTTPConnect', {})],
    '[service.connection.transport: Required value: transport must be set for HTTPConnect, service.connection.tcp: Required value: One of TCP or UDS must be set, service.connection[1]: Duplicate value: "cluster"]',
  ],
  [
    [selection('etcd', 'HTTPConnect', { ...tcp('http://a:1', { caBundle: '/a' }), uds: { udsName: 'a' } })],
    'service.connection.tcp: Invalid value: {"URL":"http://a:1","TLSConfig":{"CABundle":"/a","ClientKey":"","ClientCert":"","TLSServerName":""}}: TCP and UDS cannot both be set',
  ],
  [
    [selection('controlplane', 'HTTPConnect', tcp('https://a:1')), selection('master', 'GRPC', tcp('https://a:1'))],
    '[service.connection.tlsConfig: Required value: TLSConfig must be present when using HTTPS, service.connection.uds: Required value: UDS must be set with GRPC, service.connection[1]: Duplicate value: "controlplane"]',
  ],
  [
    [selection('controlplane', 'HTTPConnect', tcp('https://a:1', { caBundle: '/nonexist', clientKey: '/x' }))],
    '[service.connection.tlsConfig.caBundle: Invalid value: "/nonexist": TLS config ca bundle does not exist, service.connection.tlsConfig.clientCert: Invalid value: "nil": Using TLS requires clientCert, service.connection.tlsConfig.clientKey: Invalid value: "/x": TLS client key does not exist]',
  ],
  [
    [selection('cluster', 'HTTPConnect', { uds: { udsName: '' } }), selection('etcd', 'HTTPConnect', tcp('ftp://a'))],
    '[service.connection.udsName: Invalid value: "nil": must be present for UDS connections, service.connection.url: Invalid value: "ftp://a": supported connection protocols are http:// and https://]',
  ],
])('%# is refused', (selections, message) => {
  expect(() => parse(selections)).toThrow(
    expect.objectContaining({ message: `failed to validate egress selector configuration: ${message}` }),
  )
})

test('documents of another form are refused', () => {
  expect(() => parse([{ ...selection('cluster', 'Direct'), foo: 1 }])).toThrow(
    'failed to read egress selector config: strict decoding error: unknown field "egressSelections[0].foo"',
  )
  expect(() => parse([], 'v1')).toThrow(
    'no kind "EgressSelectorConfiguration" is registered for version "apiserver.k8s.io/v1" in scheme "k8s.io/apiserver/pkg/server/egressselector/config.go:33"',
  )
})

test('a proxy that speaks gRPC is not available', () => {
  expect(() => parse([selection('cluster', 'GRPC', { uds: { udsName: '/run/proxy.sock' } })])).toThrow(
    'proxyProtocol GRPC is not available here',
  )
})
