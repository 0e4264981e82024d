// Tokens of an issuer of OpenID Connect, which is another https server.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TokenCheck } from '../../src/auth/authenticator.js'
import {
  JWS_ALGORITHMS,
  type JwtTokens,
  jwtTokens,
  parseAuthenticationConfiguration,
} from '../../src/auth/openid-connect.js'
import { startConnectProxy } from '../../src/base/connect-proxy.suite.js'
import { type Dials, dialThrough } from '../../src/base/dial.js'
import { type IssuerKey, issuerKey, signedToken, startIssuer, type TestIssuer } from './issuer.js'

let issuer: TestIssuer
let opened: JwtTokens | undefined

beforeAll(async () => {
  issuer = await startIssuer()
})

afterAll(() => issuer.close())

const FIRST = issuerKey('first')

beforeEach(() => {
  issuer.keys = [FIRST]
  issuer.keyHeaders = {}
  issuer.requests.length = 0
  issuer.paths.clear()
})

afterEach(() => opened?.stop())

/** Keys of RSA take long to make, so that all tests share two. */
const RSA = [issuerKey('a', 'RS256'), issuerKey('a', 'RS256')]
const pairFor = (algorithm: string): readonly IssuerKey[] =>
  algorithm.startsWith('ES')
    ? [issuerKey('a', algorithm), issuerKey('a', algorithm)]
    : RSA.map(({ id, privateKey, publicKey }) => ({ id, algorithm, privateKey, publicKey }))

interface Settings {
  readonly issuer?: object
  readonly username?: object
  readonly mappings?: object
  readonly more?: object
  readonly algorithms?: readonly string[]
  readonly now?: () => number
  readonly egress?: Dials
}

async function open(settings: Settings = {}): Promise<(token: string) => Promise<TokenCheck | undefined>> {
  const document = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: {
          url: issuer.url,
          audiences: ['kubernetes'],
          certificateAuthority: issuer.ca,
          ...settings.issuer,
        },
        claimMappings: { username: settings.username ?? { claim: 'sub', prefix: 'oidc:' }, ...settings.mappings },
        ...settings.more,
      },
    ],
  }
  const { algorithms = JWS_ALGORITHMS, now = Date.now, egress } = settings
  const { issuers } = parseAuthenticationConfiguration(Buffer.from(JSON.stringify(document)), [], { egress })
  opened = jwtTokens({ issuers, algorithms, ownAudiences: ['api'], now, egress })
  await opened.attempted
  return async token => opened!.authenticate(token, ['api'])
}

const userOf = (check: TokenCheck | undefined) => (check?.ok ? check.identity : check)
const errorOf = (check: TokenCheck | undefined) => (check && !check.ok ? check.error : check)

