// Objects that own each other in a circle, deleted in the foreground: they are deleted, and the server keeps answering.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Binnacle, type BinnacleOptions, startBinnacle } from '../../src/server/index.js'
import { sendRequest } from './request.js'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const MERGE = { 'content-type': 'application/merge-patch+json' }

let directory: string
let server: Binnacle
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'binnacle-circles-'))
})
afterEach(async () => {
  await server.stop()
  rmSync(directory, { recursive: true })
})

async function start(options: BinnacleOptions = {}): Promise<void> {
  server = await startBinnacle({ storage: { folder: join(directory, 'store') }, ...options })
}

const askAsAdmin = (path: string, method = 'GET', body?: unknown, headers = {}) =>
  sendRequest(server, path, { method, token: server.token, body, headers })

/** Each is owned by the previous one, the first by the last. */
async function createCircle(names: readonly string[]): Promise<void> {
  const uids = new Map<string, string>()
  for (const name of names) {
    const { body } = await askAsAdmin(CONFIG_MAPS, 'POST', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
    uids.set(name, body.metadata.uid)
  }
  for (const [i, name] of names.entries()) {
    const owner = names.at(i - 1)!
    const reference = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: owner,
      uid: uids.get(owner),
      blockOwnerDeletion: true,
    }
    const patch = { metadata: { ownerReferences: [reference] } }
    expect((await askAsAdmin(`${CONFIG_MAPS}/${name}`, 'PATCH', patch, MERGE)).status).toBe(200)
  }
}

const deleteInForeground = (name: string) => askAsAdmin(`${CONFIG_MAPS}/${name}?propagationPolicy=Foreground`, 'DELETE')

const statusesOf = (names: readonly string[]) =>
  Promise.all(names.map(async name => (await askAsAdmin(`${CONFIG_MAPS}/${name}`)).status))

const CIRCLES = [['alone'], ['one', 'two'], ['a', 'b', 'c']]
const ALL = CIRCLES.flat()

test('a circle is deleted when one member is deleted', async () => {
  await start()
  for (const names of CIRCLES) await createCircle(names)
  for (const [first] of CIRCLES) expect((await deleteInForeground(first!)).status).toBe(200)
  await expect.poll(() => statusesOf(ALL)).toEqual(ALL.map(() => 404))
})

test('a circle whose members are all terminating is deleted after a restart', async () => {
  await start({ controllers: ['*', '-garbage-collector-controller'] })
  for (const names of CIRCLES) await createCircle(names)
  for (const name of ALL) expect((await deleteInForeground(name)).status).toBe(200)
  expect(await statusesOf(ALL)).toEqual(ALL.map(() => 200))
  await server.stop()
  await start()
  await expect.poll(() => statusesOf(ALL)).toEqual(ALL.map(() => 404))
})
