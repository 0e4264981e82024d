import { generateKeyPairSync } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { createMetrics } from '../../base/metrics.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { createMemoryStore } from '../../storage/memory/memory-store.js'
import { accountTokens, defaultAuthority, issueToken, type TokenAuthority, type TokenSpec } from './account-tokens.js'
import { API_AUDIENCE, checkToken, type Notes, type TokenCheck } from './authenticate.js'
import { loadSigningKey, parseKeys, type SigningKey } from './signing-key.js'
import { countTokenUses, type TokenUses } from './token-metrics.js'

const NOW = 1_700_000_000_000
const object = (kind: string, name: string, uid: string): ApiObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { namespace: 'x', name, uid },
})
const account = object('ServiceAccount', 'robot', 'u1')

let authority: TokenAuthority
let stored: Map<string, ApiObject>
let now: number
beforeEach(async () => {
  authority = defaultAuthority(await loadSigningKey(createMemoryStore()))
  stored = new Map([['ServiceAccount robot', account]])
  now = NOW
})

const issue = async (spec: Partial<TokenSpec> = {}): Promise<string> =>
  issueToken({ account, audiences: [API_AUDIENCE], seconds: 600, bound: [], now: NOW, ...spec }, authority)

const check = async (
  given: string | Promise<string>,
  audiences?: readonly string[],
  notes?: Notes,
  uses?: TokenUses,
): Promise<TokenCheck> =>
  checkToken(
    [
      accountTokens(
        authority,
        async (kind, _, name) => stored.get(`${kind} ${name}`),
        () => now,
        uses,
      ),
    ],
    await given,
    audiences,
    notes,
  )

test('a token of a pod that is used too long is noted for the audit, and counted', async () => {
  const pod: ApiObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'x', uid: 'u2' } }
  stored.set('Pod p', pod)
  const token = await issue({ seconds: 3607, bound: [{ kind: 'Pod', object: pod }] })
  const noted: [string, string][] = []
  const notes: Notes = { warn: () => {}, annotate: (...note) => void noted.push(note) }
  const metrics = createMetrics()
  const uses = countTokenUses(metrics)
  await check(token, undefined, notes, uses)
  expect(noted).toEqual([])
  now = NOW + 3_617_000
  await check(token, undefined, notes, uses)
  const late = 'subject: system:serviceaccount:x:robot, seconds after warning threshold: 10'
  expect(noted).toEqual([['authentication.k8s.io/stale-token', late]])
  const page = await metrics.print()
  for (const name of ['valid', 'stale']) expect(page).toContain(`serviceaccount_${name}_tokens_total 1\n`)
})

describe('a token', () => {
  test('names the user', async () => {
    expect(await check(issue())).toMatchObject({
      ok: true,
      identity: {
        name: 'system:serviceaccount:x:robot',
        uid: 'u1',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:x'],
        extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^JTI=[0-9a-f-]{36}$/)] },
      },
      audiences: [API_AUDIENCE],
    })
  })

  test('stays valid when the clock is set back, or that of another replica is behind', async () => {
    const token = await issue()
    now = NOW - 3_600_000
    expect(await check(token)).toMatchObject({ ok: true })
  })

  test('is for its audiences alone', async () => {
    expect(await check(issue({ audiences: ['vault'] }))).toEqual({
      ok: false,
      error: `[invalid bearer token, token audiences ["vault"] is invalid for the target audiences ["${API_AUDIENCE}"]]`,
    })
    expect(await check(issue({ audiences: ['vault'] }), ['vault', 'other'])).toMatchObject({ audiences: ['vault'] })
  })

  test('ends with its time', async () => {
    const token = await issue()
    now += 620_000
    expect(await check(token)).toMatchObject({ error: '[invalid bearer token, service account token has expired]' })
  })

  test('ends with its account, and does not come back with another of the same name', async () => {
    const token = await issue()
    stored.clear()
    expect(await check(token)).toMatchObject({ ok: false })
    stored.set('ServiceAccount robot', object('ServiceAccount', 'robot', 'u2'))
    expect(await check(token)).toMatchObject({ ok: false })
  })

  test('ends with what it is bound to', async () => {
    const secret = object('Secret', 'bound', 's1')
    stored.set('Secret bound', secret)
    const token = await issue({ bound: [{ kind: 'Secret', object: secret }] })
    expect(await check(token)).toMatchObject({ ok: true })
    stored.delete('Secret bound')
    expect(await check(token)).toMatchObject({
      error: '[invalid bearer token, service account token has been invalidated]',
    })
  })

  test('of a pod on a node that does not exist names the node without a UID', async () => {
    const pod = object('Pod', 'p', 'p1')
    stored.set('Pod p', pod)
    const node: ApiObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'gone' } }
    const token = await issue({
      bound: [
        { kind: 'Pod', object: pod },
        { kind: 'Node', object: node },
      ],
    })
    const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>
    expect(claims['kubernetes.io']).toMatchObject({ node: { name: 'gone' }, pod: { name: 'p', uid: 'p1' } })
    const checked = await check(token)
    expect(checked.ok && Object.keys(checked.identity.extra)).not.toContain('authentication.kubernetes.io/node-uid')
    expect(checked.ok && checked.identity.extra['authentication.kubernetes.io/node-name']).toEqual(['gone'])
  })

  test('of a pod that is renewed each hour is valid for a year, and says when it should have been renewed', async () => {
    const pod = object('Pod', 'p', 'p1')
    const bound = [{ kind: 'Pod', object: pod }] as const
    const secret = [{ kind: 'Secret', object: object('Secret', 's', 's1') }] as const
    const yearly = 365 * 24 * 3_600
    const validity = async (token: string | Promise<string>): Promise<unknown[]> => {
      const claims = JSON.parse(Buffer.from((await token).split('.')[1]!, 'base64url').toString())
      return [claims.exp - claims.iat, claims['kubernetes.io'].warnafter - claims.iat]
    }
    expect(await validity(issue({ bound, seconds: 3_607 }))).toEqual([yearly, 3_607])
    expect(await validity(issue({ bound, seconds: 3_600 }))).toEqual([3_600, Number.NaN])
    expect(await validity(issue({ bound: secret, seconds: 3_607 }))).toEqual([3_607, Number.NaN])
    expect(await validity(issue({ bound, seconds: 3_607, audiences: ['vault'] }))).toEqual([3_607, Number.NaN])
  })

  test('of a pod names the pod and its node', async () => {
    const pod = object('Pod', 'p', 'p1')
    stored.set('Pod p', pod)
    const bound = [
      { kind: 'Pod', object: pod },
      { kind: 'Node', object: object('Node', 'n', 'n1') },
    ] as const
    expect(await check(issue({ bound }))).toMatchObject({
      identity: {
        extra: {
          'authentication.kubernetes.io/pod-name': ['p'],
          'authentication.kubernetes.io/pod-uid': ['p1'],
          'authentication.kubernetes.io/node-name': ['n'],
        },
      },
    })
  })
})

