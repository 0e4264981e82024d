import { expect, it } from 'vitest'
import { destinationOf } from './client-config.js'

const service = { namespace: 'ns', name: 'converter' }

it.each([
  [{ url: 'https://example.com/convert' }, 30_000, 'example.com', 443, '/convert?timeout=30s'],
  [{ url: 'https://127.0.0.1:9443' }, 10_000, '127.0.0.1', 9443, '/?timeout=10s'],
  [{ url: 'https://[::1]:9443/x' }, 90_000, '::1', 9443, '/x?timeout=1m30s'],
  [{ service }, 30_000, 'converter.ns.svc', 443, '/?timeout=30s'],
  [{ service: { ...service, port: 9443, path: '/a/b' } }, 30_000, 'converter.ns.svc', 9443, '/a/b?timeout=30s'],
])('%j is called within %d ms at %s:%d%s', (config, timeoutMs, host, port, path) => {
  expect(destinationOf(config, timeoutMs)).toMatchObject({ host, port, path })
})

it.each([
  ['https://h:1', 'https://h:1/'],
  ['https://h:1//a//b/', 'https://h:1/a/b'],
  ['https://h:1/a/../b/./c/..', 'https://h:1/b'],
  ['https://LOCALHOST/a%20b/%2f/c', 'https://LOCALHOST/a%20b/c'],
  ["https://[::1]:1/ü/!'()*$&+,:;=@~", 'https://[::1]:1/%C3%BC/%21%27%28%29%2A$&+,:;=@~'],
])('%s is called as client-go joins its path', (url, expected) => {
  expect(destinationOf({ url }, 10_000).url).toBe(`${expected}?timeout=10s`)
})

it('includes the port of a service in the URL', () => {
  expect(destinationOf({ service: { ...service, path: '/convert' } }, 30_000).url).toBe(
    'https://converter.ns.svc:443/convert?timeout=30s',
  )
})

it('decodes the certificates of the bundle', () => {
  const caBundle = Buffer.from('-----BEGIN CERTIFICATE-----').toString('base64')
  expect(destinationOf({ url: 'https://x', caBundle }, 1).ca).toBe('-----BEGIN CERTIFICATE-----')
  expect(destinationOf({ url: 'https://x', caBundle: '' }, 1).ca).toBeUndefined()
})

it.each([[{}], [{ url: 'http://example.com' }], [{ url: 'not a URL' }]])('refuses %j', config => {
  expect(() => destinationOf(config, 1)).toThrow(Error)
})
