// Signing in, and the requests that a session is refused for.
import { expect, test } from 'vitest'
import { staticTokens } from '../../auth/authenticator.js'
import type { Exchange } from '../../http/exchange.js'
import { createSessions } from '../sessions.js'
import { createSignIn } from './sign-in.js'

const admin = { name: 'admin', uid: '', groups: ['system:masters'], extra: {} }
const alice = { name: 'alice', uid: '', groups: [], extra: {} }
const HOST = '127.0.0.1:6443'
const ORIGIN = `https://${HOST}`

interface Answer {
  status: number
  headers: Record<string, string>
  // oxlint-disable-next-line typescript/no-explicit-any -- any response
  body: any
}

type Headers = Readonly<Record<string, string>>

function setUp() {
  const sessions = createSessions()
  const tokens = new Map([['secret', alice]])
  const signIn = createSignIn({ sessions, tokens: [staticTokens(tokens)], audiences: AUDIENCES, about: {} })
  /** A body that is a promise arrives when it does. */
  async function send(method: string, headers: Headers, body?: unknown, address = '127.0.0.1'): Promise<Answer> {
    const sent: Answer = { status: 0, headers: {}, body: undefined }
    await signIn.handle({
      ...exchangeWith(headers, address),
      method,
      body: async () => {
        const arrived = await body
        return Buffer.from(typeof arrived === 'string' ? arrived : JSON.stringify(arrived))
      },
      answer: (status: number, answered: Record<string, string>, text = '') => {
        Object.assign(sent, { status, headers: answered, body: text === '' ? undefined : JSON.parse(text) })
      },
      begin: (status: number, answered: Record<string, string>) => {
        Object.assign(sent, { status, headers: answered })
        return { end: () => {} }
      },
    } as unknown as Exchange)
    return sent
  }
  const post = (body: unknown, headers: Headers = {}, address?: string) =>
    send('POST', { ...PAGE, 'content-type': 'application/json', ...headers }, body, address)
  const authenticate = (headers: Headers) => signIn.authenticate(exchangeWith(headers))
  /** The headers of a page that has signed in. */
  async function open(): Promise<Headers> {
    const { headers, body } = await post({ code: sessions.createCode({ user: admin }) })
    return { ...PAGE, cookie: headers['set-cookie']!.split(';')[0]!, 'x-binnacle-console': body.key as string }
  }
  return { sessions, tokens, send, post, authenticate, open }
}

const AUDIENCES = ['https://kubernetes.default.svc']
const PAGE: Headers = { host: HOST, origin: ORIGIN, 'sec-fetch-site': 'same-origin' }

const exchangeWith = (headers: Headers, address = '127.0.0.1', encrypted = true) =>
  ({ headers, peer: { address, encrypted } }) as unknown as Exchange

test('a code is exchanged for a session that authenticates as its user', async () => {
  const { post, authenticate, sessions } = setUp()
  const code = sessions.createCode({ user: admin })
  const { status, headers, body } = await post({ code })
  expect(status).toBe(201)
  expect(headers['set-cookie']).toMatch(
    /^__Host-binnacle-console-6443=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/,
  )
  expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  expect(body.user).toEqual({ username: 'admin', groups: ['system:masters', 'system:authenticated'] })
  const cookie = headers['set-cookie']!.split(';')[0]!
  expect(await authenticate({ ...PAGE, cookie, 'x-binnacle-console': body.key })).toMatchObject({ name: 'admin' })
})

test('a code that was used is refused', async () => {
  const { post, sessions } = setUp()
  const code = sessions.createCode({ user: admin })
  await post({ code })
  expect(await post({ code })).toMatchObject({ status: 401, body: { kind: 'Status', reason: 'Unauthorized' } })
})

test('the session of a token ends with the token', async () => {
  const { post, authenticate, send } = setUp()
  const { headers, body } = await post({ token: ' secret\n' })
  const page = { ...PAGE, cookie: headers['set-cookie']!.split(';')[0]!, 'x-binnacle-console': body.key as string }
  expect(await authenticate(page)).toMatchObject({ name: 'alice', groups: ['system:authenticated'] })
  expect(await send('GET', page)).toMatchObject({ status: 200, body: { user: { username: 'alice' } } })
  expect(await post({ token: 'wrong' })).toMatchObject({ status: 401 })
})

test('a session whose token is gone is over for good', async () => {
  const sessions = createSessions()
  let isThere = true
  const signIn = createSignIn({
    sessions,
    tokens: [() => (isThere ? { ok: true, identity: alice, audiences: AUDIENCES } : { ok: false, error: 'deleted' })],
    audiences: AUDIENCES,
    about: {},
  })
  const { id, key } = sessions.open({ credential: { token: 't' }, user: alice, origin: ORIGIN })
  const page = { ...PAGE, cookie: `__Host-binnacle-console-6443=${id}`, 'x-binnacle-console': key }
  expect(await signIn.authenticate(exchangeWith(page))).toMatchObject({ name: 'alice' })
  isThere = false
  expect(await signIn.authenticate(exchangeWith(page))).toBe(false)
  isThere = true
  expect(await signIn.authenticate(exchangeWith(page))).toBe(false)
})

