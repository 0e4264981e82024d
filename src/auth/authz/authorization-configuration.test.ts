import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, test } from 'vitest'
import { parseAuthorizationConfiguration } from './authorization-configuration.js'

const folder = mkdtempSync(join(tmpdir(), 'binnacle-authorization-'))
afterAll(() => rmSync(folder, { recursive: true }))
const kubeconfig = join(folder, 'kubeconfig')
writeFileSync(
  kubeconfig,
  `
clusters: [{ name: c, cluster: { server: "https://127.0.0.1:1/authorize" } }]
users: [{ name: u, user: { token: secret } }]
contexts: [{ name: x, context: { cluster: c, user: u } }]
current-context: x
`,
)

const parse = (...authorizers: object[]) =>
  parseAuthorizationConfiguration(
    Buffer.from(
      JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration', authorizers }),
    ),
  )

const webhook = (changes: object = {}) => ({
  type: 'Webhook',
  name: 'w',
  webhook: {
    timeout: '5s',
    subjectAccessReviewVersion: 'v1',
    failurePolicy: 'Deny',
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: kubeconfig },
    ...changes,
  },
})

it('gives the authorizers in their order, webhooks with their settings', async () => {
  const [first, second] = parse(
    webhook({
      unauthorizedTTL: '1m30s',
      cacheAuthorizedRequests: false,
      matchConditionSubjectAccessReviewVersion: 'v1',
      matchConditions: [{ expression: "request.user != 'a'" }],
    }),
    { type: 'RBAC', name: 'rbac' },
  )
  expect(first).toMatchObject({
    name: 'w',
    webhook: { timeoutMs: 5000, authorizedTtlMs: 0, unauthorizedTtlMs: 90_000, failurePolicy: 'Deny', version: 'v1' },
  })
  expect(second).toEqual({ type: 'RBAC', name: 'rbac' })
  const target = first?.type === 'Webhook' ? await first.webhook.target() : undefined
  expect(target).toMatchObject({
    url: 'https://127.0.0.1:1/authorize',
    credentials: { headers: { authorization: 'Bearer secret' } },
  })
})

test.each([
  [[], 'authorizers: Required value: at least one authorization mode must be defined'],
  [
    [{ type: 'Foo', name: 'foo' }],
    'authorizers[0].type: Unsupported value: "Foo": supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"',
  ],
  [[{ type: 'RBAC', name: 'other' }], 'expected name rbac for authorizer RBAC instead of other'],
  [[{ type: 'Webhook', name: 'w' }], 'authorizers[0].webhook: Required value: required when type=Webhook'],
  [[webhook({ timeout: '31s' })], 'authorizers[0].timeout: Invalid value: "31s": must be > 0s and <= 30s'],
  [
    [webhook({ failurePolicy: 'Allow' })],
    'authorizers[0].failurePolicy: Unsupported value: "Allow": supported values: "NoOpinion", "Deny"',
  ],
  [
    [webhook({ matchConditions: [{ expression: 'true' }] })],
    'authorizers[0].matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified',
  ],
  [
    [webhook({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: 'relative' } })],
    'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "relative": must be an absolute path',
  ],
  [
    [webhook({ extra: 1 })],
    'failed to load AuthorizationConfiguration from file: strict decoding error: unknown field "authorizers[0].webhook.extra"',
  ],
] as [object[], string][])('refuses %j', (authorizers, message) => {
  expect(() => parse(...authorizers)).toThrow(message)
})
