// An issuer of OpenID Connect on this machine: https, a discovery document and keys that can be changed.
import { constants, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { makeWebhookCertificates } from '../../src/server/webhook-certificates.js'

export interface IssuerKey {
  readonly id: string
  readonly algorithm: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

export interface TestIssuer {
  readonly url: string
  readonly ca: string
  /** The keys that it publishes. */
  keys: readonly IssuerKey[]
  /** Headers of the key set. */
  keyHeaders: Readonly<Record<string, string>>
  /** The paths that were requested. */
  readonly requests: string[]
  /** Responses of other paths. */
  readonly paths: Map<string, (request: IncomingMessage, response: ServerResponse) => void>
  token(claims: Readonly<Record<string, unknown>>, key?: IssuerKey): string
  close(): Promise<void>
}

const CURVES: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }

export function issuerKey(id: string, algorithm = 'ES256'): IssuerKey {
  const pair = algorithm.startsWith('ES')
    ? generateKeyPairSync('ec', { namedCurve: CURVES[algorithm]! })
    : generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { id, algorithm, ...pair }
}

export async function startIssuer(): Promise<TestIssuer> {
  const { ca, cert, key } = await makeWebhookCertificates()
  const server = createServer({ cert, key }, (request, response) => {
    const path = request.url ?? ''
    issuer.requests.push(path)
    const other = issuer.paths.get(path)
    if (other) return other(request, response)
    response.setHeader('content-type', 'application/json')
    if (path === '/.well-known/openid-configuration') {
      return response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys` }))
    }
    if (path !== '/keys') return response.writeHead(404).end()
    response.writeHead(200, issuer.keyHeaders)
    return response.end(JSON.stringify({ keys: issuer.keys.map(jsonWebKey) }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const issuer: TestIssuer = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca,
    keys: [issuerKey('first')],
    keyHeaders: {},
    requests: [],
    paths: new Map(),
    token(claims, signer = issuer.keys[0]!) {
      const now = Math.floor(Date.now() / 1000)
      return signedToken({ iss: issuer.url, aud: 'kubernetes', exp: now + 600, ...claims }, signer)
    },
    close() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
  return issuer
}

function jsonWebKey({ id, algorithm, publicKey }: IssuerKey): object {
  return { ...publicKey.export({ format: 'jwk' }), kid: id, alg: algorithm, use: 'sig' }
}

export function signedToken(claims: object, { id, algorithm, privateKey }: IssuerKey): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const content = `${part({ alg: algorithm, kid: id })}.${part(claims)}`
  const padding = algorithm.startsWith('PS') && {
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  }
  const signature = sign(`sha${algorithm.slice(2)}`, Buffer.from(content), {
    key: privateKey,
    dsaEncoding: 'ieee-p1363',
    ...padding,
  })
  return `${content}.${signature.toString('base64url')}`
}
