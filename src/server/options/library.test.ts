import { expect, test } from 'vitest'
import { readLibraryOptions } from './library.js'

/** As a program in JavaScript would pass them. */
const read = (options: object) => readLibraryOptions(options)

test.each<[object, string]>([
  [
    { authorization: 'rbac' },
    'authorization: "rbac": "rbac" is not one of RBAC, AlwaysAllow, AlwaysDeny, Node; did you mean RBAC?',
  ],
  [
    { authorization: 'Webhook' },
    'authorization: "Webhook": "Webhook" is not one of RBAC, AlwaysAllow, AlwaysDeny, Node',
  ],
  [{ authorisation: 'RBAC' }, 'there is no option authorisation: did you mean authorization?'],
  [{ quota: true }, 'there is no option quota: there are storage, port, address, '],
  [{ anonymous: 'no' }, 'anonymous: "no": it must be true or false'],
  [{ port: '80' }, 'port: "80": it must be a whole number from 0 to 65535'],
  [{ port: 70_000 }, 'port: 70000: it must be a whole number from 0 to 65535'],
  [{ address: 'localhost' }, 'address: "localhost": it must be an IP address'],
  [{ storage: 'disk' }, "storage: \"disk\": it must be 'memory', { folder: '/path' } or { etcd: "],
  [{ storage: { dir: '/x' } }, "storage: it must be 'memory', { folder: '/path' } or { etcd: "],
  [{ storage: { etcd: ['localhost'] } }, 'storage: "localhost": an endpoint is a URL'],
  [{ tokens: { secret: {} } }, 'tokens: each token needs a user name'],
  [{ tokens: { secret: { name: 'a', groups: 'devs' } } }, 'tokens: groups must be a list of names'],
  [{ tokens: { secret: { name: 'a', grups: [] } } }, 'tokens: a user has no field grups: did you mean groups?'],
  [{ runtimeConfig: { 'api/beta': 'true' } }, 'runtimeConfig: it must be true or false'],
  [{ webhookHosts: { 'a.b.svc': 'x y' } }, 'webhookHosts: a.b.svc: "x y" is not an address such as 127.0.0.1:9443'],
  [{ conversions: { a: 1 } }, 'conversions: a: it must be a function'],
  [{ disabledAdmissionPlugins: 'Foo' }, 'disabledAdmissionPlugins: "Foo": it must be a list of names'],
  [{ serviceRange: '10.0.0.0' }, 'serviceRange: "10.0.0.0": it must be a range of addresses, such as 10.0.0.0/24'],
  [{ log: 'stderr' }, 'log: it must be a function'],
])('%j is refused', (options, message) => {
  expect(() => read(options)).toThrow(message)
})

test('a wrong token is not printed', () => {
  expect(() => read({ tokens: { 'my-secret': { groups: [] } } })).not.toThrow(/my-secret/)
})

test('an option that is undefined has its default', () => {
  const { server, token } = read({ authorization: undefined, anonymous: undefined })
  expect(server.authorization.modes).toEqual(['RBAC'])
  expect(server.authentication.anonymous).toBe(true)
  expect(server.authentication.tokens.get(token)?.groups).toEqual(['system:masters'])
})
