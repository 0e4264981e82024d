// The console of a real server: its page, signing in, and requests of a session through the filters of the API.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Binnacle, startBinnacle } from '../../src/server/index.js'
import { sendRequest } from './request.js'

let server: Binnacle
beforeAll(async () => {
  server = await startBinnacle({ console: true, tokens: { viewer: { name: 'viewer' } } })
})
afterAll(() => server.stop())

type Headers = Readonly<Record<string, string>>

async function signIn(body: object): Promise<Headers> {
  const origin = server.url
  const sent = await sendRequest(server, '/console/api/session', { method: 'POST', body, headers: { origin } })
  expect(sent.status).toBe(201)
  return { origin, cookie: sent.headers['set-cookie']![0]!.split(';')[0]!, 'x-binnacle-console': sent.body.key }
}

const codeOf = (link: string): string => new URL(link).hash.replace('#code=', '')

test('the link signs the administrator in, once', async () => {
  const link = server.consoleLink()
  expect(link.startsWith(`${server.url}/console/#code=`)).toBe(true)
  const headers = await signIn({ code: codeOf(link) })
  const me = await sendRequest(server, '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    method: 'POST',
    headers,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
  })
  expect(me.body.status.userInfo).toMatchObject({
    username: 'kubernetes-admin',
    groups: ['system:masters', 'system:authenticated'],
  })
  const again = await sendRequest(server, '/console/api/session', { method: 'POST', body: { code: codeOf(link) } })
  expect(again.status).toBe(401)
})

describe('a session of a user without rights', () => {
  let headers: Headers
  beforeAll(async () => {
    headers = await signIn({ token: 'viewer' })
  })

  test('is that user for RBAC', async () => {
    const { status, body } = await sendRequest(server, '/api/v1/secrets', { headers })
    expect({ status, message: body.message }).toEqual({
      status: 403,
      message:
        'secrets is forbidden: User "viewer" cannot list resource "secrets" in API group "" at the cluster scope',
    })
  })

  test('may not impersonate', async () => {
    const sent = await sendRequest(server, '/api/v1/secrets', {
      headers: { ...headers, 'impersonate-user': 'kubernetes-admin' },
    })
    expect(sent.body.message).toContain('User "viewer" cannot impersonate')
  })

  test('is not used for a request without its key, with the cookie alone', async () => {
    const { 'x-binnacle-console': _, ...cookieOnly } = headers
    const { body } = await sendRequest(server, '/api/v1/secrets', { headers: cookieOnly })
    expect(body.message).toContain('User "system:anonymous" cannot')
  })

  test('is refused to pages of other origins', async () => {
    const sent = await sendRequest(server, '/api/v1/secrets', { headers: { ...headers, origin: 'https://evil.test' } })
    expect(sent.status).toBe(401)
  })

  test('is refused when its key is wrong, also if there are other credentials', async () => {
    const sent = await sendRequest(server, '/api/v1/secrets', {
      headers: { ...headers, 'x-binnacle-console': 'guess' },
      token: server.token,
    })
    expect(sent.status).toBe(401)
  })

  test('has no codes for itself, and needs permission for the endpoints of the console', async () => {
    const post = (options: object) => sendRequest(server, '/console/api/codes', { method: 'POST', ...options })
    expect((await post({ headers })).status).toBe(403)
    expect((await post({ token: 'viewer' })).body.message).toContain('cannot post path "/console/api/codes"')
    expect((await post({ headers: await signIn({ code: codeOf(server.consoleLink()) }) })).status).toBe(403)
  })

  test('ends with DELETE', async () => {
    const own = await signIn({ token: 'viewer' })
    expect((await sendRequest(server, '/console/api/session', { headers: own })).body.user.username).toBe('viewer')
    expect((await sendRequest(server, '/console/api/session', { method: 'DELETE', headers: own })).status).toBe(204)
    expect((await sendRequest(server, '/console/api/session', { headers: own })).status).toBe(401)
    expect((await sendRequest(server, '/api/v1/secrets', { headers: own })).status).toBe(401)
  })
})

test('a session of a service account ends with its token', async () => {
  const at = '/api/v1/namespaces/default/serviceaccounts'
  const admin = { method: 'POST', token: server.token }
  await sendRequest(server, at, {
    ...admin,
    body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'bot' } },
  })
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } }
  const { token } = (await sendRequest(server, `${at}/bot/token`, { ...admin, body: request })).body.status
  const headers = await signIn({ token })
  expect((await sendRequest(server, '/api/v1/secrets', { headers })).body.message).toContain(
    'User "system:serviceaccount:default:bot"',
  )
  await sendRequest(server, `${at}/bot`, { method: 'DELETE', token: server.token })
  expect((await sendRequest(server, '/api/v1/secrets', { headers })).status).toBe(401)
  expect((await sendRequest(server, '/console/api/session', { headers })).status).toBe(401)
})

test('a client with a certificate gets a code for its user', async () => {
  const { client } = server
  const { status, body } = await sendRequest(server, '/console/api/codes', { method: 'POST', client })
  expect(status).toBe(201)
  const headers = await signIn({ code: body.code })
  expect((await sendRequest(server, '/api/v1/namespaces', { headers })).status).toBe(200)
})

test('the page is for everyone, with its headers', async () => {
  const { status, headers } = await sendRequest(server, '/console/')
  expect([200, 503]).toContain(status)
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
  expect((await sendRequest(server, '/console/api/nothing', { token: server.token })).status).toBe(404)
})

test('a server without the console has none of its paths', async () => {
  const plain = await startBinnacle()
  try {
    expect(() => plain.consoleLink()).toThrow('start with { console: true }')
    for (const path of ['/console/', '/console/api/session', '/console/api/codes']) {
      expect((await sendRequest(plain, path, { token: plain.token })).status).toBe(404)
    }
  } finally {
    await plain.stop()
  }
})
