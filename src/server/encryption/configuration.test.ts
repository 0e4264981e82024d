import { expect, test } from 'vitest'
import { parseEncryptionConfiguration } from './configuration.js'

const SECRET = Buffer.alloc(32, 1).toString('base64')

const parse = (resources: unknown) =>
  parseEncryptionConfiguration(
    Buffer.from(
      JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources }),
    ),
  )
const rule = (resources: unknown, ...providers: unknown[]) => ({ resources, providers })
const keys = (...all: unknown[]) => ({ keys: all })
const kms = (more: object) => ({
  kms: { apiVersion: 'v2', name: 'a', endpoint: 'unix:///run/kms.sock', ...more },
})
const IDENTITY = { identity: {} }

test('providers keep their order, keys are decoded, KMS has defaults', () => {
  const [first] = parse([rule(['secrets'], { aescbc: keys({ name: 'k', secret: SECRET }) }, kms({}), IDENTITY)])
  expect(first!.providers).toEqual([
    { type: 'aescbc', keys: [{ name: 'k', secret: Buffer.alloc(32, 1) }] },
    { type: 'kms', name: 'a', endpoint: 'unix:///run/kms.sock', timeoutMs: 3000 },
    { type: 'identity' },
  ])
})

test.each([
  ['no rules', [], 'resources: Required value: at least one resources is required'],
  ['a star', [rule(['*'], IDENTITY)], "use '*.' to encrypt all the resources from core API group"],
  ['capitals', [rule(['Secrets'], IDENTITY)], 'resource name should not contain capital letters'],
  ['an overlap', [rule(['secrets', '*.'], IDENTITY)], 'using overlapping resources'],
  ['all and one', [rule(['a.b', '*.*'], IDENTITY)], 'using overlapping resources'],
  ['twice the same', [rule(['secrets', 'secrets'], IDENTITY)], 'the same resource cannot be specified multiple times'],
  ['a group of all', [rule(['a.*'], IDENTITY)], 'encrypting the same resource across groups is not supported'],
  ['the newer events', [rule(['events.events.k8s.io'], IDENTITY)], "Use 'events' instead in the config file"],
  ['no resource', [rule(['serviceipallocations'], IDENTITY)], 'resources which do not have REST API/s'],
  [
    'masked',
    [rule(['*.*'], IDENTITY), rule(['secrets'], IDENTITY)],
    'resource "secrets" is masked by earlier rule "*.*"',
  ],
  ['no provider', [rule(['secrets'], {})], 'provider does not contain any of the expected providers'],
  ['two providers', [rule(['secrets'], { ...IDENTITY, aesgcm: keys() })], 'more than one provider specified'],
  ['no keys', [rule(['secrets'], { aesgcm: keys() })], 'at least one keys is required'],
  [
    'a short key',
    [rule(['secrets'], { aesgcm: keys({ name: 'a', secret: 'eA==' }) })],
    'got 1, expected one of [16 24 32]',
  ],
  ['no base64', [rule(['secrets'], { secretbox: keys({ name: 'a', secret: '%' }) })], 'secrets must be base64 encoded'],
  ['KMS v1', [rule(['secrets'], kms({ apiVersion: 'v1' }))], 'KMSv1 is deprecated'],
  ['no time', [rule(['secrets'], kms({ timeout: '0s' }))], 'timeout should be a positive value'],
  ['a network', [rule(['secrets'], kms({ endpoint: 'http://x' }))], 'unsupported scheme "http"'],
  ['no file', [rule(['secrets'], kms({ endpoint: 'unix:///@x' }))], 'sockets without a file are not supported here'],
  ['one name twice', [rule(['secrets'], kms({}), kms({}))], 'duplicate KMS provider name a'],
  ['an unknown field', [{ ...rule(['secrets'], IDENTITY), x: 1 }], 'unknown field "resources[0].x"'],
])('%s is refused', (_, resources, message) => {
  expect(() => parse(resources)).toThrow(message)
})

test('messages do not show keys', () => {
  const secret = 'c2VjcmV0'
  const wrong = { aesgcm: keys({ name: 'a', secret }), aescbc: keys({ name: 'a', secret }) }
  expect(() => parse([rule(['secrets'], wrong, { aescbc: keys({ name: 'a', secret }) })])).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining(secret) as string }),
  )
  const document = Buffer.from(`resources: [{providers: [{aescbc: {keys: [{secret: ${secret}}]}}]}]`)
  expect(() => parseEncryptionConfiguration(document)).toThrow(/^Object 'Kind' is missing$/)
})
