// Objects that own each other in a circle, deleted in the foreground: they go, and the server goes on answering.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Binnacle, type BinnacleOptions, startBinnacle } from '../../src/server/index.js'
import { ask } from './ask.js'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const MERGE = { 'content-type': 'application/merge-patch+json' }

let folder: string
let server: Binnacle
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-circles-'))
})
afterEach(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

async function start(options: BinnacleOptions = {}): Promise<void> {
  server = await startBinnacle({ storage: { folder: join(folder, 'store') }, ...options })
}

const askAsAdmin = (path: string, method = 'GET', body?: unknown, headers = {}) =>
  ask(server, path, { method, token: server.token, body, headers })

/** Each is owned by the one before it, the first by the last. */
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

test('a circle goes when one of it is deleted', async () => {
  await start()
  for (const names of CIRCLES) await createCircle(names)
  for (const [first] of CIRCLES) expect((await deleteInForeground(first!)).status).toBe(200)
  await expect.poll(() => statusesOf(ALL)).toEqual(ALL.map(() => 404))
})

test('a circle of which every member was already deleted goes after a restart', async () => {
  await start({ garbageCollection: false })
  for (const names of CIRCLES) await createCircle(names)
  for (const name of ALL) expect((await deleteInForeground(name)).status).toBe(200)
  expect(await statusesOf(ALL)).toEqual(ALL.map(() => 200))
  await server.stop()
  await start()
  await expect.poll(() => statusesOf(ALL)).toEqual(ALL.map(() => 404))
})
