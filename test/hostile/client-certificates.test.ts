// Client certificates whose subject is odd: each names the user that kube-apiserver reads in it, or none.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  bits,
  boolean,
  explicit,
  integer,
  objectId,
  octets,
  pem,
  sequence,
  set,
  time,
  utf8,
} from '../../src/server/tls/der.js'
import { makeCertificate } from '../../src/server/tls/x509.js'
import { sendRequest } from '../server/request.js'
import { type HostileServer, startHostileServer } from './hostile-server.js'

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
const SIGNATURE = sequence(objectId('1.2.840.10045.4.3.2'))
const CONSTRAINTS = sequence(objectId('2.5.29.19'), boolean(true), octets(sequence(boolean(true))))
const part = (id: string, value: Buffer): Buffer => sequence(objectId(id), value)
const COMMON_NAME = '2.5.4.3'
const ORGANIZATION = '2.5.4.10'
const named = (name: string): Buffer => set(part(COMMON_NAME, utf8(name)))

const authorityKey = newKey()
const AUTHORITY = sequence(named('authority'))
const clientKey = newKey()
const key = clientKey.privateKey.export({ type: 'sec1', format: 'pem' }).toString()

const validity = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) }

/** A certificate of the authority; without a key of its own, that of the client. */
function certificate(subject: Buffer, publicKey: KeyObject = clientKey.publicKey, ...extensions: Buffer[]): string {
  const body = sequence(
    explicit(0, integer(Buffer.of(2))),
    integer(Buffer.of(1)),
    SIGNATURE,
    AUTHORITY,
    sequence(time(validity.from), time(validity.to)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length > 0 ? [explicit(3, sequence(...extensions))] : []),
  )
  return pem('CERTIFICATE', sequence(body, SIGNATURE, bits(sign('sha256', body, authorityKey.privateKey))))
}

let folder: string
let server: HostileServer
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-authority-'))
  const clients = certificate(AUTHORITY, authorityKey.publicKey, CONSTRAINTS)
  const proxies = await makeCertificate({ subject: { name: 'proxies' }, validity, use: 'authority' })
  for (const [name, text] of Object.entries({ clients, proxies: proxies.cert })) writeFileSync(join(folder, name), text)
  server = await startHostileServer(
    `--client-ca-file=${join(folder, 'clients')}`,
    `--requestheader-client-ca-file=${join(folder, 'proxies')}`,
    '--requestheader-username-headers=X-Remote-User',
  )
})
afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true })
})

const review = (subject: Buffer) =>
  sendRequest(server, '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    method: 'POST',
    client: { cert: certificate(subject), key },
    body: { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' },
  })

test.each([
  ['a value that is a sequence', sequence(set(part(ORGANIZATION, sequence(utf8('system:masters')))), named('a'))],
  ['no common name', sequence(set(part(ORGANIZATION, utf8('x'))))],
  ['an empty common name after another', sequence(named('a'), named(''))],
])('the certificate is refused: %s', async (_what, subject) => {
  expect((await review(subject)).status).toBe(401)
})

const organization = (name: string): Buffer => part(ORGANIZATION, utf8(name))

test.each<[what: string, subject: Buffer, username: string, groups: readonly string[]]>([
  [
    'parts of several values',
    sequence(set(part(COMMON_NAME, utf8('a')), organization('x')), set(organization('y'))),
    'a',
    ['x', 'y'],
  ],
  ['several common names', sequence(named('a'), named('b')), 'b', []],
  ['a NUL', sequence(set(organization('system:masters\0')), named('a\0b')), 'a\0b', ['system:masters\0']],
  ['lines as of OpenSSL', sequence(named('a\nO=system:masters')), 'a\nO=system:masters', []],
  [
    'names of object methods',
    sequence(set(organization('constructor')), named('__proto__')),
    '__proto__',
    ['constructor'],
  ],
])('the user is read from a subject with %s', async (_what, subject, username, groups) => {
  const { body } = await review(subject)
  expect(body.status.userInfo).toMatchObject({ username, groups: [...groups, 'system:authenticated'] })
})

test.each([
  ['the anonymous user', sequence(named('system:anonymous'))],
  ['the group of those without credentials', sequence(set(organization('system:unauthenticated')), named('a'))],
])('a certificate for %s gives no rights of authenticated users', async (_what, subject) => {
  expect((await review(subject)).status).toBe(403)
})