test.each([
  ['short', 1, 1],
  ['very long', 1_000, 2],
])(
  'a %s token is remembered if that takes little memory (%d more audiences, %d looks at the keys)',
  async (_, count, looks) => {
    const audiences = [API_AUDIENCE, ...Array.from({ length: count }, (_audience, i) => `https://audience-${i}`)]
    const token = await issue({ audiences })
    let looked = 0
    const counted: TokenAuthority = {
      ...authority,
      get keys() {
        looked++
        return authority.keys
      },
    }
    const authenticate = accountTokens(
      counted,
      async (kind, _namespace, name) => stored.get(`${kind} ${name}`),
      () => now,
    )
    for (let i = 0; i < 2; i++) expect(await authenticate(token, [API_AUDIENCE])).toMatchObject({ ok: true })
    expect(looked).toBe(looks)
  },
)

describe('what is not taken for one', () => {
  test.each(['', 'nonsense', 'a.b.c', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.'])('%j', async token => {
    expect(await check(token)).toEqual({ ok: false, error: 'invalid bearer token' })
  })

  test('one with anything changed', async () => {
    const token = await issue()
    const [header = '', claims = '', signature = ''] = token.split('.')
    const forged = Buffer.from(claims, 'base64url').toString().replace('robot', 'admin')
    expect(await check(`${token}x`)).toMatchObject({ ok: false })
    const none = Buffer.from('{"alg":"none"}').toString('base64url')
    expect(await check(`${none}.${claims}.`)).toMatchObject({ ok: false })
    expect(await check(`${header}.${Buffer.from(forged).toString('base64url')}.${signature}`)).toMatchObject({
      ok: false,
    })
  })

  test('one of another server', async () => {
    const token = await issue()
    authority = defaultAuthority(await loadSigningKey(createMemoryStore()))
    expect(await check(token)).toMatchObject({ ok: false })
  })
})

test('every process on one store has the same key', async () => {
  const store = createMemoryStore()
  const [one, other] = await Promise.all([loadSigningKey(store), loadSigningKey(store)])
  expect(one.id).toBe(other.id)
})

describe('keys of the user', () => {
  const pem = (type: 'rsa' | 'ec', options: object) =>
    generateKeyPairSync(
      type as 'ec',
      {
        ...options,
        privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
        publicKeyEncoding: { type: 'spki', format: 'pem' },
      } as never,
    ) as unknown as { privateKey: string; publicKey: string }
  const rsa = pem('rsa', { modulusLength: 2048 })
  const p384 = pem('ec', { namedCurve: 'P-384' })

  test.each([
    ['RS256', rsa],
    ['ES384', p384],
  ])('%s signs and verifies', async (algorithm, { privateKey, publicKey }) => {
    const [signingKey] = parseKeys(privateKey)
    expect(signingKey?.algorithm).toBe(algorithm)
    authority = {
      ...authority,
      signingKey: signingKey as SigningKey,
      keys: parseKeys(publicKey),
      issuers: ['https://a'],
    }
    expect(await check(issue())).toMatchObject({ ok: true })
  })

  test('a token of a further issuer is accepted if one of the keys signed it', async () => {
    const other = { ...authority, issuers: ['https://old'] as const }
    const token = await issueToken({ account, audiences: [API_AUDIENCE], seconds: 600, bound: [], now: NOW }, other)
    expect(await check(token)).toEqual({ ok: false, error: 'invalid bearer token' })
    authority = {
      ...authority,
      issuers: ['https://new', 'https://old'],
      keys: [...parseKeys(rsa.publicKey + p384.publicKey), ...authority.keys],
    }
    expect(await check(token)).toMatchObject({ ok: true })
  })
})
