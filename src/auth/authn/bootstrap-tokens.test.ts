import { expect, test } from 'vitest'
import type { ApiObject } from '../../meta/object/api-object.js'
import { bootstrapTokens } from './bootstrap-tokens.js'

const TOKEN = 'abcdef.0123456789abcdef'
const NOW = Date.parse('2026-01-01T00:00:00Z')
const VALID = {
  'token-id': 'abcdef',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
}

const identityOf = async (data: Record<string, string>, { token = TOKEN, more = {}, audience = 'us' } = {}) => {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(encoded),
    ...more,
  } as ApiObject
  const find = async (_: string, namespace: string, name: string) =>
    `${namespace}/${name}` === 'kube-system/bootstrap-token-abcdef' ? secret : undefined
  const check = await bootstrapTokens(['us'], find, () => NOW)(token, [audience])
  return check?.ok ? check.identity : undefined
}

test('a token makes its sender a bootstrapper', async () => {
  expect(await identityOf(VALID)).toEqual({
    name: 'system:bootstrap:abcdef',
    uid: '',
    groups: ['system:bootstrappers', 'system:authenticated'],
    extra: {},
  })
  const groups = 'system:bootstrappers:b,system:bootstrappers:a,system:bootstrappers:b'
  expect(
    await identityOf({ ...VALID, 'auth-extra-groups': groups, expiration: '2026-01-01T01:00:01+01:00' }),
  ).toMatchObject({
    groups: ['system:bootstrappers', 'system:bootstrappers:a', 'system:bootstrappers:b', 'system:authenticated'],
  })
})

test.each([
  ['another secret', { ...VALID, 'token-secret': '0123456789abcdee' }],
  ['another id', { ...VALID, 'token-id': 'abcdee' }],
  ['no use for authentication', { ...VALID, 'usage-bootstrap-authentication': 'false' }],
  ['a group of others', { ...VALID, 'auth-extra-groups': 'system:masters' }],
  ['an end that has come', { ...VALID, expiration: '2026-01-01T00:00:00Z' }],
  ['an end that cannot be read', { ...VALID, expiration: 'soon' }],
])('a Secret with %s', async (_, data) => {
  expect(await identityOf(data)).toBeUndefined()
})

test('a Secret of another type, one that is being deleted, another form, other audiences', async () => {
  expect(await identityOf(VALID, { more: { type: 'Opaque' } })).toBeUndefined()
  const metadata = { name: 'x', deletionTimestamp: '2026-01-01T00:00:00Z' }
  expect(await identityOf(VALID, { more: { metadata } })).toBeUndefined()
  expect(await identityOf(VALID, { token: `${TOKEN}0` })).toBeUndefined()
  expect(await identityOf(VALID, { audience: 'them' })).toBeUndefined()
})