test('a request with the cookie alone is not one of the session', async () => {
  const { open, authenticate } = setUp()
  const { 'x-binnacle-console': _, ...withoutKey } = await open()
  expect(await authenticate(withoutKey)).toBeUndefined()
})

test.each([
  ['that a page of another origin causes', { origin: 'https://evil.example' }],
  ['that a page of another port causes', { origin: 'https://127.0.0.1:8000', 'sec-fetch-site': 'same-site' }],
  ['that a page without an origin causes', { origin: 'null' }],
  ['that a page of another site causes', { 'sec-fetch-site': 'cross-site' }],
  ['to another name of the server', { host: 'evil.example', origin: 'https://evil.example' }],
  ['to another port', { host: '127.0.0.1:7000', origin: 'https://127.0.0.1:7000' }],
  ['with a wrong key', { 'x-binnacle-console': 'guess' }],
  ['without the cookie', { cookie: '' }],
  ['with the cookie of another server', { cookie: '__Host-binnacle-console-7000=abc' }],
])('a request %s is refused', async (_, changed) => {
  const { open, authenticate } = setUp()
  expect(await authenticate({ ...(await open()), ...changed })).toBe(false)
})

test('over plain http the cookie is not Secure, and is not one of https', async () => {
  const { sessions } = setUp()
  const { id, key } = sessions.open({ credential: { user: admin }, user: admin, origin: `http://${HOST}` })
  const signIn = createSignIn({ sessions, tokens: [], audiences: AUDIENCES, about: {} })
  const cookie = `binnacle-console-6443=${id}`
  const headers = { host: HOST, cookie, 'x-binnacle-console': key }
  expect(await signIn.authenticate(exchangeWith(headers, '127.0.0.1', false))).toMatchObject({ name: 'admin' })
  expect(await signIn.authenticate(exchangeWith(headers, '127.0.0.1', true))).toBe(false)
})

test.each([
  [{ origin: 'https://evil.example' }, 403],
  [{ 'sec-fetch-site': 'cross-site' }, 403],
  // What a form of another page can send without asking first.
  [{ 'content-type': 'text/plain' }, 415],
  [{ 'content-type': 'application/x-www-form-urlencoded' }, 415],
  [{ host: '' }, 400],
])('a sign-in with %j is answered %i and does not use up the code', async (headers, status) => {
  const { post, sessions } = setUp()
  const code = sessions.createCode({ user: admin })
  expect((await post({ code }, headers)).status).toBe(status)
  expect((await post({ code })).status).toBe(201)
})

test.each([['{'], ['[]'], ['null'], [{}], [{ code: 1 }], [{ code: 'a', token: 'b' }]])(
  'the body %j is answered 400',
  async body => {
    expect((await setUp().post(body)).status).toBe(400)
  },
)

test('a sign-in never takes the session that the browser came with', async () => {
  const { open, post, sessions, authenticate } = setUp()
  const planted = await open()
  const { headers, body } = await post({ code: sessions.createCode({ user: admin }) }, { cookie: planted['cookie']! })
  const cookie = headers['set-cookie']!.split(';')[0]!
  expect(cookie).not.toBe(planted['cookie'])
  expect(await authenticate({ ...PAGE, cookie, 'x-binnacle-console': body.key })).toMatchObject({ name: 'admin' })
  expect(await authenticate(planted)).toBe(false)
})

test('a right code signs in, whatever wrong ones the same address has given', async () => {
  const { post, sessions } = setUp()
  const wrong = Array.from({ length: 30 }, (_, i) => post({ code: `guess ${i}` }))
  expect(await wrong[0]).toMatchObject({ status: 401 })
  expect((await post({ code: sessions.createCode({ user: admin }) })).status).toBe(201)
  expect((await post({ token: 'secret' })).status).toBe(201)
})

test('signing out ends the session and removes the cookie', async () => {
  const { open, send, authenticate } = setUp()
  const page = await open()
  expect((await send('DELETE', { ...page, origin: 'https://evil.example' })).status).toBe(401)
  const { status, headers } = await send('DELETE', page)
  expect(status).toBe(204)
  expect(headers['set-cookie']).toMatch(/^__Host-binnacle-console-6443=; Path=\/; Max-Age=0;/)
  expect(await authenticate(page)).toBe(false)
  expect((await send('GET', page)).status).toBe(401)
  expect((await send('PUT', page)).status).toBe(405)
})

test.each(['[', 'a b', '127.0.0.1:99999', ':'])('a request to the host %j has no session', async host => {
  const { post, authenticate, open } = setUp()
  const page = await open()
  expect(await authenticate({ ...page, host })).toBe(false)
  expect(await post({ token: 'secret' }, { host })).toMatchObject({ status: 400 })
})

test('clients that do not send their bodies keep no other from signing in', async () => {
  const { post } = setUp()
  const never = new Promise(() => {})
  const silent = Array.from({ length: 150 }, () => post(never))
  expect(await post({ token: 'secret' })).toMatchObject({ status: 201 })
  expect(await silent[0]).toMatchObject({ status: 429 })
})
