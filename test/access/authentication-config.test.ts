// The flags and the file that configure issuers, in the executable.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dataDirectoryForEachTest } from '../components/data-directory.js'
import { type ServerAccess, sendRequest } from '../server/request.js'
import { startIssuer, type TestIssuer } from './issuer.js'

/** The file is looked at every second, on a busy machine later. */
const PATIENT = { timeout: 30_000, interval: 50 }

const data = dataDirectoryForEachTest('authentication-config')
let issuer: TestIssuer

beforeAll(async () => {
  issuer = await startIssuer()
})

afterAll(() => issuer.close())

function write(name: string, text: string): string {
  mkdirSync(data.path, { recursive: true })
  const path = join(data.path, name)
  writeFileSync(path, text)
  return path
}

const whoIs = async (server: ServerAccess, token: string): Promise<string | number> => {
  const { status, body } = await sendRequest(server, '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    method: 'POST',
    token,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
  })
  return status === 201 ? body.status.userInfo.username : status
}

const configuration = (prefix: string, more: object = {}): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1beta1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: { url: issuer.url, audiences: ['kubernetes'], certificateAuthority: issuer.ca },
        claimMappings: { username: { claim: 'sub', prefix } },
      },
    ],
    ...more,
  })

test('--oidc-* flags accept tokens of an issuer, whose URL goes before its users', async () => {
  const server = await data.start(
    '--storage=memory',
    `--oidc-issuer-url=${issuer.url}`,
    '--oidc-client-id=kubernetes',
    '--oidc-signing-algs=ES256',
    `--oidc-ca-file=${write('ca.pem', issuer.ca)}`,
    '--oidc-required-claim=team=a',
  )
  await expect.poll(() => whoIs(server, issuer.token({ sub: 'jane', team: 'a' })), PATIENT).toBe(`${issuer.url}#jane`)
  expect(await whoIs(server, issuer.token({ sub: 'jane', team: 'b' }))).toBe(401)
})

test('--authentication-config is read again when it changes, and decides which paths are anonymous', async () => {
  const anonymous = { anonymous: { enabled: true, conditions: [{ path: '/livez' }] } }
  const file = write('authentication.yaml', configuration('one:', anonymous))
  const server = await data.start('--storage=memory', `--authentication-config=${file}`)
  expect((await sendRequest(server, '/livez')).status).toBe(200)
  expect((await sendRequest(server, '/readyz')).status).toBe(401)
  await expect.poll(() => whoIs(server, issuer.token({ sub: 'jane' })), PATIENT).toBe('one:jane')

  write('authentication.yaml', configuration('two:'))
  await expect.poll(() => reloads(server), PATIENT).toEqual({ failure: 1 })
  expect(await whoIs(server, issuer.token({ sub: 'joe' }))).toBe('one:joe')

  write('authentication.yaml', configuration('two:', anonymous))
  await expect.poll(() => reloads(server), PATIENT).toEqual({ failure: 1, success: 1 })
  expect(await whoIs(server, issuer.token({ sub: 'joan' }))).toBe('two:joan')
})

async function reloads(server: ServerAccess): Promise<Record<string, number>> {
  const { text } = await sendRequest(server, '/metrics', { token: 'admin-token' })
  const lines = text.matchAll(
    /^apiserver_authentication_config_controller_automatic_reloads_total\{.*status="(\w+)".*\} (\d+)$/gm,
  )
  return Object.fromEntries(Array.from(lines, ([, status, count]) => [status, Number(count)]))
}
