import { expect, test } from 'vitest'
import { parseTracingConfiguration } from './configuration.js'

const parse = (text: string, version = 'v1') =>
  parseTracingConfiguration(
    Buffer.from(`apiVersion: apiserver.config.k8s.io/${version}\nkind: TracingConfiguration\n${text}`),
  )

test.each([
  ['', 'localhost:4317', 0],
  ['endpoint: collector:1234\nsamplingRatePerMillion: 250000', 'collector:1234', 0.25],
  ['endpoint: dns:///collector:1234', 'collector:1234', 0],
  ['endpoint: dns://1.1.1.1/collector:1234', 'collector:1234', 0],
  ['endpoint: unix:///run/collector.sock', 'unix:///run/collector.sock', 0],
])('%j', (text, endpoint, ratio) => {
  expect(parse(text)).toEqual({ endpoint, ratio })
  expect(parse(text, 'v1beta1')).toEqual({ endpoint, ratio })
})

test('an empty file has the defaults', () => {
  expect(parseTracingConfiguration(Buffer.from('\n'))).toEqual({ endpoint: 'localhost:4317', ratio: 0 })
})

const INVALID = 'failed to validate tracing configuration: '
const UNREADABLE = 'failed to read tracing config: unable to decode tracing configuration data: '

// As kube-apiserver prints them.
test.each([
  ['samplingRatePerMillion: -1', `${INVALID}samplingRatePerMillion: Invalid value: -1: sampling rate must be positive`],
  [
    'samplingRatePerMillion: 1000001\nendpoint: http://localhost:4317',
    `${INVALID}[samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be less than or equal to one million, endpoint: Invalid value: "http://localhost:4317": unsupported scheme: http.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md]`,
  ],
  [
    'endpoint: dn%2s://localhost:4317',
    `${INVALID}endpoint: Invalid value: "dn%2s://localhost:4317": parse "dn%2s://localhost:4317": first path segment in URL cannot contain colon`,
  ],
  ['foo: 1', `${UNREADABLE}strict decoding error: unknown field "foo"`],
])('%j is refused', (text, message) => {
  expect(() => parse(text)).toThrow(expect.objectContaining({ message }))
})

test('other versions are refused', () => {
  expect(() => parse('', 'v2')).toThrow(
    `${UNREADABLE}no kind "TracingConfiguration" is registered for version "apiserver.config.k8s.io/v2" in scheme "k8s.io/apiserver/pkg/server/options/tracing.go:49"`,
  )
})
