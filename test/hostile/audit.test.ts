// An audit log on a disk that is full, and responses that are too long for it.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { parseAuditPolicy } from '../../src/server/audit/policy.js'
import { readLibraryOptions } from '../../src/server/options/library.js'
import { type Server, startServer } from '../../src/server/server.js'
import { type Response, sendRequest } from '../server/request.js'

const POLICY = '{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: RequestResponse}]}'
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

let server: Server
let token: string
afterEach(() => server.stop())

async function start(path: string, isStrict = false): Promise<void> {
  const options = readLibraryOptions({ log: () => {} })
  token = options.token
  const log = { path, maxBytes: 0, maxBackups: 0, maxAgeMs: 0, isStrict }
  server = await startServer({ ...options.server, audit: { policy: parseAuditPolicy(Buffer.from(POLICY)), log } })
}

const send = (path: string, body?: unknown): Promise<Response> =>
  sendRequest({ url: server.url, ca: server.access.ca! }, path, { token, ...(body ? { method: 'POST', body } : {}) })

test('requests are served while the disk of the audit log is full, and what is lost is counted', async () => {
  await start('/dev/full')
  expect((await send(CONFIG_MAPS, { metadata: { name: 'a' } })).status).toBe(201)
  expect((await send(CONFIG_MAPS)).status).toBe(200)
  expect((await send('/metrics')).text).toMatch(/^apiserver_audit_error_total\{plugin="log"\} [1-9]/m)
})

test('in the strict mode they are refused', async () => {
  await start('/dev/full', true)
  const { status, text } = await send(CONFIG_MAPS)
  expect([status, text]).toEqual([500, `Internal Server Error: "${CONFIG_MAPS}": failed to store audit event\n`])
})

test('a list that is too long is recorded without its objects', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-audit-'))
  try {
    const path = join(folder, 'audit.log')
    closeSync(openSync(path, 'w'))
    await start(path)
    const data = { x: 'x'.repeat(900_000) }
    for (const name of ['a', 'b', 'c', 'd', 'e']) await send(CONFIG_MAPS, { metadata: { name }, data })
    const { text } = await send(CONFIG_MAPS)
    expect(text.length).toBeGreaterThan(4_500_000)
    await server.stop()
    const events = readFileSync(path, 'utf8').trimEnd().split('\n')
    const ofLists = events.filter(line => line.includes('"verb":"list"') && line.includes('"ResponseComplete"'))
    const ours = ofLists.filter(line => line.includes(`"requestURI":"${CONFIG_MAPS}"`))
    expect(ours.map(line => [line.length < 10_000, line.includes('"audit.k8s.io/truncated":"true"')])).toEqual([
      [true, true],
    ])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
