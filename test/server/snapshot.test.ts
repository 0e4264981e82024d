// `binnacle snapshot save|restore` on a server that is running and being written to.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runBinnacle, startBinnacleProcess } from '../components/binnacle.js'
import { sendRequest } from './request.js'

const token = 'admin-token'
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'binnacle-snapshot-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

test('a snapshot of a live server has every write that was acknowledged before', { timeout: 60_000 }, async () => {
  const live = join(directory, 'live')
  const restored = join(directory, 'restored')
  const file = join(directory, 'backup.mdb')
  const server = await startBinnacleProcess(`--data-dir=${live}`)
  const acknowledged: string[] = []
  const saving = { isOver: false }
  const writer = async (name: string): Promise<void> => {
    for (let i = 0; !saving.isOver; i++) {
      const object = { metadata: { name: `${name}-${i}` }, data: { text: 'x'.repeat(1000) } }
      const { body } = await sendRequest(server, CONFIGMAPS, { method: 'POST', token, body: object })
      acknowledged.push(`${body.metadata.uid} ${body.metadata.resourceVersion}`)
    }
  }
  const writers = ['a', 'b', 'c'].map(writer)
  await expect.poll(() => acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(20)
  const before = acknowledged.slice()
  const saved = await runBinnacle('snapshot', 'save', file, `--data-dir=${live}`)
  expect(saved).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Saved \d+ objects at revision \d+ to /) })
  saving.isOver = true
  await Promise.all(writers)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  // The server goes on.
  expect((await sendRequest(server, '/readyz', { token })).status).toBe(200)
  await server.stop()

  expect(await runBinnacle('snapshot', 'restore', file, `--data-dir=${restored}`)).toMatchObject({ code: 0 })
  const again = await startBinnacleProcess(`--data-dir=${restored}`)
  const { body: list } = await sendRequest(again, CONFIGMAPS, { token })
  const found = new Set(
    list.items.map(
      ({ metadata: { uid, resourceVersion } }: { metadata: Record<string, string> }) => `${uid} ${resourceVersion}`,
    ),
  )
  expect(before.filter(each => !found.has(each))).toEqual([])
  const created = await sendRequest(again, CONFIGMAPS, { method: 'POST', token, body: { metadata: { name: 'after' } } })
  expect(created.status).toBe(201)
  await again.stop()

  const refused = await runBinnacle('snapshot', 'restore', file, `--data-dir=${restored}`)
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('has data already') })
})

test('what is no data folder and no snapshot is refused', async () => {
  const file = join(directory, 'nonsense')
  writeFileSync(file, 'nonsense')
  const saved = await runBinnacle('snapshot', 'save', join(directory, 'x'), `--data-dir=${directory}`)
  expect(saved).toMatchObject({ code: 1, stderr: expect.stringContaining('is not a data directory') })
  const restored = await runBinnacle('snapshot', 'restore', file, `--data-dir=${join(directory, 'y')}`)
  expect(restored).toMatchObject({ code: 1, stderr: expect.stringContaining('is not a snapshot') })
})