describe('a token', () => {
  test('names the user, with a prefix, for the audiences of this server', async () => {
    const check = await open()
    expect(await check(issuer.token({ sub: 'jane', jti: 'id' }))).toEqual({
      ok: true,
      audiences: ['api'],
      identity: {
        name: 'oidc:jane',
        uid: '',
        groups: [],
        extra: { 'authentication.kubernetes.io/credential-id': ['JTI=id'] },
      },
    })
  })

  test.each(JWS_ALGORITHMS)('may be signed by %s', async algorithm => {
    const [key, other] = pairFor(algorithm)
    issuer.keys = [key!]
    const check = await open()
    expect(userOf(await check(issuer.token({ sub: 'jane' })))).toMatchObject({ name: 'oidc:jane' })
    expect(errorOf(await check(issuer.token({ sub: 'jane' }, other)))).toBe(
      'oidc: verify token: failed to verify signature: failed to verify id token signature',
    )
  })

  test('of another issuer, and one that is no token, are left to other authenticators', async () => {
    const check = await open()
    expect(await check(issuer.token({ iss: 'https://other.example' }))).toBeUndefined()
    expect(await check('a.b.c')).toBeUndefined()
    expect(await check('')).toBeUndefined()
  })

  test.each<[string, (now: number) => object, RegExp]>([
    [
      'expired',
      now => ({ exp: now - 1 }),
      /^oidc: verify token: oidc: token is expired \(Token Expiry: 20.* \+0000 UTC\)$/,
    ],
    ['without expiry', () => ({ exp: undefined }), /Token Expiry: 0001-01-01 00:00:00 \+0000 UTC\)$/],
    ['not valid yet', now => ({ nbf: now + 120 }), /oidc: current time .* before the nbf \(not before\) time: /],
    ['for another audience', () => ({ aud: ['x', 'y'] }), /oidc: expected audience "kubernetes" got \["x" "y"\]$/],
    ['without a name', () => ({ sub: undefined }), /^oidc: parse username claims "sub": claim not present$/],
    [
      'with a name that is no text',
      () => ({ sub: 1 }),
      /^oidc: parse username claims "sub": json: cannot unmarshal number into Go value of type string$/,
    ],
  ])('that is %s is refused', async (_, claims, error) => {
    const check = await open()
    expect(errorOf(await check(issuer.token({ sub: 'jane', ...claims(Math.floor(Date.now() / 1000)) })))).toMatch(error)
  })

  test('signed by an algorithm that is not allowed is refused, and so is one that is not signed', async () => {
    const check = await open({ algorithms: ['RS256'] })
    const expected = 'oidc: verify token: oidc: id token signed with unsupported algorithm, expected ["RS256"] got '
    expect(errorOf(await check(issuer.token({ sub: 'jane' })))).toBe(`${expected}"ES256"`)
    const [, claims] = issuer.token({ sub: 'jane' }).split('.')
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`
    expect(errorOf(await check(none))).toBe(`${expected}"none"`)
  })

  test('that needs an extension is refused', async () => {
    const check = await open()
    const [key] = issuer.keys
    const claims = { iss: issuer.url, aud: 'kubernetes', exp: Date.now() / 1000 + 600, sub: 'jane' }
    const token = signedToken(claims, { ...key!, id: 'first","crit":["b64"],"x":"' })
    expect(errorOf(await check(token))).toContain('failed to verify id token signature')
  })
})

describe('keys', () => {
  test('are read again when a token is signed by a new one, and once for tokens at the same time', async () => {
    const check = await open()
    const before = issuer.token({ sub: 'a' })
    await check(before)
    issuer.keys = [issuerKey('second')]
    const tokens = ['b', 'c', 'd'].map(sub => issuer.token({ sub }))
    const requested = issuer.requests.filter(path => path === '/keys').length
    const checks = await Promise.all(tokens.map(check))
    expect(checks.map(each => each?.ok)).toEqual([true, true, true])
    expect(issuer.requests.filter(path => path === '/keys').length - requested).toBe(1)
  })

  test('are not read again as long as they are fresh', async () => {
    issuer.keyHeaders = { 'cache-control': 'max-age=3600' }
    let now = Date.now()
    const check = await open({ now: () => now })
    await check(issuer.token({ sub: 'a' }))
    const retired = issuer.keys[0]!
    issuer.keys = [issuerKey('second')]
    expect(errorOf(await check(issuer.token({ sub: 'b' })))).toContain('failed to verify id token signature')
    expect((await check(issuer.token({ sub: 'c' }, retired)))?.ok).toBe(true)
    now += 3_600_000
    const exp = now / 1000 + 600
    expect((await check(issuer.token({ sub: 'd', exp })))?.ok).toBe(true)
    expect((await check(issuer.token({ sub: 'e', exp }, retired)))?.ok).toBe(false)
  })

  test('of types that are not known are passed over', async () => {
    issuer.paths.set('/keys', (_, response) => {
      const key = { ...issuer.keys[0]!.publicKey.export({ format: 'jwk' }), kid: 'first' }
      response.end(JSON.stringify({ keys: [{ kty: 'new', kid: 'first' }, { kty: 'RSA' }, key] }))
    })
    expect((await (await open())(issuer.token({ sub: 'a' })))?.ok).toBe(true)
  })

  test('that cannot be read refuse the token with the reason', async () => {
    issuer.paths.set('/keys', (_, response) => response.writeHead(500).end('away'))
    expect(errorOf(await (await open())(issuer.token({ sub: 'a' })))).toBe(
      'oidc: verify token: failed to verify signature: fetching keys oidc: get keys failed: 500 Internal Server Error away',
    )
  })

  test('of more than the limit are not read to their end', async () => {
    issuer.paths.set('/keys', (_, response) => response.end(Buffer.alloc(5 * 2 ** 20, ' ')))
    expect(errorOf(await (await open())(issuer.token({ sub: 'a' })))).toContain('has more than 4194304 bytes')
  })
})

describe('the discovery document', () => {
  test('may be elsewhere, and must name the issuer', async () => {
    const document = { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` }
    issuer.paths.set('/elsewhere', (_, response) => response.end(JSON.stringify(document)))
    const check = await open({ issuer: { discoveryURL: `${issuer.url}/elsewhere` } })
    expect((await check(issuer.token({ sub: 'a' })))?.ok).toBe(true)
    expect(issuer.requests).not.toContain('/.well-known/openid-configuration')
  })

  test.each<[string, object, string]>([
    ['another issuer', { issuer: 'https://x' }, 'oidc: issuer did not match the issuer returned by provider, expected'],
    ['no keys', { jwks_uri: '' }, 'provider did not return JWKS URL'],
    ['keys over http', { jwks_uri: 'http://x/keys' }, 'is not https'],
  ])('with %s leaves tokens unverified', async (_, change, error) => {
    issuer.paths.set('/.well-known/openid-configuration', (__, response) =>
      response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys`, ...change })),
    )
    const check = await open()
    expect(errorOf(await check(issuer.token({ sub: 'a' })))).toBe('oidc: authenticator not initialized')
    expect(opened!.healthError()).toContain(error)
  })

  test('of a server with an unknown certificate is not read', async () => {
    await open({ issuer: { certificateAuthority: undefined } })
    expect(opened!.healthError()).toContain('is not healthy')
    expect(issuer.requests).toEqual([])
  })
})

describe('claims become a user', () => {
  const claims = {
    sub: 'jane',
    email: 'jane@example.com',
    groups: ['a', 'b'],
    tenant: { name: 'x.y', 'id.of': 7, ids: [1, 2.5] },
    empty: '',
    flag: true,
  }
  test.each<[string, Settings, object | string]>([
    ['groups with a prefix', { mappings: { groups: { claim: 'groups', prefix: 'g:' } } }, { groups: ['g:a', 'g:b'] }],
    ['one group as a text', { mappings: { groups: { claim: 'sub', prefix: '' } } }, { groups: ['jane'] }],
    ['groups that are not there', { mappings: { groups: { claim: 'none', prefix: '' } } }, { groups: [] }],
    [
      'groups that are no texts',
      { mappings: { groups: { claim: 'flag', prefix: '' } } },
      'oidc: parse groups claim "flag": json: cannot unmarshal bool into Go value of type string',
    ],
    ['a uid', { mappings: { uid: { claim: 'email' } } }, { uid: 'jane@example.com' }],
    ['a uid by expression', { mappings: { uid: { expression: 'claims.tenant.name' } } }, { uid: 'x.y' }],
    [
      'a uid that is no text',
      { mappings: { uid: { expression: 'claims.tenant.ids' } } },
      'oidc: error evaluating uid claim expression: uid claim expression must return a string',
    ],
    ['a name by expression', { username: { expression: "claims.sub + ':x'" } }, { name: 'jane:x' }],
    [
      'an empty name',
      { username: { expression: 'claims.empty' } },
      'oidc: empty username via CEL expression is not allowed',
    ],
    [
      'a claim that is not there',
      { username: { expression: 'claims.none' } },
      "oidc: error evaluating username claim expression: expression 'claims.none' resulted in error: no such key: none",
    ],
    [
      'escaped names and doubles',
      { username: { expression: "string(claims.tenant.id__dot__of) + '/' + string(claims.tenant.ids[0] + 0.5)" } },
      { name: '7/1.5' },
    ],
    [
      'groups by expression',
      { mappings: { groups: { expression: "claims.groups.map(g, g + '!') + ['']" } } },
      { groups: ['a!', 'b!'] },
    ],
    ['no groups by expression', { mappings: { groups: { expression: 'null' } } }, { groups: [] }],
    [
      'groups that are numbers',
      { mappings: { groups: { expression: 'claims.tenant.ids' } } },
      'oidc: error evaluating group claim expression: expression must return a string or a list of strings',
    ],
    [
      'extra values',
      {
        mappings: {
          extra: [
            { key: 'example.com/groups', valueExpression: 'claims.groups' },
            { key: 'example.com/none', valueExpression: "claims.?none.orValue('')" },
          ],
        },
      },
      { extra: { 'example.com/groups': ['a', 'b'] } },
    ],
    [
      'a required claim',
      { more: { claimValidationRules: [{ claim: 'sub', requiredValue: 'joe' }] } },
      'oidc: required claim sub value does not match. Got = jane, want = joe',
    ],
    [
      'a required claim that is not there',
      { more: { claimValidationRules: [{ claim: 'none', requiredValue: 'x' }] } },
      'oidc: required claim none not present in ID token',
    ],
    [
      'a rule of claims',
      { more: { claimValidationRules: [{ expression: 'claims.exp - claims.exp > 1.0', message: 'too short' }] } },
      "oidc: error evaluating claim validation expression: validation expression 'claims.exp - claims.exp > 1.0' failed: too short",
    ],
    [
      'a rule of users',
      { more: { userValidationRules: [{ expression: "!user.username.startsWith('oidc:')", message: 'reserved' }] } },
      "oidc: error evaluating user info validation rule: validation expression '!user.username.startsWith('oidc:')' failed: reserved",
    ],
    [
      'rules that hold',
      {
        more: {
          claimValidationRules: [{ expression: 'claims.flag == true' }],
          userValidationRules: [{ expression: 'user.groups.size() == 0 && user.uid == ""' }],
        },
      },
      { name: 'oidc:jane' },
    ],
  ])('%s', async (_, settings, expected) => {
    const result = await (await open(settings))(issuer.token(claims))
    if (typeof expected === 'string') expect(errorOf(result)).toBe(expected)
    else expect(userOf(result)).toMatchObject(expected)
  })

  test.each([
    [true, undefined],
    [undefined, undefined],
    [false, 'oidc: email not verified'],
    ['yes', "oidc: parse 'email_verified' claim: json: cannot unmarshal string into Go value of type bool"],
  ])('an address that is verified: %s', async (email_verified, error) => {
    const check = await open({ username: { claim: 'email', prefix: '' } })
    const result = await check(issuer.token({ email: 'a@b.c', email_verified }))
    if (error === undefined) expect(userOf(result)).toMatchObject({ name: 'a@b.c' })
    else expect(errorOf(result)).toBe(error)
  })
})

describe('groups that the issuer keeps elsewhere', () => {
  const distributed = () => ({
    sub: 'jane',
    _claim_names: { groups: 'src' },
    _claim_sources: { src: { endpoint: `${issuer.url}/groups`, access_token: 'secret' } },
  })
  const settings: Settings = { mappings: { groups: { claim: 'groups', prefix: '' } } }

  test('are read from there with the token that is given for it', async () => {
    let authorization: string | undefined
    issuer.paths.set('/groups', (request, response) => {
      ;({ authorization } = request.headers)
      response.end(issuer.token({ groups: ['far'] }))
    })
    expect(userOf(await (await open(settings))(issuer.token(distributed())))).toMatchObject({ groups: ['far'] })
    expect(authorization).toBe('Bearer secret')
  })

  test('refuse the token when they cannot be read', async () => {
    issuer.paths.set('/groups', (_, response) => response.writeHead(403).end())
    expect(errorOf(await (await open(settings))(issuer.token(distributed())))).toBe(
      'oidc: could not expand distributed claims: while getting distributed claim "groups": error while getting distributed claim JWT: 403 Forbidden',
    )
  })
})

describe('an issuer that names a way to it', () => {
  test('is reached through its proxy', async () => {
    const proxy = await startConnectProxy()
    try {
      const cluster = dialThrough({ name: 'a-proxy', at: { host: '127.0.0.1', port: proxy.port } })
      const check = await open({ issuer: { egressSelectorType: 'cluster' }, egress: { cluster } })
      expect(userOf(await check(issuer.token({ sub: 'jane' })))).toMatchObject({ name: 'oidc:jane' })
      const { host } = new URL(issuer.url)
      // The discovery document and the keys.
      expect(proxy.targets).toEqual([host, host])
    } finally {
      proxy.close()
    }
  })

  test('is called directly if that way has no proxy', async () => {
    const check = await open({ issuer: { egressSelectorType: 'controlplane' }, egress: {} })
    expect(userOf(await check(issuer.token({ sub: 'jane' })))).toMatchObject({ name: 'oidc:jane' })
  })

  test('needs a configuration of ways', async () => {
    await expect(open({ issuer: { egressSelectorType: 'cluster' } })).rejects.toThrow(
      'oidc: egress lookup required with egress selector type "cluster"',
    )
  })
})
