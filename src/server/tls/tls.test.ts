import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeCertificates } from './certificates.js'
import { prepareTls } from './tls.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-tls-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const HOSTS = ['127.0.0.1']

test('with a certificate and an authority of the user, none of our own are created', async () => {
  const given = await makeCertificates(HOSTS)
  const https = { address: '127.0.0.1', port: 0, keyPair: given.server, certificateFolder: join(folder, 'pki') }
  const tls = await prepareTls(https, { clientCa: given.ca }, HOSTS)
  expect(existsSync(https.certificateFolder)).toBe(false)
  expect(tls).toMatchObject({ ca: given.server.cert, clientCa: given.ca, admin: undefined })
  expect(tls.options).toMatchObject({ cert: given.server.cert, key: given.server.key, clientCa: given.ca.trim() })
})

test('with a certificate only, clients have certificates of our own authority', async () => {
  const given = await makeCertificates(HOSTS)
  const https = { address: '127.0.0.1', port: 0, keyPair: given.server, certificateFolder: join(folder, 'pki') }
  const tls = await prepareTls(https, {}, HOSTS)
  expect(existsSync(join(https.certificateFolder, 'ca.crt'))).toBe(true)
  expect(tls.admin).toBeDefined()
  expect(tls.options.cert).toBe(given.server.cert)
})
